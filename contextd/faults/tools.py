"""How shells, package managers, databases, containers and other tools report an error in one line.

A pattern is matched where a line begins, behind its indentation; its groups are those of a
headline (see `Grammar`), and `status` and `exit` for the bare numbers of HTTP and of processes.
The first match is used.
"""

from contextd.faults.grammar import LINE, MESSAGE, TYPE

_NPM = r"npm (?:ERR!|error) "
_SHELLS = r"-?(?:bash|sh|zsh|dash|ksh|fish|env|sudo|[\w./-]+/\w+)"
_SHELL_SAYS = (
    r"(?P<message>(?:[^\n:]{1,200}: ){0,2}(?P<type>command not found|not found|Permission denied"
    r"|No such file or directory|syntax error|unbound variable|cannot execute|Is a directory"
    r"|[Bb]ad substitution)[^\n]*)"
)
_REASONS = (
    r"(?:Bad Request|Unauthorized|Forbidden|Not Found|Method Not Allowed|Request|Conflict|Gone"
    r"|Unprocessable|Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable"
    r"|Gateway Time-?out|Client Error|Server Error)"
)

TOOLS: dict[str, tuple[str, ...]] = {
    "npm": (
        rf"{_NPM}code (?P<type>\S+)"
        rf"(?:\n{_NPM}(?:code|errno|syscall|path|command|cwd|dest) [^\n]*)*"
        rf"(?:\n{_NPM}(?:(?i:(?P=type)):? )?{MESSAGE})?",
        rf"(?P<type>ERR_PNPM_\w+) +{MESSAGE}",
        rf"\S+ (?P<type>YN\d{{4}}): (?:\u2502 )?{MESSAGE}",  # Yarn
    ),
    "postgres": (
        r"(?:psql:\S+ )?(?:ERROR|FATAL|PANIC): +(?P<type>(?=[A-Z]*\d)[0-9A-Z]{5}): "
        rf"{MESSAGE}",
        r"(?:ERROR: )?(?P<message>[^\n(]+) \(SQLSTATE (?P<type>\w{5})\)",
        rf"(?:psql:\S+ )?(?:ERROR|FATAL|PANIC):  {MESSAGE}"
        r"(?:(?:\n[^\n]*){0,6}?\n(?:SQL state|SQLSTATE): (?P<code>\w{5}))?",
    ),
    "sql": (
        rf"SQLSTATE\[(?P<type>\w{{5}})\]:? ?{MESSAGE}",
        rf"(?P<type>ERROR \d{{4}}) \(\w{{5}}\)(?: at line \d+)?: {MESSAGE}",  # MySQL
        rf"(?P<type>[A-Z][A-Z2]{{2,3}}-\d{{4,5}}): {MESSAGE}",  # Oracle
        rf"(?P<type>Msg \d+), Level \d+, State \d+[^\n]*\n{MESSAGE}",  # SQL Server
    ),
    "docker": (
        rf"(?:docker: )?(?P<type>Error response from daemon): {MESSAGE}",
        r"(?P<message>(?P<type>Cannot connect to the Docker daemon)[^\n]*)",
    ),
    "kubernetes": (rf"Error from server \((?P<type>\w+)\)[^\n:]*: {MESSAGE}",),
    "aws": (rf"An error occurred \((?P<type>\w+)\) when calling [^\n:]*: {MESSAGE}",),
    "grpc": (rf"[^\n]*?rpc error: code = (?P<type>\w+) desc = {MESSAGE}",),
    "ansible": (rf"fatal: \[[^\]\n]*\]: (?P<type>FAILED|UNREACHABLE)! => {MESSAGE}",),
    "git": (
        rf"(?P<type>CONFLICT) \([^)\n]*\): {MESSAGE}",
        rf"! \[(?P<type>(?:remote )?rejected)\] +{MESSAGE}",
        rf"(?P<type>fatal): {MESSAGE}",
    ),
    "http": (
        rf"(?:< )?HTTP(?:/[\d.]+)? (?P<status>[45]\d\d)\b ?{MESSAGE}",
        rf"(?P<status>[45]\d\d):? (?P<message>{_REASONS}[^\n]*)",
    ),
    "shell": (
        rf"(?:(?P<file>[\w./~+-]+\.\w+)|[\w./~+-]+): (?:line )?{LINE}: {_SHELL_SAYS}",
        rf"{_SHELLS}: {_SHELL_SAYS}",
        r"(?P<message>[^\n]{0,300}?(?P<type>not recognized) as (?:an internal|the name)[^\n]*)",
        r"(?P<message>[^\n:]{0,200}: (?P<type>Permission denied) \([^)\n]*\)[^\n]*)",  # ssh
        r"(?P<message>(?P<type>curl: \(\d+\)) [^\n]*)",
    ),
    "javascript": (r"\[(?P<type>UnhandledPromiseRejection): (?P<message>[^\n]*?)\](?: \{)?$",),
    "openssl": (rf"(?:[0-9A-F]+:)?error:(?P<type>[0-9A-F]{{8}}):{MESSAGE}",),
    "ruby": (rf"{TYPE} \((?P<message>[^\n]*)\):?$",),
    "": (  # any language: a type that says something, and its message
        r"(?:E +|Uncaught (?:\(in promise\) )?|Unhandled [^\n:.]{0,60}[:.] |Caused by: "
        r"|Exception in thread \"[^\"\n]*\" |\(node:\d+\) \w+: |> |\S+: )??"
        rf"(?!Error:|Exception:){TYPE}(?: \[(?P<code>\w+)\]| \(-?\d+\))?(?:: ?{MESSAGE}|$)",
    ),
}

