from contextd.settings import *  # noqa: F403
from contextd.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.door"]
BODY_SECONDS = 5
CONTEXTD_MCP_EXTENSIONS = ["tests.door.conversation.extend"]
# What a server writes when nobody waits for it would be there for the next test.
CONTEXTD_EVENTS_SECONDS = None
# As tests hash them, so that people of a test can log in.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
