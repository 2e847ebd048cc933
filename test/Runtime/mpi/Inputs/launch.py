"""launch.py COUNT COMMAND...: starts processes with the environment that torchrun sets; prints what they write, in their order."""

import os
import socket
import subprocess
import sys

count = int(sys.argv[1])
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
names = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port - 1)}
running = [
    subprocess.Popen(sys.argv[2:], env=os.environ | names | {"RANK": str(rank)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for rank in range(count)
]
for process in running:
    sys.stdout.write(process.communicate(timeout=120)[0])
sys.exit(any(process.returncode for process in running))
