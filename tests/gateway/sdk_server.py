"""A server that is written with the SDK, over stdio."""

from mcp.server import MCPServer

server = MCPServer("over stdio")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if __name__ == "__main__":
    server.run("stdio")
