"""Processes that end in time, for scripts that run many."""

import os
import signal
import subprocess
import tempfile
import threading
import time


class Clock:
    """Minutes from now on; none for as many as it takes. Nothing begins when they are over, what is under way has `grace` seconds more."""

    def __init__(self, minutes=None, grace=60):
        self.end = None if minutes is None else time.monotonic() + 60 * minutes
        self.grace = grace

    def is_over(self):
        return self.end is not None and time.monotonic() >= self.end

    def minutes_left(self):
        return None if self.end is None else max(0.0, (self.end - time.monotonic()) / 60)

    def bound(self, timeout):
        """Seconds that a process may take that begins now."""
        return timeout if self.end is None else min(timeout, max(0.0, self.end + self.grace - time.monotonic()))


class Children:
    """Processes, each with what it starts itself. After `end` there are none."""

    def __init__(self):
        self.lock, self.running, self.ended = threading.Lock(), set(), False

    def start(self, command, **options):
        with self.lock:
            if self.ended:
                raise RuntimeError("this process ends")
            child = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, start_new_session=True, **options)
            self.running.add(child)
            return child

    def run(self, command, timeout=None, env=None):
        """Its exit status, none where it did not end in time, and what it wrote to stdout and to stderr."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = self.start(command, stdout=out, stderr=err, env=env)
            try:
                status = child.wait(timeout)
            except subprocess.TimeoutExpired:
                status = None
            self.forget(child)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
            return status, *texts

    def forget(self, child):
        """Ends it, and the processes that it left."""
        try:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGTERM)
                try:
                    child.wait(2)
                except subprocess.TimeoutExpired:
                    pass
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        with self.lock:
            self.running.discard(child)

    def end(self):
        with self.lock:
            self.ended, running = True, list(self.running)
        for child in running:
            self.forget(child)
