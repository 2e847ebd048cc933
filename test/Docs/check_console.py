#!/usr/bin/env python3
"""Runs what a Markdown page shows, so that it cannot lie.

    check_console.py PAGE.md [--update]

A block ```mlir file=NAME (any language) is written to NAME in a fresh folder. In a block ```console each line that starts
with `$ ` is a command, run in that folder by bash; the lines after it are the expected output (stdout and stderr), exactly,
with the folder's path removed; a line `...` stands for any lines, and `...` inside a line for any text. A command whose
line ends with a backslash continues on the next line. `$ command  # exit N` expects that exit status. A block
```console needs=MODULE is skipped where `python` does not have that module.
--update replaces the output of commands that differ by the actual output.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def matches(expected, actual):
    """Line by line; a line `...` takes any number of lines."""
    if not expected:
        return not actual
    if expected[0].strip() == "...":
        return any(matches(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    if not actual:
        return False
    pattern = ".*".join(re.escape(part) for part in expected[0].split("..."))
    return re.fullmatch(pattern, actual[0]) is not None and matches(expected[1:], actual[1:])


def run(command, folder):
    status = 0
    if found := re.search(r"\s+# exit (\d+)$", command):
        status = int(found.group(1))
    done = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = done.stdout.replace(f"{folder}/", "").rstrip("\n")
    return output.split("\n") if output else [], done.returncode == status, done.returncode


def has_module(name):
    find = f"from importlib.util import find_spec; exit(find_spec('{name}') is None)"
    return subprocess.run(["bash", "-c", f'python -c "{find}"'], stderr=subprocess.DEVNULL).returncode == 0


def main():
    page, update = sys.argv[1], "--update" in sys.argv
    lines = open(page, encoding="utf-8").read().split("\n")
    out, failures, commands, skipped = [], 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        i = 0
        while i < len(lines):
            out.append(lines[i])
            fence = re.match(r"```(\w+)(?: file=(\S+)| needs=(\w+))?$", lines[i])
            i += 1
            if not fence:
                continue
            end = lines.index("```", i)
            block, i = lines[i:end], end
            if fence.group(2):
                path = Path(folder, fence.group(2))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(block) + "\n", encoding="utf-8")
            if fence.group(3) and not has_module(fence.group(3)):
                skipped.add(fence.group(3))
            if fence.group(1) != "console" or fence.group(3) in skipped:
                out += block + [lines[i]]
                i += 1
                continue
            at = 0
            while at < len(block):
                if not block[at].startswith("$ "):
                    sys.exit(f"error: {page}: a console block must start with a command: {block[at]!r}")
                command, stop = block[at][2:], at + 1
                while command.endswith("\\") and stop < len(block):
                    command, stop = command + "\n" + block[stop], stop + 1
                first = stop
                while stop < len(block) and not block[stop].startswith("$ "):
                    stop += 1
                expected = block[first:stop]
                actual, ok, code = run(command, folder)
                commands += 1
                good = ok and matches(expected, actual)
                if not good and not update:
                    failures += 1
                    print(f"{page}: `{command}` exits with {code} and prints:", *actual, "expected:", *expected, sep="\n  ")
                out += block[at:first]
                out += expected if good else actual
                at = stop
            out.append(lines[i])
            i += 1
    if update:
        open(page, "w", encoding="utf-8").write("\n".join(out))
    if failures or not commands:
        sys.exit(f"error: {page}: {failures} of {commands} commands differ")
    print(f"{page}: {commands} commands, as shown", *(f"without {module}" for module in sorted(skipped)), sep=", ")


main()
