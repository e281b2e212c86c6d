"""What can be set from outside: one field a variable, documented and checked at start."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from contextd.spelling import address, amount, spelled, whole_number

CHECKOUT = Path(__file__).resolve().parent.parent

Switch = Annotated[Literal["on", "off"], BeforeValidator(str.lower)]
Level = Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(str.upper)]
WebAddress = Annotated[str, address({"http", "https"}, "https://host.example.com/path")]
DatabaseAddress = Annotated[
    str, address({"postgres", "postgresql"}, "postgresql://user:password@host:5432/contextd")
]
RedisAddress = Annotated[
    str, address({"redis", "rediss", "unix"}, "redis://host:6379/0", "unix:///run/valkey.sock?db=0")
]
HostName = Annotated[
    str,
    spelled(
        r"\*|\.?[\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]",
        "must be host names without scheme, port or path, such as contextd.example.com",
    ),
]
Origin = Annotated[
    str,
    BeforeValidator(str.lower),
    spelled(
        r"[a-z][a-z0-9+.-]*://([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?",
        "must be origins: scheme://host or scheme://host:port, such as https://app.example.com",
    ),
]
RequestRate = Annotated[
    str, spelled(r"[1-9]\d{0,8}/[smhd]", "must be a number and s, m, h or d, such as 200/s")
]
HostAndPort = Annotated[
    str,
    spelled(
        r"([\w.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}",
        "must be a host and a port, such as gateway.example.com:8090",
    ),
]
Credential = Annotated[
    str, spelled(r"[!-~]*", "must be letters, digits and signs of ASCII, without spaces")
]
SecretKey = Annotated[str, spelled(r"(?s).{32,}", "must have at least 32 characters")]


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
    http_port: Annotated[int, whole_number(1, 65535)] = Field(
        8080,
        validation_alias=variable("CONTEXTD_HTTP_PORT"),
        description="Port the web server listens on.",
    )
    data_dir: Path = Field(
        CHECKOUT / ".contextd",
        validation_alias=variable("CONTEXTD_DATA_DIR"),
        description="Folder of the embedded servers, the secret key and the logs.",
    )
    database_url: DatabaseAddress | None = Field(
        None,
        validation_alias=variable("DATABASE_URL"),
        description="PostgreSQL >= 15 with pgvector >= 0.8 and pg_trgm. Unset: the embedded one.",
    )
    redis_url: RedisAddress | None = Field(
        None,
        validation_alias=variable("REDIS_URL"),
        description="Redis or Valkey for jobs, cache and rates. Unset: the embedded one.",
    )
    embedding_base_url: WebAddress | None = Field(
        None,
        validation_alias=variable("EMBEDDING_BASE_URL"),
        description="OpenAI-compatible endpoint, up to and with `/v1`. Unset: in process.",
    )
    embedding_model: str = Field(
        "all-MiniLM-L6-v2",
        validation_alias=variable("EMBEDDING_MODEL"),
        description="Model to embed with; another one re-embeds everything in the background.",
    )
    embedding_api_key: Credential = Field(
        "",
        validation_alias=variable("EMBEDDING_API_KEY"),
        description="Bearer token for `EMBEDDING_BASE_URL`.",
    )
    llm_base_url: WebAddress | None = Field(
        None,
        validation_alias=variable("CONTEXTD_LLM_BASE_URL"),
        description="Language model asked about errors that are not known well. Unset: none.",
    )
    llm_model: str = Field(
        "",
        validate_default=True,
        validation_alias=variable("CONTEXTD_LLM_MODEL"),
        description="Its name; needed with `CONTEXTD_LLM_BASE_URL`.",
    )
    llm_api_key: Credential = Field(
        "",
        validation_alias=variable("CONTEXTD_LLM_API_KEY"),
        description="Key for `CONTEXTD_LLM_BASE_URL`.",
    )
    llm_api: Literal["openai", "anthropic"] | None = Field(
        None,
        validation_alias=variable("CONTEXTD_LLM_API"),
        description="What it speaks. Unset: `anthropic` at anthropic.com, elsewhere `openai`.",
    )
    allowed_hosts: Annotated[list[HostName], NoDecode] = Field(
        [],
        validation_alias=variable("CONTEXTD_ALLOWED_HOSTS"),
        description="Host names clients may use, comma separated, beside loopback and our own.",
    )
    allowed_origins: Annotated[list[Origin], NoDecode] = Field(
        [],
        validation_alias=variable("CONTEXTD_ALLOWED_ORIGINS"),
        description="Origins of web pages that may call, comma separated, beside our own.",
    )
    secret_key: SecretKey | None = Field(
        None,
        validation_alias=variable("CONTEXTD_SECRET_KEY"),
        description="Signs logins and encrypts stored secrets. "
        "Unset: made once and kept in the data folder (mode 0600).",
    )
    anonymous: Switch = Field(
        "on",
        validation_alias=variable("CONTEXTD_ANONYMOUS"),
        description="`on`: callers on this machine need no token. `off`: everybody needs one.",
    )
    context: str | None = Field(
        None,
        validation_alias=variable("CONTEXTD_CONTEXT"),
        description="Context of `mcp_stdio` and `call` when no `--context` is given.",
    )
    oauth_issuer: WebAddress | None = Field(
        None,
        validation_alias=variable("CONTEXTD_OAUTH_ISSUER"),
        description="OAuth issuer whose access tokens (JWT) are accepted. Unset: none.",
    )
    oauth_audience: WebAddress | None = Field(
        None,
        validate_default=True,
        validation_alias=variable("CONTEXTD_OAUTH_AUDIENCE"),
        description="The public address of `/mcp`, which they must be issued for.",
    )
    oauth_jwks_url: WebAddress | None = Field(
        None,
        validation_alias=variable("CONTEXTD_OAUTH_JWKS_URL"),
        description="Where the issuer's keys are. Unset: found by the issuer's metadata.",
    )
    oauth_user_claim: str = Field(
        "email",
        validation_alias=variable("CONTEXTD_OAUTH_USER_CLAIM"),
        description="Claim that names the user: `email` by e-mail address, others by user name.",
    )
    gateway_commands: Annotated[list[str], NoDecode] = Field(
        [],
        validation_alias=variable("CONTEXTD_GATEWAY_COMMANDS"),
        description="Programs that upstreams may be, comma separated. Unset: any while "
        "`CONTEXTD_ANONYMOUS` is `on`, else none.",
    )
    gateway_private_hosts: Annotated[list[HostName], NoDecode] = Field(
        [],
        validation_alias=variable("CONTEXTD_GATEWAY_PRIVATE_HOSTS"),
        description="Hosts of upstreams that may have private addresses and no TLS, "
        "comma separated, such as `localhost`.",
    )
    gateway_listen: HostAndPort | None = Field(
        None,
        validation_alias=variable("CONTEXTD_GATEWAY_LISTEN"),
        description="`HOST:PORT` where the gateway listens for other hosts. "
        "Unset: a Unix socket in the data folder.",
    )
    gateway_address: HostAndPort | None = Field(
        None,
        validation_alias=variable("CONTEXTD_GATEWAY_ADDRESS"),
        description="`HOST:PORT` of a gateway on another host. Unset: `make run` starts one.",
    )
    gateway_token: SecretKey | None = Field(
        None,
        validate_default=True,
        validation_alias=variable("CONTEXTD_GATEWAY_TOKEN"),
        description="What both sides of such a connection must know; 32 characters or more.",
    )
    audit_days: Annotated[int, whole_number(1, 36_500)] = Field(
        90,
        validation_alias=variable("CONTEXTD_AUDIT_DAYS"),
        description="How long it is kept who called what.",
    )
    index_roots: Annotated[list[Path], NoDecode] = Field(
        [],
        validation_alias=variable("CONTEXTD_INDEX_ROOTS"),
        description="Folders below which repositories may be indexed, comma separated. "
        "Unset: any for callers on this machine, none for others.",
    )
    events_days: Annotated[int, whole_number(1, 36_500)] = Field(
        90,
        validation_alias=variable("CONTEXTD_EVENTS_DAYS"),
        description="How long single calls are kept for analytics; what they add up to stays.",
    )
    token_price: Annotated[float, amount()] = Field(
        3.0,
        validation_alias=variable("CONTEXTD_TOKEN_PRICE"),
        description="What a model takes for a million tokens of input, in USD; for estimates.",
    )
    reading_limit: Annotated[int, whole_number(1, 100_000_000)] = Field(
        20_000,
        validation_alias=variable("CONTEXTD_READING_LIMIT"),
        description="The most tokens an assistant would read instead of a search; for estimates.",
    )
    minutes_saved: Annotated[float, amount()] = Field(
        2.0,
        validation_alias=variable("CONTEXTD_MINUTES_SAVED"),
        description="Minutes that a search saves whose result was used; for estimates.",
    )
    rest_rate: RequestRate = Field(
        "200/s",
        validation_alias=variable("CONTEXTD_REST_RATE"),
        description="Requests to `/api/v1/` of one user; operations have lower rates of their own.",
    )
    dashboard_rate: RequestRate = Field(
        "20/s",
        validation_alias=variable("CONTEXTD_DASHBOARD_RATE"),
        description="Requests to `/api/dashboard/` of one user.",
    )
    login_rate: RequestRate = Field(
        "10/m",
        validation_alias=variable("CONTEXTD_LOGIN_RATE"),
        description="Attempts to log in as one user from one address; ten times as many from "
        "one address in all.",
    )
    rate_limits: Switch = Field(
        "on",
        validation_alias=variable("CONTEXTD_RATE_LIMITS"),
        description="`off` is for benchmarks.",
    )
    workers: Annotated[int, whole_number(1, 100)] = Field(
        8,
        validation_alias=variable("CONTEXTD_WORKERS"),
        description="Calls that run at the same time in one web process.",
    )
    log_level: Level = Field(
        "INFO",
        validation_alias=variable("CONTEXTD_LOG_LEVEL"),
        description="Least severe messages that are logged.",
    )
    otlp_endpoint: WebAddress | None = Field(
        None,
        validation_alias=variable("OTEL_EXPORTER_OTLP_ENDPOINT"),
        description="Collector that traces and metrics are sent to (OTLP over HTTP). Unset: none.",
    )

    @field_validator(
        "allowed_hosts",
        "allowed_origins",
        "index_roots",
        "gateway_commands",
        "gateway_private_hosts",
        mode="before",
    )
    @classmethod
    def _split(cls, names: object) -> object:
        return (
            [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else names
        )

    @field_validator("oauth_audience")
    @classmethod
    def _given_with_an_issuer(cls, audience: str | None, info: ValidationInfo) -> str | None:
        if audience is None and info.data.get("oauth_issuer"):
            raise PydanticCustomError(
                "missing", "needed with CONTEXTD_OAUTH_ISSUER: tokens for others must not count"
            )
        return audience

    @field_validator("gateway_token")
    @classmethod
    def _shared_with_other_hosts(cls, token: str | None, info: ValidationInfo) -> str | None:
        if token is None and (info.data.get("gateway_listen") or info.data.get("gateway_address")):
            raise PydanticCustomError(
                "missing", "needed with CONTEXTD_GATEWAY_LISTEN and CONTEXTD_GATEWAY_ADDRESS"
            )
        return token

    @field_validator("llm_model")
    @classmethod
    def _named(cls, model: str, info: ValidationInfo) -> str:
        if not model and info.data.get("llm_base_url"):
            raise PydanticCustomError("missing", "needed with CONTEXTD_LLM_BASE_URL")
        return model

    @field_validator("embedding_model")
    @classmethod
    def _served(cls, model: str, info: ValidationInfo) -> str:
        ours = cls.model_fields["embedding_model"].default
        # Where the address itself is wrong there is none here, and that is said already.
        if model != ours and info.data.get("embedding_base_url", "") is None:
            raise PydanticCustomError(
                "unserved",
                "needs EMBEDDING_BASE_URL: without a server there is only {ours}",
                {"ours": ours},
            )
        return model

    @field_validator("index_roots")
    @classmethod
    def _all_absolute(cls, folders: list[Path]) -> list[Path]:
        if not all(folder.is_absolute() for folder in folders):
            raise PydanticCustomError("relative", "must be absolute paths, such as /srv/code")
        return folders

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, folder: Path) -> Path:
        return folder.expanduser().absolute()


def read() -> Environment:
    """Raises ImproperlyConfigured, with all that is wrong in one line."""
    try:
        return Environment()
    except ValidationError as error:
        problems = [f"{name_of(problem['loc'])}: {problem['msg']}" for problem in error.errors()]
        line = "; ".join(dict.fromkeys(problems))
        raise ImproperlyConfigured(line.replace("Input should be", "must be")) from None


def name_of(location: tuple[int | str, ...]) -> str:
    """The variable; one that is missing is known by its field only."""
    field = Environment.model_fields.get(str(location[0]))
    alias = field and field.validation_alias
    return str(alias.choices[0] if isinstance(alias, AliasChoices) else location[0])


@contextmanager
def explained() -> Iterator[None]:
    """Whichever process it is, who starts it reads one line, not a stack trace."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.exit(f"contextd cannot start: {error}")
