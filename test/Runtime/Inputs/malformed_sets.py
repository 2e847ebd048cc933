"""Gives programs the sets that runtime/test/Malformed.h has kept: DIRECTORY EVERY ERRORS COMMAND...

Every EVERY-th set goes to the command as --weights. It must say ERRORS times, and nothing else, what is wrong
with the set, and end with an error within 5 s beside the time of a run on a set that is there.
"""
import os
import subprocess
import sys
import time

directory, every, errors, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
good = os.path.join(directory, "good.safetensors")


def run(path):
    start = time.time()
    process = subprocess.run(command + ["--weights", path], capture_output=True, text=True,
                             errors="replace", timeout=300)
    return process, time.time() - start


process, usual = run(good)
assert process.returncode == 0 and "error:" not in process.stderr, process.stderr
count = sum(name.endswith(".txt") for name in os.listdir(directory))
wrong, longest, tried = 0, 0, 0
for number in range(0, count, every):
    with open(f"{directory}/{number}.txt", errors="replace") as file:
        name, _, message = file.read().rstrip("\n").partition("\n")
    process, seconds = run(f"{directory}/{number}/{name}")
    tried += 1
    longest = max(longest, seconds)
    said = [line for line in process.stderr.splitlines() if line.startswith("error: ")]
    # mpirun has exit status 0 with --enable-recovery.
    fails = process.returncode == 1 or errors > 1
    if not fails or len(said) != errors or len(set(said)) != 1 or message not in said[0] or \
            seconds > 3 * usual + 5:
        wrong += 1
        print(f"set {number} ({message}): exit {process.returncode} after {seconds:.1f} s\n{process.stderr}")
print(f"malformed: {tried} sets, {errors} error{'s' if errors > 1 else ''} each, {wrong} wrong")
print(f"longest {longest:.2f} s, a good set {usual:.2f} s", file=sys.stderr)
