"""Runs a command on a terminal of its own: on_terminal.py PAIRS COMMAND…

PAIRS is a JSON list of [awaited text, what to type then]. All that the terminal showed is printed; the exit code is the command's.
"""

import json
import os
import pty
import select
import sys
import time

LIMIT = 30.0


def main():
    pairs = json.loads(sys.argv[1])
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    shown, searched, end = b"", 0, time.monotonic() + LIMIT
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
        while pairs and (at := shown.find(pairs[0][0].encode(), searched)) >= 0:
            searched = at + len(pairs[0][0].encode())
            os.write(terminal, pairs.pop(0)[1].encode())
    else:
        os.kill(pid, 9)
    status = os.waitpid(pid, 0)[1]
    sys.stdout.buffer.write(shown)
    sys.exit(os.waitstatus_to_exitcode(status) if not pairs else 99)


main()
