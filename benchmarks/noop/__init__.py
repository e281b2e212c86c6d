"""An app with an operation that does nothing, installed only on a measured server."""
