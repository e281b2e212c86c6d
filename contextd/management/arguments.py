"""Types of command line arguments, shared by several commands."""

import os
from argparse import ArgumentTypeError
from pathlib import PureWindowsPath

from contextd import validation
from contextd.errors import Invalid


def folder(path: str) -> str:
    """Return the absolute path of a folder as clients name it, with symbolic links kept.

    A relative path, or one with a trailing slash, is of this machine.
    """
    if path and not PureWindowsPath(path).drive:
        path = os.path.abspath(path)
    try:
        return validation.checked_path(path, "a folder")
    except Invalid as error:
        raise ArgumentTypeError(error.message) from None
