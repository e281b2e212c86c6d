"""Default rules for excluding files from an index."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import PurePosixPath

from pathspec import GitIgnoreSpec

from contextd import redaction
from repositories.globs import Glob


class Reason(StrEnum):
    """Reasons not to index a file, as reported to callers."""

    NOT_INCLUDED = "not_included"
    EXCLUDED = "excluded"
    SECRET = "secret"  # noqa: S105
    LOCK = "lock_file"
    VENDORED = "vendored"
    GENERATED = "generated"
    MINIFIED = "minified"
    BINARY = "binary"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    LINK = "link"
    SPECIAL = "not_a_file"
    CLONE = "other_repository"


# Lower case, since paths are compared in lower case. Patterns without `/` are for names of files:
# a folder `Acme.Db` holds source code.
BY_NAME: dict[Reason, str] = {
    Reason.SECRET: """
        .env* *.env .env*/ !.env*.example !.env*.sample !.env*.template !.env.dist
        !.env.defaults !.env*.d.ts !example.env !sample.env !template.env
        *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.ovpn
        *.keytab *gcp-key*.json *service-key*.json ssh_host_*_key
        id_rsa* id_dsa* id_ecdsa* id_ed25519* .ssh/ .gnupg/ .aws/ .azure/ .kube/
        .netrc _netrc .npmrc .pypirc .pgpass .htpasswd .git-credentials .my.cnf .vault-token
        **/.docker/config.json .dockercfg kubeconfig credentials
        .credentials* *credentials.json *credentials.yml *credentials.yaml *credentials.csv
        *credentials.ini *credentials.toml *credentials.txt *credentials.xml *credentials.conf
        *credentials.properties *_credentials client_secret*.json
        *firebase-adminsdk*.json service-account*.json service_account*.json serviceaccount*.json
        .secrets .secrets/ secret.json secret.yml secret.yaml secret.toml
        *secrets.json *secrets.yml *secrets.yaml *secrets.toml
        *secrets.txt *secrets.ini *secrets.conf *secrets.properties secret.txt secret.ini
        *password.txt *passwords.txt *passwords.csv token.txt *_token.txt *-token.txt
        *api_key.txt *api_keys.txt *api-key.txt *api-keys.txt *apikey.txt *apikeys.txt
        .s3cfg .boto rclone.conf *.tfstate *.tfstate.* *.tfvars *.tfvars.json
    """,
    Reason.LOCK: """
        *.lock *.lockb package-lock.json npm-shrinkwrap.json pnpm-lock.yaml packages.lock.json
        go.sum go.work.sum .terraform.lock.hcl gradle.lockfile conda-lock.yml
    """,
    Reason.VENDORED: """
        node_modules/ bower_components/ jspm_packages/ vendor/ _vendor/ third_party/ third-party/
        thirdparty/ site-packages/ .venv/ venv/ virtualenv/ pods/ carthage/ .yarn/ .bundle/
        .git/ .hg/ .svn/ .bzr/ __pycache__/ .tox/ .nox/ .mypy_cache/ .ruff_cache/ .pytest_cache/
        .gradle/ .idea/ .next/ .nuxt/ .cache/ *.egg-info/ *.dist-info/ .eggs/
    """,
    Reason.GENERATED: """
        *_pb2.py *_pb2.pyi *_pb2_grpc.py *.pb.go *.pb.cc *.pb.h *.g.dart *.freezed.dart
        *.designer.cs *.g.cs *.generated.* *.map *.tsbuildinfo *.snap
    """,
    Reason.BINARY: """
        *.png *.jpg *.jpeg *.gif *.webp *.bmp *.ico *.icns *.tif *.tiff *.psd *.pdf *.ps *.eps
        *.zip *.gz *.tgz *.bz2 *.xz *.zst *.7z *.rar *.tar *.jar *.war *.whl *.egg *.deb *.rpm
        *.exe *.dll *.so *.dylib *.a *.o *.obj *.lib *.pyc *.pyo *.class *.wasm *.bin *.dat *.db
        *.sqlite *.sqlite3 *.mo *.woff *.woff2 *.ttf *.otf *.eot *.mp3 *.mp4 *.mov *.avi *.wav
        *.ogg *.flac *.webm *.doc *.docx *.xls *.xlsx *.ppt *.pptx *.odt *.npy *.npz *.onnx *.pt
        *.pkl *.parquet *.h5 *.shp *.dmg *.iso
    """,
    Reason.MINIFIED: "*.min.js *.min.css *.min.mjs *-min.js *-min.css *.bundle.js",
}


class Names:
    """Patterns for the names of files, and for their paths."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._of_files = GitIgnoreSpec.from_lines(glob for glob in globs if "/" not in glob)
        self._of_paths = GitIgnoreSpec.from_lines(glob for glob in globs if "/" in glob)

    def match(self, path: str) -> bool:
        """Return whether a path in lower case matches; that of a folder ends with `/`."""
        name = path.rpartition("/")[2]
        return self._of_paths.match_file(path) or self._of_files.match_file(name)


