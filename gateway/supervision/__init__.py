"""The process that runs upstreams: asynchronous, apart from all that serves clients."""
