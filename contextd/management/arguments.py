"""Types of command line arguments that several commands share."""

import os
from argparse import ArgumentTypeError
from pathlib import PureWindowsPath

from contextd import validation
from contextd.errors import Invalid


def folder(path: str) -> str:
    """Return the absolute path of a folder as clients name it: links are kept.

    A relative path, or one with a slash at its end, belongs to this machine.
    """
    if path and not PureWindowsPath(path).drive:
        path = os.path.abspath(path)
    try:
        return validation.checked_path(path, "a folder")
    except Invalid as error:
        raise ArgumentTypeError(error.message) from None
