"""Importing makes a quarter of a million objects that stay as long as the process.

To look through them for garbage while they are made takes a tenth of the time that makes them, and
to look once more at the end takes half of it.
"""

import gc


def put_off() -> None:
    """For a process that begins, until `spare_imports`."""
    gc.disable()


def spare_imports() -> None:
    """Look only through what is made from now on."""
    gc.freeze()
    gc.enable()
