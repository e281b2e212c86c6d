"""Child processes that do not outlive their parent, however it ends."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def follow(parent: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Receive this signal when the parent ends, on Linux only; elsewhere do nothing.

    Call it in the child after any change of user, which would clear it. Linux signals the death of
    the *thread* that forked, so start children from a main thread.
    """
    if sys.platform != "linux":
        return
    _libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(number), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)
