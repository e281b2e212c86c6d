from tests.server import environment, one_server, server

__all__ = ["environment", "one_server", "server"]
