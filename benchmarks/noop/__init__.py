"""An app with an operation that does nothing; only a server that is measured installs it."""
