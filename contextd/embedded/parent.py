"""A child that does not outlive its parent, however that one ends."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def follow(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Be sent this signal when the parent ends; on Linux only, elsewhere nothing happens.

    Called in the child after any change of user, which would clear it. The parent is in truth
    its thread that forked, so children are started from a main thread.
    """
    if sys.platform != "linux":
        return
    _libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(number), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)
