"""What to do about an error that nobody knows: steps for its kind."""

# The category that each kind of error belongs to; kinds are those of contextd.faults.
CATEGORY_OF_KIND = {
    "deadlock": "concurrency",
    "lock not obtained": "concurrency",
    "concurrent change": "concurrency",
    "unique violation": "data",
    "constraint violation": "data",
    "table or column missing": "data",
    "malformed data": "data",
    "encoding": "data",
    "sql syntax": "logic",
    "not authenticated": "security",
    "forbidden": "permission",
    "permission denied": "permission",
    "rate limited": "resource",
    "out of memory": "resource",
    "too many open files": "resource",
    "stack overflow": "logic",
    "disk full": "storage",
    "read-only file system": "storage",
    "file not found": "storage",
    "file exists": "storage",
    "image not pulled": "dependency",
    "dependency conflict": "dependency",
    "module not found": "dependency",
    "command not found": "dependency",
    "linking failed": "build",
    "syntax": "build",
    "borrow": "build",
    "merge conflict": "build",
    "not found": "network",
    "server error": "network",
    "address in use": "network",
    "connection refused": "network",
    "connection reset": "network",
    "dns": "network",
    "network unreachable": "network",
    "timeout": "network",
    "tls": "security",
    "cancelled": "general",
    "null reference": "logic",
    "arithmetic": "logic",
    "number overflow": "logic",
    "index or key": "logic",
    "no such member": "logic",
    "name not defined": "logic",
    "type mismatch": "logic",
    "invalid value": "logic",
    "assertion": "logic",
    "memory access": "logic",
    "not supported": "dependency",
    "illegal state": "logic",
}

STEPS = {
    "configuration": (
        "Print the configuration that the program really uses, not the file you think it reads.",
        "Compare environment variables and files with a machine where it works.",
        "Start it with the smallest configuration there is, then add settings one at a time.",
    ),
    "resource": (
        "Measure the resource while it happens: memory, processor, open files, connections.",
        "Compare with its limit: of the process (ulimit), of the container, of the service.",
        "Find out whether use grows without end (a leak) or jumps with the load.",
    ),
    "dependency": (
        "Print the versions that are really installed where the program runs.",
        "Compare them with the lock file, and install again into a clean environment.",
        "Look through the change log of whatever was upgraded last.",
    ),
    "permission": (
        "Find out as which user or role the program runs.",
        "Look at owner, mode and policy of the very thing that was refused, and of its folders.",
        "Try the same access by hand as that user.",
    ),
    "logic": (
        "Go to the innermost frame of your own code and print the values that it works on.",
        "Make the smallest input that still fails, and put it into a test.",
        "Find the change that brought it, with git bisect where it worked before.",
    ),
    "network": (
        "Take it apart: does the name resolve, does the port answer, does the protocol answer.",
        "Try from the very machine or container that fails, past proxies where you can.",
        "Look into the log of the other side at the same second.",
    ),
    "storage": (
        "Look at free space and free inodes of the file system that is meant (df -h, df -i).",
        "Look at how it is mounted, and whether the path is what you think, links resolved.",
        "Look into the kernel's log for errors of the device.",
    ),
    "security": (
        "Find out which credential or certificate is really presented, and until when it is valid.",
        "Compare the clocks and the trusted authorities of both sides.",
        "Look into the log of the side that refuses: it says more than it answers.",
    ),
    "concurrency": (
        "List what runs at the same time and what each waits for (locks, threads, transactions).",
        "Find the order in which each takes its locks; make it the same everywhere.",
        "Run it alone: if it works then, it is the others.",
    ),
    "build": (
        "Read the first error, not the last: those after it often follow from it.",
        "Build from clean, with the versions that the project names, with all output shown.",
        "Compare with the last build that passed: what changed in code, tools, image.",
    ),
    "data": (
        "Find the very record or line that it fails on.",
        "Compare it with what the schema or the parser expects.",
        "Find out who writes such data, and refuse it there.",
    ),
    "general": (
        "Read the first error of the log and its innermost cause, not the last line.",
        "Write down what changed since it worked: code, versions, configuration, data, load.",
        "Make the smallest case that still fails.",
    ),
}
REMEMBER = "Once it is solved, save the fix with troubleshoot_feedback or remediation_save."


def category_of(kind: str | None) -> str:
    return CATEGORY_OF_KIND.get(kind or "", "general")


def steps(category: str) -> tuple[str, ...]:
    return STEPS.get(category, STEPS["general"])
