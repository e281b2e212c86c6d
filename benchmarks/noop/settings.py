from contextd.settings import *  # noqa: F403
from contextd.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.noop"]
