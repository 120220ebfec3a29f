"""The scripted server, of which only one process can run: the second one kills the first, waits
for its end, or refuses to start. Arguments: kill, wait or refuse, and a lock file."""

import fcntl
import os
import pathlib
import runpy
import signal
import sys

how, path = sys.argv[1:3]
lock = open(path, "a+")
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    if how == "refuse":
        sys.exit("another process runs already")
    if how == "kill":
        # While the lock is held, the process whose id is in the file is alive.
        lock.seek(0)
        os.kill(int(lock.read()), signal.SIGKILL)
    fcntl.flock(lock, fcntl.LOCK_EX)
os.ftruncate(lock.fileno(), 0)
lock.write(str(os.getpid()))
lock.flush()
runpy.run_path(str(pathlib.Path(__file__).with_name("scripted_server.py")), run_name="__main__")
