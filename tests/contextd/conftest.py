from tests.server import environment, server

__all__ = ["environment", "server"]