_NAMES = {reason: Names(globs.split()) for reason, globs in BY_NAME.items()}
_COPY_SUFFIXES = re.compile(r"(?:~|\.(?:bak|backup|copy|enc|local|old|orig|save|\d+))+$")
MAX_FILE_NAME = 255
"""Characters in which the suffixes of a copy stand; a git index may name longer ones."""
_LIKE_A_TOKEN = re.compile(r"[\w-]{16}")

CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": ":-@!-.{-~[-`",
    "space": " \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
"""The character classes of git patterns, such as `[[:digit:]]`; none matches a `/`."""
_EVERY_FOLDER_BELOW = re.compile(r"/\*\*/(?=[ \r]*$)")
"""A last `/**/`, which git takes for the folders below, and pathspec for the folder itself."""
_BRACKETS = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]")
_FIRST_BRACKET = re.compile(r"^([!^]?)\[(?!-)(.+)$", re.DOTALL)
_CLASS = re.compile(r"\[:(\w+):\]")

HEAD_CHARACTERS = 2000
_GENERATED = re.compile(
    # Not an annotation above a method, or without the name of a generator.
    r"^(?![^\S\n]+(?-i:@G)|(?-i:@Generated)(?!\())"
    r"[^\w\n]{0,20}(?:this file is )?(?:automatically )?@generated(?![\w/'\"-])"
    r"|\bcode generated\b.{0,80}\bdo not edit"
    r"|\b(?:auto-?generated|generated automatically|automatically generated)\b[^\n]{0,80}"
    r"(?:do not|don't) (?:edit|modify|change)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_PRIVATE_KEY = re.compile(r"\s*-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY")

PACKED_SUFFIXES = {".js", ".mjs", ".cjs", ".css", ".json", ".svg", ".html", ".xml"}
MIN_PACKED_CHARACTERS = 2000
MAX_MEAN_LINE_CHARACTERS = 400


def by_name(path: str) -> Reason | None:
    lowered = path.lower()
    return next((reason for reason, names in _NAMES.items() if names.match(lowered)), None)


def is_secret(path: str) -> bool:
    """Return whether the name marks a secret or its copy, or is itself a credential."""
    lowered = path.lower()
    above, end = lowered[:-MAX_FILE_NAME], lowered[-MAX_FILE_NAME:]
    original = above + _COPY_SUFFIXES.sub("", end)
    if any(map(_NAMES[Reason.SECRET].match, {lowered, original})):
        return True
    return bool(_LIKE_A_TOKEN.search(path) and redaction.redact(path).findings)


def by_content(path: str, text: str) -> Reason | None:
    if not text.strip():
        return Reason.EMPTY
    if _PRIVATE_KEY.match(text):
        return Reason.SECRET
    if _GENERATED.search(text[:HEAD_CHARACTERS]):
        return Reason.GENERATED
    return Reason.MINIFIED if _is_packed(path, text) else None


def _is_packed(path: str, text: str) -> bool:
    """Return whether the lines are too long to be hand-written."""
    if (
        PurePosixPath(path).suffix.lower() not in PACKED_SUFFIXES
        or len(text) < MIN_PACKED_CHARACTERS
    ):
        return False
    return len(text) / (text.count("\n") + 1) > MAX_MEAN_LINE_CHARACTERS


def patterns(globs: Iterable[str]) -> GitIgnoreSpec:
    """Parse lines as in .gitignore. Raises ValueError for one that is invalid in git."""
    below = (_EVERY_FOLDER_BELOW.sub("/**/*/", glob) for glob in globs)
    try:
        lines = [_BRACKETS.sub(_without_classes, glob) for glob in below]
        return GitIgnoreSpec.from_lines(lines, Glob, backend="simple")
    except re.error as error:
        raise ValueError(str(error)) from None


def _without_classes(brackets: re.Match[str]) -> str:
    """Move a bracket from the beginning to the end, where Python reads it literally."""
    inside = _CLASS.sub(_characters_of, brackets[0][1:-1])
    if inside == "[":
        return "\\["
    moved = _FIRST_BRACKET.sub(r"\1\2[", inside)
    return f"[{moved}]"


def _characters_of(named: re.Match[str]) -> str:
    if named[1] not in CLASSES:
        raise ValueError(f"there is no character class {named[0]}")
    return CLASSES[named[1]]