# Often only the last consequence of an error: used if nothing says more.
LAST_WORDS: dict[str, tuple[str, ...]] = {
    "kubernetes": (
        r"(?P<message>[^\n]*?\b(?P<type>CrashLoopBackOff|ImagePullBackOff|ErrImagePull"
        r"|OOMKilled(?!\"?: ?(?:true|false))|CreateContainer\w*Error|RunContainerError"
        r"|InvalidImageName)\b[^\n]*)",
    ),
    "http": (
        r"(?P<message>[^\n]*?(?i:status(?: code)?|http(?: status| error| code)?|returned error)"
        r"[:= ]{1,2}(?P<status>[45]\d\d)\b[^\n]*)",
    ),
    "make": (
        r"make(?:\[\d+\])?: \*\*\* \[(?P<message>[^\]\n]*)\] (?P<type>Error \d+)",
        rf"(?P<type>make)(?:\[\d+\])?: \*\*\* {MESSAGE}",
    ),
    "gradle": (rf"\* What went wrong:\n{MESSAGE}",),
    "docker": (
        rf"(?:ERROR: )?(?P<type>failed to solve)(?: with [^\n:]*)?: {MESSAGE}",
        r"(?P<message>[^\n]*?\b(?P<type>OOMKilled)\"?: ?true\b[^\n]*)",
    ),
    "shell": (
        r"(?:[^\n]*?\d{1,9} )?(?P<type>Segmentation fault|Bus error|Aborted|Illegal instruction"
        r"|Floating point exception|Killed)(?: +\(core dumped\)|: \d+|$| {2})[^\n]*",
        r"(?P<message>[^\n]*?(?:exit(?:ed)?(?: with)? (?:code|status)|non-zero code)[: ]{1,2}"
        r"(?P<exit>-?\d{1,5})\b[^\n]*)",
    ),
    "": (
        r"[^\n]*?\blevel=(?:error|fatal|panic)\b(?:(?! level=)[^\n])*?"
        r"\bmsg=\"(?P<message>[^\"\n]*)\"",
        r"(?:[\u2502\u2577|] *)?(?:[\w./-]{1,80}: )?(?:(?P<type>Error|Exception)|error|ERROR"
        r"|[Ff]atal(?: error)?|FATAL|CRITICAL|SEVERE|E)(?: \w+)?: *(?P<message>[^\s][^\n]*)",
        r"(?:ERROR|FATAL|CRITICAL|SEVERE) +(?P<message>[^\n]+)",
    ),
}
