"""Starts processes with the variables that torchrun sets: torchrun.py COUNT COMMAND..."""

import os
import socket
import subprocess
import sys

count = int(sys.argv[1])


def find_port():
    """A free port whose successor, where process 0 listens, is free too."""
    while True:
        with socket.socket() as one, socket.socket() as other:
            one.bind(("localhost", 0))
            try:
                other.bind(("localhost", one.getsockname()[1] + 1))
                return one.getsockname()[1]
            except OSError:
                pass


environment = os.environ | {"WORLD_SIZE": str(count), "MASTER_ADDR": "localhost", "MASTER_PORT": str(find_port())}
processes = [subprocess.Popen(sys.argv[2:], env=environment | {"RANK": str(rank)}) for rank in range(count)]
for rank, process in enumerate(processes):
    print(f"process {rank} ends with {process.wait()}", flush=True)
