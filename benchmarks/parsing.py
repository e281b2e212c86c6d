"""`make bench`, parsing: error texts of the greatest length."""

import time
from collections.abc import Callable

from benchmarks import report
from contextd import faults

LENGTH = 50_000
ROUNDS = 15
TRACES = {
    "Java": (
        "a.B: x\n",
        "\tat com.acme.shop{n}.Orders$$EnhancerBySpringCGLIB$$1a2b.put(Orders.java:{n})\n",
    ),
    "Python": (
        "Traceback (most recent call last):\n",
        '  File "/srv/shop/module{n}.py", line {n}, in put\n    return self.next(request, {n})\n',
    ),
    "Go": (
        "panic: x\n\ngoroutine 1 [running]:\n",
        "github.com/acme/shop.(*Orders).Put{n}(0xc000{n})\n\t/src/shop/orders.go:{n} +0x1d\n",
    ),
    "JavaScript": ("TypeError: x\n", "    at async Orders.put{n} (/srv/shop/orders.js:{n}:17)\n"),
    "Rust": (
        "thread 'main' panicked at src/main.rs:2:5:\nx\nstack backtrace:\n",
        "   1: shop::orders::put{n}\n             at ./src/orders.rs:{n}:5\n",
    ),
    "Ruby": (
        "/srv/shop/orders.rb:1:in `put': x (RuntimeError)\n",
        "\tfrom /srv/shop/orders{n}.rb:{n}:in `block in put{n}'\n",
    ),
    "PHP": (
        "PHP Fatal error:  Uncaught App\\Failed: x in /srv/shop/a.php:1\nStack trace:\n",
        "#{n} /srv/shop/orders.php({n}): App\\Orders->put{n}('a', Array)\n",
    ),
    "gdb": (
        "Program received signal SIGSEGV, Segmentation fault.\n",
        "#{n}  0x00005555555551{n:02x} in put{n} (order=0x0) at /src/shop/orders.c:{n}\n",
    ),
    "ASan": (
        "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\n",
        "    #{n} 0x55d0c0ffee{n:02x} in put{n} /src/shop/orders.cc:{n}:5\n",
    ),
    "chained Java": (
        "a.B: x\n",
        "Caused by: com.acme.Failed{n}: not {n}\n"
        + "\tat com.acme.Orders.put(Orders.java:{n})\n" * 5
        + "\t... {n} more\n",
    ),
    ".NET": ("System.Exception: x\n", "   at Acme.Put{n}(Int32 id) in /src/Orders.cs:line {n}\n"),
    "a log": ("", "2024-05-01 12:00:00,123 INFO  [main] com.acme.Jobs - done {n} of 300\n"),
    "a log of errors": ("", "2024-05-01 12:00:00,123 ERROR could not do {n}, will try again\n"),
}


def main() -> None:
    rows = [
        [name, f"{best_time(faults.parse, trace(*TRACES[name]), ROUNDS) * 1000:.1f}"]
        for name in TRACES
    ]
    text = (
        f"Texts of {LENGTH:,} characters, parsed {ROUNDS} times; the least processor time.\n\n"
        f"{report.table(['printed by', 'ms'], rows)}"
    )
    report.write("parsing", "Error texts: speed of parsing", "make bench", text)


def trace(head: str, line: str) -> str:
    """Return the head followed by numbered lines, cut to the greatest length."""
    text, number = head, 0
    while len(text) < LENGTH:
        text += line.format(n=number)
        number += 1
    return text[:LENGTH]


def best_time(function: Callable[[str], object], text: str, rounds: int) -> float:
    """Return the least processor time of several rounds, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        function(text)
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
