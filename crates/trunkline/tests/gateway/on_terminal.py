"""Runs a program on a terminal of its own; its standard output stays where it is.

    on_terminal.py PROGRAM ARGUMENT...

USR1 closes the terminal. TERM goes to the program. Its exit status is ours.
"""

import ctypes
import os
import pty
import signal
import sys

PR_SET_PDEATHSIG = 1

SIGNALS = {signal.SIGUSR1, signal.SIGTERM}

output = os.dup(1)
# A signal that arrives before its handler is installed waits.
signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
pid, terminal = pty.fork()
if pid == 0:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(output, 1)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    os.execvp(sys.argv[1], sys.argv[1:])
os.close(output)
os.close(1)


def close(*_):
    os.close(terminal)


signal.signal(signal.SIGUSR1, close)
signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGTERM))
signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
try:
    while os.read(terminal, 65536):
        pass
except OSError:
    # The terminal is closed, or nobody has it any more.
    pass
status = os.waitpid(pid, 0)[1]
os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
