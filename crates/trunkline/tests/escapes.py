"""Leaves its process tree: fork, setsid, fork, execve with an empty environment.

escapes.py PIDFILE [wait]: the escaped process writes its id to PIDFILE; with `wait` this process
stays, too.
"""

import os
import sys
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for descriptor in range(3):
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
        script = 'echo $$ > "$1.new"; mv "$1.new" "$1"; exec sleep 600'
        os.execve("/bin/sh", ["sh", "-c", script, "sh", sys.argv[1]], {})
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
if sys.argv[2:] == ["wait"]:
    time.sleep(600)
