"""What goes wrong between a program and the machine or the network."""

from contextd.faults.kinds.kind import Kind

SYSTEM: tuple[Kind, ...] = (
    Kind(
        "out of memory",
        types=(
            "OutOfMemoryError OutOfMemoryException MemoryError bad_alloc OOMKilled ENOMEM"
            " NoMemoryError"
        ),
        phrases=(
            r"out of memory|cannot allocate memory|allowed memory size|java heap space|oom-?kill"
            r"|gc overhead limit|exit code:? 137\b"
        ),
    ),
    Kind(
        "disk full",
        types="ENOSPC EDQUOT DiskFullException DiskFull",
        phrases=(
            r"no space left on device|not enough space on the disk|disk quota exceeded"
            r"|disk (?:is )?full"
        ),
    ),
    Kind(
        "too many open files",
        types="EMFILE ENFILE",
        phrases=r"too many open files",
    ),
    Kind(
        "address in use",
        types="EADDRINUSE BindException",
        phrases=(
            r"address already in use|port is already allocated"
            r"|only one usage of each socket address"
        ),
    ),
    Kind(
        "connection refused",
        types="ConnectionRefusedError ECONNREFUSED HttpHostConnectException ConnectionError",
        phrases=r"connection (?:was )?refused|actively refused|couldn't connect to server",
    ),
    Kind(
        "connection reset",
        types=(
            "ConnectionResetError ConnectionAbortedError BrokenPipeError ECONNRESET ECONNABORTED"
            " EPIPE RemoteDisconnected ClientAbortException"
        ),
        phrases=(
            r"connection (?:was )?(?:reset|aborted|closed)|broken pipe|socket hang up"
            r"|forcibly closed|server closed the connection"
        ),
    ),
    Kind(
        "dns",
        types="gaierror ENOTFOUND EAI_AGAIN UnknownHostException NameResolutionError",
        phrases=(
            r"getaddrinfo|could not resolve host|no such host|name or service not known|nxdomain"
            r"|name resolution|nodename nor servname"
        ),
    ),
    Kind(
        "network unreachable",
        types="EHOSTUNREACH ENETUNREACH NoRouteToHostException",
        phrases=r"no route to host|(?:network|host) is unreachable",
    ),
    Kind(
        "tls",
        types=(
            "SSLError SSLHandshakeException SSLCertVerificationError CertPathValidatorException"
            " SunCertPathBuilderException CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT"
            " SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE SSLException"
            " UNABLE_TO_GET_ISSUER_CERT_LOCALLY"
        ),
        phrases=(
            r"certificate verif|self[- ]signed certificate|x509:|local issuer certificate"
            r"|pkix path|certificate has expired|(?:ssl|tls) handshake|ssl routines"
            r"|invalid certificate"
        ),
    ),
    Kind(
        "timeout",
        types=(
            "TimeoutError TimeoutException SocketTimeoutException ReadTimeout ConnectTimeout"
            " ReadTimeoutError ConnectTimeoutError ETIMEDOUT ESOCKETTIMEDOUT TimeoutExpired"
            " DeadlineExceeded HttpTimeoutException ConnectTimeoutException ReadTimeoutException"
            " OpenTimeout 57014 timeout"
        ),
        phrases=(
            r"\btimed? ?out\b|deadline exceeded|i/o timeout"
            r"|timeout (?:of|expired|exceeded|was reached|after)|gateway time"
        ),
    ),
    Kind(
        "permission denied",
        types=(
            "PermissionError EACCES EPERM AccessDeniedException UnauthorizedAccessException"
            " AccessControlException InsufficientPrivilege 42501"
        ),
        phrases=(
            r"permission denied|access (?:is|to the path .* is) denied|operation not permitted"
        ),
    ),
    Kind(
        "file not found",
        types=(
            "FileNotFoundError ENOENT FileNotFoundException NoSuchFileException"
            " DirectoryNotFoundException FileNotFound"
        ),
        phrases=(
            r"no such file or directory|cannot find the (?:file|path)"
            r"|could not find (?:file|a part of the path)|failed to open stream"
        ),
    ),
    Kind(
        "file exists",
        types="FileExistsError EEXIST FileAlreadyExistsException",
        phrases=r"file (?:already )?exists\b",
    ),
    Kind(
        "read-only file system",
        types="EROFS ReadOnlyFileSystemException",
        phrases=r"read-only file ?system",
    ),
    Kind(
        "command not found",
        types="CommandNotFoundException",
        phrases=(
            r"command not found|not recognized as|^not found: |executable file not found"
            r"|exit code:? 127\b"
            r"|\bsh: (?:line )?\d+: \S+: not found"
        ),
    ),
    Kind(
        "cancelled",
        types=(
            "CancelledError CancellationException OperationCanceledException"
            " TaskCanceledException AbortError InterruptedException KeyboardInterrupt SIGINT"
            " SIGTERM"
        ),
        phrases=(
            r"context canceled|(?:operation|request|task) was (?:cancell?ed|aborted)"
            r"|exit code:? (?:130|143)\b"
        ),
    ),
)
