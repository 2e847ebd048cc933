"""Uses the cache of bundles in many ways, and prints what happens.

    cache.py DIRECTORY      has a.mlir and remark.mlir
"""
import filecmp
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

work = Path(sys.argv[1])
cache = work / "cache"
environment = os.environ | {"SHARDKIT_CACHE": str(cache)}


def start(output, *options, ir="a.mlir", **variables):
    given = {name: value for name, value in (environment | variables).items() if value is not None}
    command = ["compile-request", "1", str(work / ir), str(work / output), "--opt-level=0", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=given)


def run(*args, **named):
    """What a compilation prints, and "cache 0" or "cache 1"."""
    text = start(*args, **named).communicate()[0]
    assert "succeeded 1" in text, text
    return text, text.strip().rpartition(", ")[2]


def warning(text):
    return next((line.partition("warning: ")[2] for line in text.splitlines() if "warning: " in line), "no warning")


def entries(folder=cache):
    return sorted(folder.glob("*.bundle"), key=lambda path: path.stat().st_mtime_ns) if folder.is_dir() else []


def count(number):
    return f"{number} entr{'y' if number == 1 else 'ies'}"


def is_same(a, b):
    compared = filecmp.dircmp(work / a, work / b)
    return not (compared.left_only or compared.right_only) and not filecmp.cmpfiles(
        work / a, work / b, ["manifest.json", "report.json", "programs/main.so"], shallow=False)[1]


both = [start("first"), start("second")]
used = sorted(process.communicate()[0].strip().rpartition(", ")[2] for process in both)
left = [path.name for path in cache.iterdir() if path.suffix != ".bundle"]
assert not left, left
print(f"two processes at once: {used[0]} and {used[1]}, {count(len(entries()))}, mode {cache.stat().st_mode & 0o777:04o}")
print(f"again: {run('third')[1]}, the{' same' if is_same('first.0', 'third.0') else ' wrong'} files")
print(f"another option: {run('other', '--parallel-work=7')[1]}, {count(len(entries()))}")
print(f"an option with its default value: {run('other', '--target=cpu')[1]}")
print(f"another name: {run('other', NAME='other.mlir')[1]}, {count(len(entries()))}")

own = work / "own"
for output in ("tool-first", "tool-second"):
    command = ["shard-compile", str(work / "a.mlir"), "-o", str(work / output), "--opt-level=0", f"--cache={own}"]
    subprocess.run(command, check=True, env=os.environ | {"SHARDKIT_CACHE": ""})
same = "twice the same files" if is_same("tool-first", "tool-second") else "wrong files"
print(f"shard-compile --cache: {count(len(entries(own)))} of its own, {same}")
shutil.rmtree(own)
without = {name: value for name, value in os.environ.items() if name != "SHARDKIT_CACHE"} | {"XDG_CACHE_HOME": str(work / "xdg")}
subprocess.run(["shard-compile", str(work / "a.mlir"), "-o", str(work / "plain"), "--opt-level=0"], check=True, env=without)
print(f"shard-compile without it: {count(len(entries(work / 'xdg/shardkit')))}")


def damage(what, change):
    entry = next(path for path in entries() if path.name == name)
    entry.write_bytes(change(entry.read_bytes()))
    text, cached = run("third")
    assert is_same("first.0", "third.0")
    print(f"{what}: {cached}, {warning(text).partition(', ')[2]}")


run("third")
name = entries()[-1].name
damage("a byte changed", lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
damage("cut short", lambda data: data[:40])
other = next(path for path in entries() if path.name != name).read_bytes()
damage("an entry of another key", lambda data: other)
print(f"repaired: {run('third')[1]}")

texts = [run("remarks", "--remarks-filter=spmd", ir="remark.mlir") for _ in range(2)]
remarks = [[line for line in text.splitlines() if line.startswith("diagnostic 3")] for text, _ in texts]
print(f"remarks are kept: {texts[0][1]}, then {texts[1][1]}, {'the same remarks' if remarks[0] == remarks[1] != [] else remarks}")

shutil.rmtree(cache)
run("limit")
size = entries()[0].stat().st_size
oldest = entries()[0].name
for work_limit in (8, 9):
    time.sleep(0.02)
    run("limit", f"--parallel-work={work_limit}", SHARDKIT_CACHE_SIZE=str(2 * size + size // 2))
gone = oldest not in [path.name for path in entries()]
print(f"a limit of two entries: {count(len(entries()))}, the oldest is {'gone' if gone else 'kept'}")
print(f"a limit of 1 byte: {warning(run('limit', '--parallel-work=10', SHARDKIT_CACHE_SIZE='1')[0])}")
cache.chmod(0o777)
print(f"writable by others: {warning(run('limit')[0]).partition(repr(str(cache)))[2].strip()}")
(work / "file").write_text("")
print(f"a file: {warning(run('limit', SHARDKIT_CACHE=str(work / 'file'))[0]).partition(repr(str(work / 'file')))[2].strip()}")
shutil.rmtree(cache)
print(f"off: {run('limit', SHARDKIT_CACHE='off')[1]}, {count(len(entries()))}")
run("limit", SHARDKIT_CACHE=None, XDG_CACHE_HOME=str(work / "xdg"))
print(f"the default: {'XDG_CACHE_HOME/shardkit' if len(entries(work / 'xdg/shardkit')) == 1 else 'elsewhere'}")
