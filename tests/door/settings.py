from contextd.settings import *  # noqa: F403
from contextd.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.door"]
BODY_SECONDS = 5
CONTEXTD_MCP_EXTENSIONS = ["tests.door.conversation.extend"]
