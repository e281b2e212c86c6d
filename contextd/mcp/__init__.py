"""The MCP door. Importing the SDK takes seconds, so only the web process and stdio import it."""
