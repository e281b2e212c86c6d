"""The embedded Postgres and Valkey, so that nothing has to be installed: start, stop, addresses."""

from contextd.embedded.addresses import as_broker_url, database_url, redis_url
from contextd.embedded.folder import claim
from contextd.embedded.postgres import start_postgres
from contextd.embedded.processes import Process, StartError
from contextd.embedded.valkey import start_valkey

__all__ = [
    "Process",
    "StartError",
    "as_broker_url",
    "claim",
    "database_url",
    "redis_url",
    "start_postgres",
    "start_valkey",
]
