"""The environment variables: one field each, which documents and validates it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from django.core.exceptions import ImproperlyConfigured
from pydantic import (
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


class Environment(BaseSettings):
    """Settings from environment variables; `docs/configuration.md` is generated from it."""

    model_config = SettingsConfigDict(env_prefix="CONTEXTD_", extra="ignore", env_ignore_empty=True)

    http_host: str = Field(
        "0.0.0.0",  # noqa: S104  (who may connect is decided by token and by host name)
        description="Address the web server listens on.",
    )
    http_port: Annotated[int, whole_number(1, 65535)] = Field(
        8080,
        description="Port the web server listens on.",
    )
    data_dir: Path = Field(
        CHECKOUT / ".contextd",
        description="Folder of the embedded servers and their logs, and of the secret key.",
    )
    database_url: DatabaseAddress | None = Field(
        None,
        validation_alias="DATABASE_URL",
        description="PostgreSQL >= 15 with pgvector >= 0.8 and pg_trgm. Unset: the embedded one.",
    )
    redis_url: RedisAddress | None = Field(
        None,
        validation_alias="REDIS_URL",
        description="Redis or Valkey for jobs, cache and rate limits. Unset: the embedded one.",
    )
    embedding_base_url: WebAddress | None = Field(
        None,
        validation_alias="EMBEDDING_BASE_URL",
        description="OpenAI-compatible endpoint, including `/v1`. Unset: in process.",
    )
    embedding_model: str = Field(
        "all-MiniLM-L6-v2",
        validation_alias="EMBEDDING_MODEL",
        description="Embedding model; a change embeds everything again in the background.",
    )
    embedding_api_key: Credential = Field(
        "",
        validation_alias="EMBEDDING_API_KEY",
        description="Bearer token for `EMBEDDING_BASE_URL`.",
    )
    llm_base_url: WebAddress | None = Field(
        None,
        description="Language model for errors that no pattern explains well, such as "
        "`https://api.openai.com/v1`; `/v1` is added to an address without a path. Unset: none.",
    )
    llm_model: str = Field(
        "",
        validate_default=True,
        description="Name of the language model; required with `CONTEXTD_LLM_BASE_URL`.",
    )
    llm_api_key: Credential = Field(
        "",
        description="Key for `CONTEXTD_LLM_BASE_URL`.",
    )
    llm_api: Literal["openai", "anthropic"] | None = Field(
        None,
        description="API of the language model: `openai` or `anthropic`. "
        "Unset: `anthropic` for anthropic.com, otherwise `openai`.",
    )
    allowed_hosts: Annotated[list[HostName], NoDecode] = Field(
        [],
        description="Additional host names that clients may use, comma separated.",
    )
    allowed_origins: Annotated[list[Origin], NoDecode] = Field(
        [],
        description="Additional origins of web pages that may call, comma separated.",
    )
    secret_key: SecretKey | None = Field(
        None,
        description="Signs logins and encrypts stored secrets. "
        "Unset: created once in the data folder (mode 0600).",
    )
    anonymous: Switch = Field(
        "on",
        description="`on`: callers on this machine need no token. `off`: all callers need one.",
    )
    context: str | None = Field(
        None,
        description="Context of `mcp_stdio` and `call` without `--context`.",
    )
    oauth_issuer: WebAddress | None = Field(
        None,
        description="OAuth issuer whose access tokens (JWT) are accepted. Unset: none.",
    )
    oauth_audience: WebAddress | None = Field(
        None,
        validate_default=True,
        description="Public address of `/mcp`, the audience that access tokens must have.",
    )
    oauth_jwks_url: WebAddress | None = Field(
        None,
        description="Address of the issuer's keys. Unset: taken from the issuer's metadata.",
    )
    oauth_user_claim: str = Field(
        "email",
        description="Claim that names the user: `email` by e-mail address, any other by user name.",
    )
    gateway_commands: Annotated[list[str], NoDecode] = Field(
        [],
        description="Programs that upstreams may run, comma separated. Unset: any while "
        "`CONTEXTD_ANONYMOUS` is `on`, otherwise none.",
    )
    gateway_private_hosts: Annotated[list[HostName], NoDecode] = Field(
        [],
        description="Hosts of upstreams that may have private addresses and no TLS, "
        "comma separated, such as `localhost`.",
    )
    gateway_listen: HostAndPort | None = Field(
        None,
        description="`HOST:PORT` on which the gateway listens for other hosts. "
        "Unset: a Unix socket in the data folder.",
    )
    gateway_address: HostAndPort | None = Field(
        None,
        description="`HOST:PORT` of a gateway on another host. Unset: `make run` starts one.",
    )
    gateway_token: SecretKey | None = Field(
        None,
        validate_default=True,
        description="Secret that a gateway on another host and contextd share; "
        "32 characters or more.",
    )
    gateway_message_mb: Annotated[int, whole_number(1, 32)] = Field(
        4,
        description="MiB that one message of an upstream may have, 1 to 32.",
    )
    audit_days: Annotated[int, whole_number(1, 36_500)] = Field(
        90,
        description="Days that audit entries are kept.",
    )
    index_roots: Annotated[list[Path], NoDecode] = Field(
        [],
        description="Folders below which repositories may be indexed, comma separated. "
        "Unset: any for callers on this machine, none for others.",
    )
    events_days: Annotated[int, whole_number(1, 36_500)] = Field(
        90,
        description="Days that single calls are kept for analytics; totals are kept forever.",
    )
    token_price: Annotated[float, amount()] = Field(
        3.0,
        description="Price of a million input tokens of a model, in USD; for estimates.",
    )
    reading_limit: Annotated[int, whole_number(1, 100_000_000)] = Field(
        20_000,
        description="Most tokens an assistant would read without a search; for estimates.",
    )
    minutes_saved: Annotated[float, amount()] = Field(
        2.0,
        description="Minutes saved by a search whose result was used; for estimates.",
    )
    rest_rate: RequestRate = Field(
        "200/s",
        description="Requests of one user to `/api/v1/` and to `/mcp` in "
        "each server process; operations have lower limits.",
    )
    dashboard_rate: RequestRate = Field(
        "20/s",
        description="Requests of one user to `/api/dashboard/`.",
    )
    login_rate: RequestRate = Field(
        "10/m",
        description="Attempts to log in as one user from one address; failures of all "
        "users from one address may be ten times as many.",
    )
    rate_limits: Switch = Field(
        "on",
        description="`off`: no rate limits; for benchmarks only.",
    )
    workers: Annotated[int, whole_number(1, 100)] = Field(
        8,
        description="Calls that run concurrently in one web process, which keeps at most twice as "
        "many connections to the database, and 8.",
    )
    log_level: Level = Field(
        "INFO",
        description="Lowest level of messages that are logged.",
    )
    otlp_endpoint: WebAddress | None = Field(
        None,
        validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT",
        description="Collector for traces and metrics (OTLP over HTTP). Unset: none.",
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
                "missing", "required with CONTEXTD_OAUTH_ISSUER, to refuse tokens for other servers"
            )
        return audience

    @field_validator("gateway_token")
    @classmethod
    def _shared_with_other_hosts(cls, token: str | None, info: ValidationInfo) -> str | None:
        if token is None and (info.data.get("gateway_listen") or info.data.get("gateway_address")):
            raise PydanticCustomError(
                "missing", "required with CONTEXTD_GATEWAY_LISTEN and CONTEXTD_GATEWAY_ADDRESS"
            )
        return token

    @field_validator("llm_model")
    @classmethod
    def _named(cls, model: str, info: ValidationInfo) -> str:
        if not model and info.data.get("llm_base_url"):
            raise PydanticCustomError("missing", "required with CONTEXTD_LLM_BASE_URL")
        return model

    @field_validator("embedding_model")
    @classmethod
    def _served(cls, model: str, info: ValidationInfo) -> str:
        ours = cls.model_fields["embedding_model"].default
        # An invalid address is missing here, and has been reported already.
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
    """Return the settings. Raise ImproperlyConfigured with all that is wrong, in one line."""
    try:
        return Environment()
    except ValidationError as error:
        problems = [f"{variable_of(one['loc'][0])}: {one['msg']}" for one in error.errors()]
        line = "; ".join(dict.fromkeys(problems))
        raise ImproperlyConfigured(line.replace("Input should be", "must be")) from None


def variable_of(name: int | str) -> str:
    """Return the variable of a field, which errors name by its field or by its alias."""
    field = Environment.model_fields.get(str(name))
    if field is None:
        return str(name)
    return str(field.validation_alias or f"{Environment.model_config['env_prefix']}{name}".upper())


@contextmanager
def explained() -> Iterator[None]:
    """Exit with one line instead of a stack trace when a variable is wrong."""
    try:
        yield
    except ImproperlyConfigured as error:
        sys.exit(f"contextd cannot start: {error}")
