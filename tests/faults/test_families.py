"""Which names mean the same kind of error."""

from itertools import combinations

import pytest

from contextd.faults import family, parse, same_type
from contextd.faults.kinds import KINDS
from contextd.faults.kinds.kind import Kind

ALIKE = {
    "module not found": [
        "ModuleNotFoundError: No module named 'x'",
        "ImportError: cannot import name 'x'",
        "java.lang.ClassNotFoundException: a.B",
        "Error: Cannot find module 'x'",
        "cart.ts(1,1): error TS2307: Cannot find module 'x'",
        "error[E0432]: unresolved import `x`",
    ],
    "connection refused": [
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "Error: connect ECONNREFUSED 127.0.0.1:80",
        "java.net.ConnectException: Connection refused",
        "dial tcp 127.0.0.1:8080: connect: connection refused",
        "Errno::ECONNREFUSED: failed to open TCP connection",
        "SQLSTATE[HY000] [2002] Connection refused",
    ],
    "null reference": [
        "java.lang.NullPointerException",
        "System.NullReferenceException: Object reference not set to an instance of an object.",
        "TypeError: Cannot read properties of undefined (reading 'x')",
        "TypeError: undefined is not an object (evaluating 'x.y')",
        "panic: runtime error: invalid memory address or nil pointer dereference",
        "AttributeError: 'NoneType' object has no attribute 'x'",
        "NoMethodError: undefined method `x' for nil:NilClass",
        "Error: Call to a member function x() on null",
    ],
    "out of memory": [
        "java.lang.OutOfMemoryError: Java heap space",
        "MemoryError",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "Process completed with exit code 137.",
        "PHP Fatal error:  Allowed memory size of 1 bytes exhausted in /a.php on line 1",
    ],
    "timeout": [
        "TimeoutError",
        "java.net.SocketTimeoutException: Read timed out",
        "Error: connect ETIMEDOUT 10.0.0.1:443",
        "context deadline exceeded",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool",
    ],
    "permission denied": [
        "PermissionError: [Errno 13] Permission denied: 'x'",
        "Error: EACCES: permission denied, open 'x'",
        "java.nio.file.AccessDeniedException: x",
        "System.UnauthorizedAccessException: Access to the path 'x' is denied.",
        "bash: ./run.sh: Permission denied",
    ],
    "disk full": [
        "OSError: [Errno 28] No space left on device",
        "Error: ENOSPC: System limit for number of file watchers reached",
        "System.IO.IOException: There is not enough space on the disk.",
    ],
    "file not found": [
        "FileNotFoundError: [Errno 2] No such file or directory: 'x'",
        "Error: ENOENT: no such file or directory, open 'x'",
        "java.nio.file.NoSuchFileException: x",
        "System.IO.FileNotFoundException: Could not find file 'x'.",
        "open x: no such file or directory",
    ],
    "syntax": [
        "SyntaxError: invalid syntax",
        "IndentationError: unexpected indent",
        "PHP Parse error:  syntax error, unexpected token in /a.php on line 1",
    ],
    "type mismatch": [
        "TypeError: unsupported operand type(s)",
        "java.lang.ClassCastException: class a.B cannot be cast to class c.D",
        "a.ts(1,1): error TS2322: Type 'a' is not assignable to type 'b'.",
        "error[E0308]: mismatched types",
    ],
    "index or key": [
        "IndexError: list index out of range",
        "KeyError: 'x'",
        "java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 3",
        "panic: runtime error: index out of range [5] with length 3",
        'Warning: Undefined array key "x" in /a.php on line 1',
    ],
    "tls": [
        "ssl.SSLCertVerificationError: certificate verify failed: self-signed certificate",
        "javax.net.ssl.SSLHandshakeException: PKIX path building failed",
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        "Error: unable to get local issuer certificate",
    ],
    "dns": [
        "socket.gaierror: [Errno -2] Name or service not known",
        "Error: getaddrinfo ENOTFOUND db",
        "java.net.UnknownHostException: db",
        "dial tcp: lookup db: no such host",
    ],
    "deadlock": [
        "fatal error: all goroutines are asleep - deadlock!",
        "ERROR:  40P01: deadlock detected",
        "Deadlock found when trying to get lock; try restarting transaction",
    ],
    "unique violation": [
        'ERROR:  23505: duplicate key value violates unique constraint "x"',
        "sqlite3.IntegrityError: UNIQUE constraint failed: a.b",
        "ERROR 1062 (23000): Duplicate entry 'x' for key 'y'",
        "ORA-00001: unique constraint (A.B) violated",
    ],
    "name not defined": [
        "NameError: name 'x' is not defined",
        "ReferenceError: x is not defined",
        "A.cs(1,1): error CS0103: The name 'x' does not exist in the current context",
        "./main.go:7:2: undefined: x",
    ],
    "command not found": ["bash: line 3: x: command not found", "/bin/sh: 1: x: not found"],
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in ALIKE.items() for text in texts]
)
def test_errors_of_one_kind_are_one_family(name: str, text: str) -> None:
    fault = parse(text)

    assert family(fault.error_type, fault.message) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ImportError", "ModuleNotFoundError"),
        ("ConnectionRefusedError", "ECONNREFUSED"),
        ("ECONNREFUSED", "connection refused"),
        ("ECONNREFUSED", "requests.exceptions.ConnectionError"),
        ("NullPointerException", "System.NullReferenceException"),
        ("java.lang.NullPointerException", "nullpointerexception"),
        ("requests.exceptions.Timeout", "app.Timeout"),
        ("App\\StorageException", "StorageException"),
        ("Errno::ENOENT", "FileNotFoundError"),
        ("IndexError", "KeyError"),
    ],
)
def test_names_for_the_same_are_the_same_type(one: str, other: str) -> None:
    assert same_type(one, other)
    assert same_type(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ValueError", "KeyError"),
        ("ModuleNotFoundError", "FileNotFoundError"),
        ("exit code 1", "exit code 2"),
        ("app.One", "app.Two"),
        ("", ""),
    ],
)
def test_other_names_are_other_types(one: str, other: str) -> None:
    assert not same_type(one, other)


def test_a_message_goes_before_a_type() -> None:
    assert family("OSError", "[Errno 28] No space left on device") == "disk full"
    assert family("ConnectionError", "[Errno 104] Connection reset by peer") == "connection reset"
    assert family("AttributeError", "'Cart' object has no attribute 'x'") == "no such member"
    assert family("AttributeError", "'NoneType' object has no attribute 'x'") == "null reference"


def test_a_name_in_the_message_tells_the_family() -> None:
    assert family("", "crashes with NullPointerException since Monday") == "null reference"
    assert family("", "the numbers are wrong") is None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_type_is_of_its_kind(kind: Kind) -> None:
    """Not of one whose phrases happen to be in its name."""
    assert {name: family(name) for name in kind.types.split()} == dict.fromkeys(
        kind.types.split(), kind.name
    )


def test_every_type_is_of_one_kind_only() -> None:
    for one, other in combinations(KINDS, 2):
        assert not set(one.types.split()) & set(other.types.split()), (one.name, other.name)
