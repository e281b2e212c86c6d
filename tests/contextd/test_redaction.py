import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextd import redaction
from contextd.redaction import Finding

# Put together at run time, so that no scanner takes this file for a leak.
MIXED = "a1B2"
HEX = "0a1b"
KEY_LINE = MIXED * 16
JWT = "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxIn0." + MIXED * 10
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"

TOKENS = [
    ("aws-access-key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("github-token", "ghp_" + MIXED * 9),
    ("github-token", "ghs_" + MIXED * 20),
    ("github-token", "github_pat_" + "11ABCDEFG0" + MIXED * 3 + "_" + MIXED * 14),
    ("gitlab-token", "glpat-" + MIXED * 5),
    ("gitlab-token", "glpat-" + MIXED * 6 + ".01.0a1b2c3d4"),
    ("slack-token", "xoxb-" + "123456789012-1234567890123-" + MIXED * 6),
    ("slack-token", "xapp-" + "1-A0123456789-1234567890123-" + MIXED * 8),
    ("slack-webhook", "https://hooks.slack.com/services/" + "T0000/B0000/" + MIXED * 6),
    ("stripe-key", "sk_live_" + MIXED * 6),
    ("stripe-key", "rk_test_" + MIXED * 6),
    ("stripe-webhook-secret", "whsec_" + MIXED * 8),
    ("square-key", "sq0csp-" + MIXED * 10 + "abc"),
    ("openai-key", "sk-" + MIXED * 12),
    ("openai-key", "sk-proj-" + MIXED * 20 + "_-" + MIXED),
    ("anthropic-key", "sk-ant-api03-" + MIXED * 20),
    ("google-api-key", "AIza" + MIXED * 8 + "abc"),
    ("google-oauth-token", "ya29." + MIXED * 8),
    ("google-oauth-secret", "GOCSPX-" + MIXED * 7),
    ("npm-token", "npm_" + MIXED * 9),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc" + MIXED * 20),
    ("sendgrid-key", "SG." + MIXED * 5 + "ab." + MIXED * 10 + "abc"),
    ("twilio-key", "SK" + HEX * 8),
    ("mailchimp-key", HEX * 8 + "-us12"),
    ("telegram-token", "123456789:AA" + MIXED * 8 + "x"),
    ("discord-token", "M" + "TA1" * 8 + ".Gabc12." + MIXED * 9),
    ("huggingface-token", "hf_" + "AbCd" * 9),
    ("digitalocean-token", "dop_v1_" + HEX * 16),
    ("vault-token", "hvs." + MIXED * 8),
    ("docker-token", "dckr_pat_" + MIXED * 7),
    ("databricks-token", "dapi" + HEX * 8),
    ("grafana-token", "glsa_" + MIXED * 8 + "_0a1b2c3d"),
    ("artifactory-key", "AKCp" + MIXED * 17),
    ("age-key", "AGE-SECRET-KEY-1" + "QZ3P" * 14),
    ("jwt", JWT),
    ("jwt", JWT.rpartition(".")[0]),
    ("jwt", "eyJhbGciOiJSU0EifQ" + f".{MIXED * 8}.{MIXED * 4}.{MIXED * 9}.{MIXED * 5}"),
]


@pytest.mark.parametrize(("kind", "token"), TOKENS)
@pytest.mark.parametrize("around", ["{}", "used {}, and", "k='{}'", r'{{"log": "one\n{}\ntwo"}}'])
def test_a_token_is_known_by_its_shape(kind: str, token: str, around: str) -> None:
    redacted = redaction.redact(around.format(token))

    assert redacted.text == around.format(f"[REDACTED:{kind}]")
    assert redacted.findings == (Finding(kind, line=1),)


# `~` stands for the credential; what is expected is the same text with the mark in its place.
PLACES = [
    ("url-password", "postgresql://app:~@db:5432/shop", "hunter2"),
    ("url-password", "mongodb+srv://app:~@c0.mongodb.net/?w=1", "p%40ss"),
    ("url-password", "redis://:~@cache:6379/0", "pw"),
    ("url-password", "git clone https://x-access-token:~@github.com/acme/shop.git", "abc123def"),
    ("url-password", "https://me%40secret:~@github.com/acme/shop.git", "abc123def"),
    ("github-token", "https://x-access-token:~@github.com/acme/shop.git", "ghs_" + MIXED * 9),
    ("gitlab-token", "https://token:~@gitlab.com/acme/shop.git", "glpat-" + MIXED * 5),
    ("url-password", "git clone https://ci:~@git.example.com/x.git", "pw"),
    ("url-password", "jdbc:mysql://root:~@db/shop", "p@ss@word"),
    ("url-password", "amqp://guest:~@localhost//", "guest"),
    ("url-password", '{"dsn": "https://user:~@host/path"}', "password"),
    ("authorization", "Authorization: Bearer ~", "abcdef123456"),
    ("authorization", 'curl -H "authorization: Basic ~" https://x', "dXNlcjpwYXNz"),
    ("authorization", r"{\"Authorization\": \"token ~\"}", "abc.def.123"),
    ("authorization", "sent `Bearer ~` instead", MIXED * 6),
    ("authorization", "authorization: ~", MIXED * 6),
    ("authorization", "//registry.example.com/:_auth=~", "dXNlcjpwYXNz"),
    ("authorization", '{"auths": {"x.io": {"auth": "~"}}}', "dXNlcjpwYXNz"),
    ("cookie", "Cookie: theme=dark; sessionid=~; lang=en", HEX * 6),
    ("cookie", "Set-Cookie: sid=~; Path=/; HttpOnly; SameSite=None", HEX * 6),
    ("azure-key", "AccountName=x;AccountKey=~;EndpointSuffix=core", MIXED * 21 + "ab=="),
    ("discord-webhook", "https://discord.com/api/webhooks/~", "123456789012345678/" + MIXED * 17),
    ("password", "curl -s -u admin:~ https://x", "hunter2"),
    ("password", "mysql -u root -p'~' shop < dump.sql", "s3 cret".replace(" ", "")),
    ("password", "sshpass -p ~ ssh host", "hunter2"),
    ("password", "redis-cli -h cache -a ~ ping", "hunter2"),
    ("password", "ALTER ROLE app WITH PASSWORD '~';", "hunter2"),
    ("password", "create user 'app'@'%' identified by '~'", "hunter2"),
]

ASSIGNED = [
    ("password", '{"password": "~"}', "hunter2"),
    ("password", '{"password":"~"}', "x"),
    ("password", r'"{\"password\": \"~\", \"user\": \"app\"}"', "hunter2"),
    ("password", '{"password": "~"}', "password123"),
    ("password", "{'password': '~', 'user': 'app'}", "swordfish"),
    ("password", "Endpoint=https://db.x.io;password=~;Encrypt=yes", "hunter2"),
    ("password", "'password' => '~',", "swordfish"),
    ("password", 'db_password := "~"', "swordfish"),
    ("password", 'def connect(password: str = "~") -> None:', "swordfish"),
    ("password", 'os.environ["DB_PASSWORD"] = "~"', "swordfish"),
    ("password", "passphrase: '~'", "correct horse battery staple"),
    ("password", "password: ~", "hunter2"),
    ("password", "The root password is ~, I think.", "hunter2"),
    ("password", "- **Password:** ~", "hunter2"),
    ("password", "password: ``~``", "swordfish"),
    ("password", "password：~", "hunter2"),  # noqa: RUF001 (notes in Chinese and Japanese have it)
    ("password", "host=db user=app password=~ dbname=shop", "hunter2"),
    ("password", "Server=db;User Id=sa;Password=~;Encrypt=yes", "hunter2"),
    ("password", "<password>~</password>", "swordfish"),
    ("password", "DB_PASSWORD=~", "swordfish"),
    ("password", "export DB_PASSWORD=~  # for now", "p&ss(1)w"),
    ("password", "PGPASSWORD=~ psql -h db", "swordfish"),
    ("password", "      POSTGRES_PASSWORD: ~", "swordfish"),
    ("password", "spring.datasource.password=~", "swordfish"),
    ("password", "first\\nDB_PASSWORD=~\\nlast", "swordfish"),
    ("password", "tool --password ~ --verbose", "hunter2"),
    ("password", "tool --password=~", "swordfish"),
    ("api-key", "export API_KEY=~", "abcdef"),
    ("api-key", 'const apiKey = "~";', "abc123"),
    ("api-key", "X-Api-Key: ~", "abc123def"),
    ("api-key", "https://x.io/v1?api_key=~&page=2", "abc123def"),
    ("secret-key", "aws_secret_access_key = ~", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("secret-key", "SECRET_KEY = '~'", "django-insecure-#" + MIXED * 4),
    ("secret-key", "SharedAccessKeyName=Root;SharedAccessKey=~", MIXED * 10 + "abc="),
    ("api-key", '"api_key": "~"', "abcdefghijkl"),
    ("api-key", r"{\"api_key\": \"~\"}", "abcdefghijkl"),
    ("api-key", "'api_key' => '~',", "abcdefghijkl"),
    ("secret", "client_secret: '~'", "abc123"),
    ("secret", '{"client_secret": "~"}', "abcd-1234-efgh"),
    ("secret", '"secret": "~"', "my-prod-secret"),
    ("secret", "secret: '~'", "my-prod-secret"),
    ("token", '"token": "~"', "abc123def456"),
    ("token", "PRIVATE-TOKEN: ~", MIXED * 5),
    ("token", "AWS_SESSION_TOKEN=~ aws s3 ls", MIXED * 500),
    ("token", '{"session_token": "~"}', MIXED * 500),
    ("token", "//registry.example.com/:_authToken=~", "0a1b2c3d-1234-1234-1234-0123456789ab"),
]


@pytest.mark.parametrize(("kind", "text", "secret"), PLACES + ASSIGNED)
def test_a_credential_is_known_by_its_place_or_name(kind: str, text: str, secret: str) -> None:
    redacted = redaction.redact(text.replace("~", secret))

    assert redacted.text == text.replace("~", f"[REDACTED:{kind}]")
    assert redacted.findings == (Finding(kind, line=1),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{BEGIN}\n{KEY_LINE}\n{KEY_LINE}\n{MIXED}==\n{END}\nafter", "~\nafter"),
        (f'{{"key": "{BEGIN}\\n{KEY_LINE}\\n{END}\\n", "n": 1}}', '{"key": "~\\n", "n": 1}'),
        (f"{BEGIN}\nMIIE\n{END}", "~"),
        (f"a\n{BEGIN}\n{KEY_LINE}\n{MIXED}\n\nThen it failed.", "a\n~\n\nThen it failed."),
        (f"{BEGIN}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,AB\n\n{KEY_LINE}\nMI", "~"),
        (f"> {BEGIN}\n> {KEY_LINE}\n> {KEY_LINE}", "> ~"),
        (f"{BEGIN}\nMIIEpAIB", "~"),
        (f"{BEGIN}\n{KEY_LINE}\n{BEGIN}\n{KEY_LINE}\n{END}", "~\n~"),
        (f"PuTTY-User-Key-File-2: ssh-rsa\n{KEY_LINE}\nPrivate-MAC: {HEX * 10}\nx", "~\nx"),
        (f"it must start with {BEGIN} and end with {END}", None),
        (f"ValueError: no {BEGIN} in the file", None),
        (f"{BEGIN}\n...\n{END}", None),
        (f"-----BEGIN CERTIFICATE-----\n{KEY_LINE}\n-----END CERTIFICATE-----", None),
    ],
)
def test_a_private_key_goes_whole(text: str, expected: str | None) -> None:
    redacted = redaction.redact(text)

    assert redacted.text == (expected or text).replace("~", "[REDACTED:private-key]")


HARMLESS = [
    "fixed in 1a2b3c4, see f51f805cbdfcedfd34a4e19f07f26fcc81e2c696",
    "id 123e4567-e89b-12d3-a456-426614174000",
    f"sha256:{HEX * 16} and {HEX * 32}",
    f'"integrity": "sha512-{MIXED * 21}ab=="',
    f"requests==2.31.0 \\\n    --hash=sha256:{HEX * 16}",
    "SHA256:" + MIXED * 10 + "abc",
    'password = get_password()\nif token is None:\n    token = self.tokens["a1"]',
    "def login(user: str, password: str, token: str | None = None) -> None: ...",
    'client = Client(api_key=os.environ["API_KEY"], password=settings.db_password2)',
    "connect(password=password, token=token2, secret_key=private_key)",
    '{"password": null, "token": "", "secret": false}',
    'PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]',
    'PASSWORD = "password"\nAPI_KEY = "api_key"\nlabels = {"password": "Password"}',
    "the password must be reset; the token is invalid, the secret is safe",
    'errors = {"password": "This password is too short."}',
    '{"token": "access_token", "secret": "GITHUB_SECRET", "api_key": "settings.api_key"}',
    '{"token": "Unexpected token in JSON", "secret": "Secret", "api_key": "your-api-key"}',
    "password: required\ntoken: string\nprivate_key: PKCS7PrivateKeyTypes",
    "password is sha256-hashed, the token is base64",
    "DB_PASSWORD=${DB_PASSWORD}\nAPI_KEY=$API_KEY\nTOKEN=$(cat token)\nSECRET={{ secret }}",
    'password: "{{ vault_password }}"\nsecret: !vault |\ntoken: <your-token>',
    "API_KEY=your-api-key\nDB_PASSWORD=changeme\nSECRET=********\nTOKEN=xxxxxxxx",
    "PRIVATE_KEY=/etc/ssl/private/server1.key\nPWD=/work/main\nTOKEN_FILE=./token1.txt",
    "token_uri: https://example.com/oauth2/token\nnext_page_token = 'abc123def456'",
    "f'postgres://{user}:{password}@{host}/x' postgres://USER:PASSWORD@HOST/x http://u:${PW}@h",
    "http://localhost:5432 git@github.com:org/repo.git https://a:80,https://b:80 me@x.io",
    "ssh://git@host:22/x see https://docs.python.org/3/library/re.html#re.compile",
    "Authorization: Bearer <token>, Authorization: Basic authentication, Bearer $TOKEN",
    'headers = {"Authorization": "Bearer your-token-1"}',
    "docker run --name mysql -p3306:3306 mysql && mysql -u root -p shop",
    "Set-Cookie: theme=dark; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/",
    'File "/usr/lib/python3.11/re.py", line 12, in sub\n<Lexer object at 0x7f3a2c1b9d30>',
    "org.springframework.boot.autoconfigure.security.SecurityAutoConfiguration$1a2b",
    "sk-circle-fade-dot-animation-12 task-management-application-v2 npm_config_registry",
    'token = r"[a-zA-Z0-9]{20,40}"\nassemblyIdentity publicKeyToken="1fc8b3b9a1e18e3b"',
    '{"SBX_TOKEN": sandbox_token}, {"MYSQL_PWD": password},\nSOME_KEY: value1',
    "sk-ant-api03-xxxxxxxxxxxxxxxxxxxx ghp_" + "x" * 36 + " AKIA" + "X" * 16,
]


@pytest.mark.parametrize("text", HARMLESS)
def test_knowledge_that_only_resembles_a_credential_stays(text: str) -> None:
    assert redaction.redact(text) == redaction.Redacted(text, ())


def test_findings_name_kind_and_line_and_never_the_credential() -> None:
    text = f"one\ntwo ghp_{MIXED * 9}\n{BEGIN}\n{KEY_LINE}\n{END}\nDB_PASSWORD=hunter2"

    findings = redaction.findings_of(text)

    assert [(finding.kind, finding.line) for finding in findings] == [
        ("github-token", 2),
        ("private-key", 3),
        ("password", 6),
    ]
    assert "hunter2" not in repr(findings)


def test_overlapping_credentials_become_one_of_the_more_telling_kind() -> None:
    redacted = redaction.redact(f"GITHUB_TOKEN=ghp_{MIXED * 9}, password='see {JWT}'")

    assert redacted.text == "GITHUB_TOKEN=[REDACTED:github-token], password='[REDACTED:jwt]'"


def test_a_value_keeps_its_shape() -> None:
    value = {
        "summary": "nothing to hide",
        "steps": ["DB_PASSWORD=hunter2", {"count": 3, "done": None, "ratio": 0.5}],
        "context": {"api_key": "short", "nested": {"DATABASE_PASSWORD": "must be reset"}},
        "pair": ("a", f"ghp_{MIXED * 9}"),
    }

    redacted = redaction.redact_value(value)

    assert redacted.value == {
        "summary": "nothing to hide",
        "steps": ["DB_PASSWORD=[REDACTED:password]", {"count": 3, "done": None, "ratio": 0.5}],
        "context": {
            "api_key": "[REDACTED:api-key]",
            "nested": {"DATABASE_PASSWORD": "[REDACTED:password]"},
        },
        "pair": ("a", "[REDACTED:github-token]"),
    }
    assert redacted.findings == (
        Finding("password", 1, "steps[0]"),
        Finding("api-key", 1, "context.api_key"),
        Finding("password", 1, "context.nested.DATABASE_PASSWORD"),
        Finding("github-token", 1, "pair[1]"),
    )


@pytest.mark.parametrize(
    "entry",
    [
        {"password": "***"},
        {"api_key": "<your-key>"},
        {"token": "${TOKEN}"},
        {"secret": "changeme"},
        {"password": "[REDACTED:password]"},
        {"pwd": "/work/main"},
        {"password": ""},
        {"token_count": "12", "public_key": "abc123", "cache_key": "abc123"},
    ],
)
def test_what_only_stands_in_for_a_credential_stays(entry: dict[str, str]) -> None:
    assert redaction.redact_value(entry) == redaction.RedactedValue(entry, ())


def test_a_secret_name_covers_lists_and_keeps_the_more_telling_kind() -> None:
    redacted = redaction.redact_value({"password": ["one"], "token": JWT, f"ghp_{MIXED * 9}": "x"})

    assert redacted.value == {
        "password": ["[REDACTED:password]"],
        "token": "[REDACTED:jwt]",
        "[REDACTED:github-token]": "x",
    }


FRAGMENTS = [text.replace("~", secret) for _, text, secret in PLACES + ASSIGNED]
FRAGMENTS += [token for _, token in TOKENS] + HARMLESS
FRAGMENTS += [BEGIN, END, KEY_LINE, "[REDACTED:password]", "password", "token", "secret_key", JWT]
FRAGMENTS += [*"\"'`=:@/\\[]()<>{}$,;&.-_ \n\t", "://", "\\n", '\\"', "--", " is ", "a1"]
PIECES = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=5)), max_size=12)
TEXTS = st.one_of(st.text(), PIECES.map("".join))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_redacting_again_finds_nothing_more(text: str) -> None:
    once = redaction.redact(text)

    assert redaction.redact(once.text) == redaction.Redacted(once.text, ())


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["password", "note", "api_key"]), inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_redacting_a_value_again_finds_nothing_more(value: Any) -> None:
    once = redaction.redact_value(value)

    assert redaction.redact_value(once.value) == redaction.RedactedValue(once.value, ())


