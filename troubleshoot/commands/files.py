"""What commands lose on files and disks."""

import re

from troubleshoot.commands.shell import Invocation

_DEVICE = re.compile(r"/dev/(?:sd|nvme|vd|xvd|hd|mmcblk|mapper/|disk|dm-|md)\w*")
_WIDE_OPEN = re.compile(r"0?[0-7]?(?:777|666|000)|(?:[ugo]*[ao][ugoa]*[+=][rxXst]*w|[+=]rwx)\w*")
_NOTHING = "/dev/null"


def removes_files(invocation: Invocation) -> str | None:
    if not invocation.operands:
        return None
    if invocation.uses("-r", "-R", "--recursive"):
        return f"it deletes {' '.join(invocation.operands)[:80]} with all that is in there"
    return f"it deletes {' '.join(invocation.operands)[:80]}"


def opens_wide(invocation: Invocation) -> str | None:
    modes = [mode for word in invocation.operands[:1] for mode in word.split(",")]
    if not any(map(_WIDE_OPEN.fullmatch, modes)):
        return None
    return "it lets everybody on the machine change these files, and the modes before are lost"


def changes_owners(invocation: Invocation) -> str | None:
    recursive = invocation.uses("-R", "--recursive")
    system = any(re.fullmatch(r"/(?:etc|usr|bin|lib|var|opt)?/?", w) for w in invocation.operands)
    return "it changes the owner of system files" if recursive and system else None


def writes_device(invocation: Invocation) -> str | None:
    target = next((word[3:] for word in invocation.arguments if word.startswith("of=")), "")
    return f"it overwrites {target}" if target and target != _NOTHING else None


def copies(invocation: Invocation) -> str | None:
    """Judge `cp`, `mv` and `tee` by their last operand."""
    *sources, target = invocation.operands or ("",)
    if _NOTHING in sources:
        return f"it empties {target}"
    if target == _NOTHING and invocation.program == "mv":
        return f"it deletes {' '.join(sources)[:80]}"
    return of_redirection(invocation, target) if _DEVICE.fullmatch(target) else None


def formats(invocation: Invocation) -> str | None:
    return "it erases the disk" if invocation.operands else None


def formats_device(invocation: Invocation) -> str | None:
    """A file that is formatted is as a rule a new one: a swap file."""
    return formats(invocation) if any(map(_DEVICE.fullmatch, invocation.operands)) else None


def of_redirection(invocation: Invocation, target: str) -> str | None:
    if _DEVICE.fullmatch(target):
        return f"it overwrites {target}"
    is_file = not target.startswith(("/dev/", "/proc/", "/sys/", "&", "="))
    return f"it empties {target}" if is_file and _prints_nothing(invocation) else None


def _prints_nothing(invocation: Invocation) -> bool:
    match invocation.program:
        case ":" | "true":
            return True
        case "echo" | "printf":
            return not any(word.strip() for word in invocation.operands)
        case "cat":
            return invocation.arguments == (_NOTHING,)
    return False
