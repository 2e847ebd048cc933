"""Runs a command that must fail as every mistake of a user does: exit status 1,
an empty stdout, exactly one error on stderr. Prints stderr.

  one_error.py [--no=PATH] COMMAND...      PATH must not exist afterwards
"""
import os
import subprocess
import sys

command = sys.argv[1:]
absent = command.pop(0)[len("--no="):] if command[0].startswith("--no=") else None
done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                      timeout=120)
errors = done.stderr.count("error:")
print(done.stderr, end="")
if done.returncode != 1 or done.stdout or errors != 1:
    sys.exit(f"{' '.join(command)}\nexit status {done.returncode}, {errors} errors, "
             f"{len(done.stdout)} characters on stdout; expected 1, 1 and 0\n{done.stderr}")
if absent and os.path.exists(absent):
    sys.exit(f"{' '.join(command)}\ndid not remove {absent}")
