"""All of Django's settings; what can be changed from outside is in `environment.py`."""

import socket
import sys
from pathlib import Path

import dj_database_url
import django_stubs_ext
import unfold
from celery.schedules import crontab, schedule

import contextd
from contextd import embedded, environment, secret_key

django_stubs_ext.monkeypatch()

BASE_DIR = environment.CHECKOUT
with environment.explained():
    ENVIRONMENT = environment.read()
    DATA_DIR = ENVIRONMENT.data_dir
    # `up` creates the folder of the embedded servers; a mistyped name must not.
    _key_in = secret_key.kept_in if ENVIRONMENT.database_url else secret_key.found_in
    SECRET_KEY = ENVIRONMENT.secret_key or _key_in(DATA_DIR)
DEBUG = False
LOOPBACK_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = [*LOOPBACK_HOSTS, socket.gethostname().lower(), *ENVIRONMENT.allowed_hosts]
ALLOWED_ORIGINS = ENVIRONMENT.allowed_origins

INSTALLED_APPS = [
    "unfold",  # before the admin, whose templates it overrides
    "unfold.contrib.import_export",
    "import_export",
    "django.contrib.admin.apps.SimpleAdminConfig",  # urls.py loads the rest
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "ninja",
    "rest_framework",
    "django_htmx",
    "django_filters",
    "drf_spectacular",
    "contextd",
    "contextd.search",
    "contexts",
    "checkpoints",
    "remediations",
    "repositories",
    "threats",
    "troubleshoot",
    "skills",
    "gateway",
    "analytics",
    "pages",
]
MIDDLEWARE = [
    "contextd.cookies.SecureCookies",
    "contextd.rest.OneErrorShape",
    "django.middleware.security.SecurityMiddleware",
    "contextd.static_files.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "contextd.admin.addresses.Storable",
    "contextd.csrf.BehindTls",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "contextd.admin.addresses.Permitted",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "contextd.urls"
ASGI_APPLICATION = "contextd.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "pages.access.contexts_of",
            ]
        },
    }
]

WORKERS = ENVIRONMENT.workers
STATEMENT_TIMEOUT_MS = 30_000
_database = dj_database_url.parse(ENVIRONMENT.database_url or embedded.database_url(DATA_DIR))
_database_options = {"connect_timeout": 3, "options": "", **_database.get("OPTIONS", {})}
_database_options["options"] += f" -c statement_timeout={STATEMENT_TIMEOUT_MS}"
DATABASES = {
    "default": {
        **_database,
        "CONN_MAX_AGE": 0,
        "OPTIONS": _database_options,
    }
}
# Covers calls over MCP and REST, and threads that look up callers and write records.
DATABASE_POOL = {"min_size": 1, "max_size": 2 * WORKERS + 8, "timeout": 3}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

REDIS_URL = ENVIRONMENT.redis_url or embedded.redis_url(DATA_DIR)
CACHES = {
    "default": {
        "BACKEND": "contextd.cache.Cache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
    }
}
CELERY_BROKER_URL = embedded.as_broker_url(REDIS_URL)
# For publishers; a worker reconnects indefinitely, whatever this says.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "max_retries": 0,
    "socket_connect_timeout": 1,
    "socket_timeout": 2,
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    "embed pending passages": {
        "task": "contextd.search.tasks.embed_pending",
        "schedule": schedule(60),
    },
    "delete old calls": {
        "task": "contexts.tasks.expire_audit",
        "schedule": schedule(24 * 60 * 60),
    },
    "aggregate calls": {
        "task": "analytics.tasks.roll_up",
        "schedule": crontab(hour="0", minute="45"),
    },
    "delete expired results": {
        "task": "contextd.tasks.forget_detached_calls",
        "schedule": schedule(600),
    },
    "queue abandoned jobs again": {
        "task": "contextd.tasks.sweep_jobs",
        "schedule": schedule(20),
    },
    "end idle sessions": {
        "task": "contextd.tasks.end_idle_sessions",
        "schedule": schedule(60),
    },
}

