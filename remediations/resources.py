"""Serve remediations by address."""

from contextd.callers import Caller
from contextd.resources import Query, resource
from remediations import services


@resource("remediation://{remediation_id}", title="Remediation")
def remediation(caller: Caller, query: Query, remediation_id: str) -> str:
    """Read one complete error and its fix."""
    return services.as_text(services.get(caller, remediation_id))
