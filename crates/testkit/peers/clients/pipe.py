"""Stands for a server over stdio that lives elsewhere: what comes in goes to a local port, what comes back goes out.

    python pipe.py PORT
"""

import os
import socket
import sys
import threading

CHUNK = 65536


def send_input():
    while chunk := os.read(0, CHUNK):
        peer.sendall(chunk)
    peer.shutdown(socket.SHUT_WR)


peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
threading.Thread(target=send_input, daemon=True).start()
while chunk := peer.recv(CHUNK):
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()
