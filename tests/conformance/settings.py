from contextd.settings import *  # noqa: F403
from contextd.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.conformance"]
CONTEXTD_MCP_EXTENSIONS = ["tests.conformance.server.install"]
CONTEXTD_RATE_LIMITS = False
