"""What can be set from outside: one field a variable, documented and checked at start."""

from pathlib import Path
from typing import Annotated, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import AliasChoices, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

CHECKOUT = Path(__file__).resolve().parent.parent

Names = Annotated[list[str], NoDecode]


def variable(name: str) -> AliasChoices:
    return AliasChoices(name)


class Environment(BaseSettings):
    """Read from environment variables only; `docs/configuration.md` is made from it."""

    model_config = SettingsConfigDict(extra="ignore", env_ignore_empty=True)

    http_host: str = Field(
        "0.0.0.0",  # noqa: S104  (who may connect is decided by token and by host name)
        validation_alias=variable("CONTEXTD_HTTP_HOST"),
        description="Address the web server listens on.",
    )
    http_port: int = Field(
        8080,
        ge=1,
        le=65535,
        validation_alias=variable("CONTEXTD_HTTP_PORT"),
        description="Port the web server listens on.",
    )
    data_dir: Path = Field(
        CHECKOUT / ".contextd",
        validation_alias=variable("CONTEXTD_DATA_DIR"),
        description="Folder of the embedded servers, the secret key and the logs.",
    )
    database_url: str | None = Field(
        None,
        pattern=r"^(postgres|postgresql)://",
        validation_alias=variable("DATABASE_URL"),
        description="PostgreSQL >= 15 with pgvector >= 0.8 and pg_trgm. Unset: the embedded one.",
    )
    redis_url: str | None = Field(
        None,
        pattern=r"^(rediss?|unix)://",
        validation_alias=variable("REDIS_URL"),
        description="Redis or Valkey for jobs, cache and rates. Unset: the embedded one.",
    )
    embedding_base_url: str | None = Field(
        None,
        pattern=r"^https?://",
        validation_alias=variable("EMBEDDING_BASE_URL"),
        description="OpenAI-compatible endpoint, up to and with `/v1`. Unset: in process.",
    )
    embedding_model: str = Field(
        "all-MiniLM-L6-v2",
        validation_alias=variable("EMBEDDING_MODEL"),
        description="Model to embed with; another one re-embeds everything in the background.",
    )
    embedding_api_key: str = Field(
        "",
        validation_alias=variable("EMBEDDING_API_KEY"),
        description="Bearer token for `EMBEDDING_BASE_URL`.",
    )
    allowed_hosts: Names = Field(
        [],
        validation_alias=variable("CONTEXTD_ALLOWED_HOSTS"),
        description="Host names clients may use, comma separated, beside loopback and our own.",
    )
    allowed_origins: Names = Field(
        [],
        validation_alias=variable("CONTEXTD_ALLOWED_ORIGINS"),
        description="Origins of web pages that may call, comma separated, beside our own.",
    )
    secret_key: str | None = Field(
        None,
        min_length=32,
        validation_alias=variable("CONTEXTD_SECRET_KEY"),
        description="Signs logins and encrypts stored secrets. "
        "Unset: made once and kept in the data folder (mode 0600).",
    )
    anonymous: Literal["on", "off"] = Field(
        "on",
        validation_alias=variable("CONTEXTD_ANONYMOUS"),
        description="`on`: callers on this machine need no token. `off`: everybody needs one.",
    )
    context: str | None = Field(
        None,
        validation_alias=variable("CONTEXTD_CONTEXT"),
        description="Context of `mcp_stdio` and `call` when no `--context` is given.",
    )
    oauth_issuer: str | None = Field(
        None,
        pattern=r"^https?://",
        validation_alias=variable("CONTEXTD_OAUTH_ISSUER"),
        description="OAuth issuer whose access tokens (JWT) are accepted. Unset: none.",
    )
    oauth_audience: str | None = Field(
        None,
        pattern=r"^https?://",
        validate_default=True,
        validation_alias=variable("CONTEXTD_OAUTH_AUDIENCE"),
        description="The public address of `/mcp`, which they must be issued for.",
    )
    oauth_jwks_url: str | None = Field(
        None,
        pattern=r"^https?://",
        validation_alias=variable("CONTEXTD_OAUTH_JWKS_URL"),
        description="Where the issuer's keys are. Unset: found by the issuer's metadata.",
    )
    oauth_user_claim: str = Field(
        "email",
        validation_alias=variable("CONTEXTD_OAUTH_USER_CLAIM"),
        description="Claim that names the user: `email` by e-mail address, others by user name.",
    )
    audit_days: int = Field(
        90,
        ge=1,
        validation_alias=variable("CONTEXTD_AUDIT_DAYS"),
        description="How long it is kept who called what.",
    )
    rate_limits: Literal["on", "off"] = Field(
        "on",
        validation_alias=variable("CONTEXTD_RATE_LIMITS"),
        description="`off` is for benchmarks.",
    )
    workers: int = Field(
        8,
        ge=1,
        le=100,
        validation_alias=variable("CONTEXTD_WORKERS"),
        description="Calls that run at the same time in one web process.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO",
        validation_alias=variable("CONTEXTD_LOG_LEVEL"),
        description="Least severe messages that are logged.",
    )
    otlp_endpoint: str | None = Field(
        None,
        pattern=r"^https?://",
        validation_alias=variable("OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Collector that traces and metrics are sent to (OTLP over HTTP). Unset: none.",
    )

    @field_validator("allowed_hosts", "allowed_origins", mode="before")
    @classmethod
    def _split(cls, names: object) -> object:
        return (
            [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else names
        )

    @field_validator("oauth_audience")
    @classmethod
    def _given_with_an_issuer(cls, audience: str | None, info: ValidationInfo) -> str | None:
        if audience is None and info.data.get("oauth_issuer"):
            raise ValueError("needed with CONTEXTD_OAUTH_ISSUER: tokens for others must not count")
        return audience

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return folder.expanduser().absolute()


def read() -> Environment:
    """Raises ImproperlyConfigured, one line a variable that is wrong."""
    try:
        return Environment()
    except ValidationError as error:
        lines = [f"{problem['loc'][0]}: {problem['msg']}" for problem in error.errors()]
        raise ImproperlyConfigured("; ".join(lines)) from None
