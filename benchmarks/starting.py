"""`make bench`, starting: how long `manage.py up` takes until it is ready, and to stop."""

import signal
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import report, server

LATER_STARTS = 5


def start_and_stop(folder: Path) -> tuple[float, float]:
    """Return the seconds until the server is ready, and until it has stopped."""
    port = server.free_port()
    began = time.perf_counter()
    process = server.start(folder, port)
    server.wait_until_ready(port, process)
    ready = time.perf_counter()
    server.wait_until_idle(server.Server(port, folder, process))
    stopping = time.perf_counter()
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    return ready - began, time.perf_counter() - stopping


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="contextd-bench-") as fresh:
        folder = Path(fresh)
        folder.chmod(0o711)
        first, _ = start_and_stop(folder)
        later = [start_and_stop(folder) for _ in range(LATER_STARTS)]
    starts, stops = zip(*later, strict=True)
    report.write(
        "starting",
        "Start and stop",
        "make bench",
        "From the start of `manage.py up` until `/readyz` answers, with all programs installed; the"
        " first start also creates the database, and its embedding of shipped knowledge goes on"
        f" afterwards. {LATER_STARTS} later starts.\n\n"
        + report.table(
            ["seconds", "median", "slowest"],
            [
                ["first start", f"{first:.1f}", f"{first:.1f}"],
                ["later start", f"{statistics.median(starts):.1f}", f"{max(starts):.1f}"],
                ["stop (SIGTERM)", f"{statistics.median(stops):.1f}", f"{max(stops):.1f}"],
            ],
        ),
    )


if __name__ == "__main__":
    main()