# For the dashboard's data; operations have their own door.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["analytics.api.access.CallerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["analytics.api.access.MayReadAnalytics"],
    "DEFAULT_PAGINATION_CLASS": "analytics.api.pagination.Pages",
    "DEFAULT_RENDERER_CLASSES": [
        "rest_framework.renderers.JSONRenderer",
        "rest_framework.renderers.BrowsableAPIRenderer",
        "analytics.api.pagination.CsvRenderer",
    ],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "analytics.api.negotiation.Negotiation",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "analytics.api.access.explain",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "contextd dashboard",
    "DESCRIPTION": "The dashboard's data, read-only. JSON, or CSV with `?format=csv`.",
    "VERSION": contextd.__version__,
    "SERVE_INCLUDE_SCHEMA": False,
    # Public, as that of the operations is: it holds no data.
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "PREPROCESSING_HOOKS": ["analytics.api.documented.only_ours"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "analytics.api.documented.with_failures",
    ],
}
UNFOLD = {
    "SITE_TITLE": "contextd",
    "SITE_HEADER": "contextd",
    "SITE_SYMBOL": "neurology",
    "SITE_URL": "/dashboard/",
    "SITE_FAVICONS": [{"rel": "icon", "href": "/static/contextd/icon.svg"}],
    "STYLES": ["contextd.admin.navigation.style"],
    "SCRIPTS": ["contextd.admin.navigation.script"],
    # Tailwind's blue, with a 400 and 500 that are legible on a dark background.
    "COLORS": {
        "primary": {
            "50": "oklch(97% .014 254.604)",
            "100": "oklch(93.2% .032 255.585)",
            "200": "oklch(88.2% .059 254.128)",
            "300": "oklch(80.9% .105 251.813)",
            "400": "oklch(76% .13 254)",
            "500": "oklch(70.7% .165 254.624)",
            "600": "oklch(54.6% .245 262.881)",
            "700": "oklch(48.8% .243 264.376)",
            "800": "oklch(42.4% .199 265.638)",
            "900": "oklch(37.9% .146 265.522)",
            "950": "oklch(28.2% .091 267.935)",
        }
    },
    "SIDEBAR": {"show_search": True, "navigation": "contextd.admin.navigation.groups"},
}
LOGIN_URL = "/admin/login/"
LOGIN_REDIRECT_URL = "/admin/"
# Modules with their own addresses, from the root.
CONTEXTD_PAGES = ["analytics.urls", "pages.urls"]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = "contextd.formats"
STATIC_URL = "static/"
# Chart.js with its licence, as shipped by django-unfold.
STATICFILES_DIRS = [("chart", str(Path(unfold.__file__).parent / "static/unfold/js/chart"))]
WHITENOISE_USE_FINDERS = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024
# Larger than the files that are imported, so that the form can say how large they may be.
IMPORT_BODY_SIZE = 64 * 1024 * 1024
# How long a request may take to arrive; a slower one would block others.
BODY_SECONDS = 30

CONTEXTD_RATE_LIMITS = ENVIRONMENT.rate_limits == "on"
CONTEXTD_REST_RATE = ENVIRONMENT.rest_rate
CONTEXTD_DASHBOARD_RATE = ENVIRONMENT.dashboard_rate
CONTEXTD_LOGIN_RATE = ENVIRONMENT.login_rate
CONTEXTD_ANONYMOUS = ENVIRONMENT.anonymous == "on"
CONTEXTD_INDEX_ROOTS = [str(folder) for folder in ENVIRONMENT.index_roots]
CONTEXTD_AUTHENTICATE = "contexts.tokens.principal_of"
CONTEXTD_ENTER = "contexts.services.enter"
CONTEXTD_POLICY = "contexts.services.authorize"
CONTEXTD_VARIABLES = "contexts.services.variables"
CONTEXTD_GATEWAY_COMMANDS = ENVIRONMENT.gateway_commands
CONTEXTD_GATEWAY_PRIVATE_HOSTS = ENVIRONMENT.gateway_private_hosts
CONTEXTD_GATEWAY_LISTEN = ENVIRONMENT.gateway_listen
CONTEXTD_GATEWAY_ADDRESS = ENVIRONMENT.gateway_address
CONTEXTD_GATEWAY_TOKEN = ENVIRONMENT.gateway_token
CONTEXTD_GATEWAY_MESSAGE_MB = ENVIRONMENT.gateway_message_mb
CONTEXTD_AUDIT_DAYS = ENVIRONMENT.audit_days
CONTEXTD_EVENTS_DAYS = ENVIRONMENT.events_days
# How long calls wait before they are counted in a batch; None: until requested.
CONTEXTD_EVENTS_SECONDS: float | None = 1.0
CONTEXTD_TOKEN_PRICE = ENVIRONMENT.token_price
CONTEXTD_READING_LIMIT = ENVIRONMENT.reading_limit
CONTEXTD_MINUTES_SAVED = ENVIRONMENT.minutes_saved
CONTEXTD_OAUTH_ISSUER = ENVIRONMENT.oauth_issuer
CONTEXTD_OAUTH_AUDIENCE = ENVIRONMENT.oauth_audience
CONTEXTD_OAUTH_JWKS_URL = ENVIRONMENT.oauth_jwks_url
CONTEXTD_OAUTH_USER_CLAIM = ENVIRONMENT.oauth_user_claim
# Dotted names of functions that receive the MCP server and extend what it serves.
CONTEXTD_MCP_EXTENSIONS: list[str] = []

# At INFO, these report their own periodic work; DEBUG shows it.
LIBRARY_LOG_LEVEL = "WARNING" if ENVIRONMENT.log_level == "INFO" else ENVIRONMENT.log_level
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"structured": {"()": "contextd.logs.formatter"}},
    "filters": {"worth_reading": {"()": "contextd.logs.WorthReading"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "stream": sys.stderr,
            "formatter": "structured",
            "filters": ["worth_reading"],
        }
    },
    "root": {"handlers": ["stderr"], "level": ENVIRONMENT.log_level},
    "loggers": {
        "django.server": {"handlers": [], "propagate": True},
        "uvicorn": {"handlers": [], "propagate": True, "level": LIBRARY_LOG_LEVEL},
        "celery": {"level": LIBRARY_LOG_LEVEL},
        "mcp": {"level": LIBRARY_LOG_LEVEL},
        "httpx": {"level": LIBRARY_LOG_LEVEL},
        "httpx2": {"level": LIBRARY_LOG_LEVEL},
        "uvicorn.access": {"handlers": [], "propagate": False},
    },
}