HOSTILE = [
    *("a", "=", '"', "'", "\\", "\\n", " ", "\n", "{", "[", "/", "a.", "A_", "1:", "\x00", "İ"),
    *("://", "://a:", "://a:b@", "-----BEGIN ", BEGIN, f"{BEGIN}\n{KEY_LINE}\n", "eyJ", "eyJa."),
    *("sk-", "sk-ant-", "xoxb-1-", "-us1", "AccountKey=aaaa", "[REDACTED:password]", "[REDACTED:"),
    *("password=", "password='", 'password="\\"', "password: a", "password:    ", "PASSWORD=a"),
    *("password:a|", "password='/a.", "token=[", "key:", "key ", "secret_", "password is "),
    *("password='\\a", "token='a/", "password='a ", "://a@", "auth=a1", "0a1b", "Discord.M.", "A-"),
    *("authorization: bearer ", "cookie: a=", "curl ", "mysql ", "create user ", "<password>"),
]


@pytest.mark.parametrize("fragment", HOSTILE)
def test_no_text_takes_long(fragment: str) -> None:
    text = fragment * (50_000 // len(fragment))

    started = time.process_time()
    redaction.redact(text)

    assert time.process_time() - started < 2


def test_an_ordinary_text_takes_milliseconds() -> None:
    lines = [line for text in HARMLESS for line in text.splitlines()]
    text = "\n".join(lines * 50)[:50_000]

    started = time.process_time()
    redaction.redact(text)

    assert time.process_time() - started < 0.25
