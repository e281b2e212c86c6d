"""The process that runs upstreams: asynchronous, and separate from those that serve clients."""
