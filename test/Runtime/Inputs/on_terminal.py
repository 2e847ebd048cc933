"""Runs a command with its stdout and stderr on a terminal and shows what it wrote there, escapes spelled out."""
import os
import pty
import sys

written = b""


def read(fd):
    global written
    data = os.read(fd, 4096)
    written += data
    return data


null = os.open(os.devnull, os.O_WRONLY)
shown = os.dup(1)
os.dup2(null, 1)
status = pty.spawn(sys.argv[1:], read)
os.write(shown, written.replace(b"\x1b[K", b"<clear>").replace(b"\r\n", b"\n").replace(b"\r", b"<start>"))
sys.exit(os.waitstatus_to_exitcode(status))
