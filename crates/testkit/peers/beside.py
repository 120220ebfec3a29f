"""Starts a server, waits until it listens on a port of 127.0.0.1, runs a program beside it, and ends the server.

    python3 beside.py PORT SERVER… -- PROGRAM…
    unshare --map-root-user --net python3 beside.py --alone PORT SERVER… -- PROGRAM…

The exit code is the program's. With --alone both are in a network of their own, whose loopback is still down; there a
server may listen on all interfaces and nobody else hears of it.
"""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import time

LONGEST_START = 60.0
PAUSE = 0.05
# From the kernel's headers.
SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))


def listens(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main() -> int:
    words = sys.argv[1:]
    if words[0] == "--alone":
        raise_loopback()
        words = words[1:]
    split = words.index("--")
    port, server, program = int(words[0]), words[1:split], words[split + 1 :]
    # What the server prints goes where people look for reasons, and not into the program's output.
    started = subprocess.Popen(server, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True)
    try:
        until = time.monotonic() + LONGEST_START
        while not listens(port):
            if started.poll() is not None or time.monotonic() > until:
                print(f"{server} does not listen on {port}", file=sys.stderr)
                return 125
            time.sleep(PAUSE)
        return subprocess.run(program, check=False).returncode
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


if __name__ == "__main__":
    sys.exit(main())
