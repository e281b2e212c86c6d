"""Draw the pictures of the docs anew (`make screenshots`), on a server with the example's data."""

from benchmarks import scratch, server


def main() -> None:
    with server.ready() as running:
        scratch.use_data_of(running.data_dir)
        from tests.browser import pictures  # it reads the settings

        pictures.draw(f"http://127.0.0.1:{running.port}")


if __name__ == "__main__":
    main()
