"""Read the text and the circumstances of a reported error."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from contextd import faults
from contextd.faults import Fault, Frame
from remediations import reading
from remediations.reading import Reading

NAMED_WITHIN = 8_000
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+#.]*")
# By what a technology is known beside its own name.
_ALIASES = {
    "py": "python", "pip": "python", "traceback": "python", "node": "javascript",
    "npm": "javascript", "yarn": "javascript", "pnpm": "javascript", "tsc": "typescript",
    "golang": "go", "cargo": "rust", "rustc": "rust", "k8s": "kubernetes", "kubectl": "kubernetes",
    "kubelet": "kubernetes", "psql": "postgres", "postgresql": "postgres", "psycopg": "postgres",
    "psycopg2": "postgres", "dockerfile": "docker", "mvn": "maven", "jdk": "java", "jvm": "java",
    "csharp": "dotnet", "nuget": "dotnet", "msbuild": "dotnet", "bundler": "ruby", "gem": "ruby",
    "composer": "php", "laravel": "php", "gcc": "cpp", "clang": "cpp", "cmake": "cpp", "g++": "cpp",
    "ld": "cpp", "c": "cpp", "c++": "cpp", "systemd": "linux", "kernel": "linux", "bash": "linux",
    "ubuntu": "linux", "debian": "linux", "openssl": "tls", "ssl": "tls", "https": "tls",
    "github": "ci", "gitlab": "ci", "jenkins": "ci", "valkey": "redis", "mariadb": "mysql",
}  # fmt: skip
_LANGUAGES = {
    "python", "javascript", "typescript", "java", "kotlin", "scala", "go", "rust", "cpp", "ruby",
    "php", "dotnet", "swift", "elixir",
}  # fmt: skip
# How people write the names of products whose versions decide.
_SPELLINGS = {"node": r"node(?:\.?js)?", "java": "java|jdk|openjdk", "postgres": "postgres(?:ql)?"}
_KIN = {frozenset({"javascript", "typescript"}), frozenset({"java", "kotlin"}),
        frozenset({"java", "scala"})}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Symptom:
    """A reported error. `printed` is the message with its stack, without the prefixes of loggers.

    `texts` are that and, where it differs, what was given. `kind` is what kind of error it is,
    `technologies` are those that the text, the facts or the tags name, `circumstances` the facts.
    """

    read: Reading
    fault: Fault
    printed: str
    texts: tuple[str, ...]
    kind: str | None
    technologies: frozenset[str]
    facts: Mapping[str, str]
    circumstances: tuple[str, ...]

    def version_of(self, product: str) -> str | None:
        """Return the version in circumstances like `python: 3.12.1` or `runtime: Node.js v18`."""
        name = _SPELLINGS.get(product, re.escape(product))
        version = re.compile(
            rf"(?<![\w-])(?:{name})(?:[ _-]?version)?[\s:=/_-]*v?(\d+(?:\.\d+){{0,3}})(?![\w-])"
        )
        found = (version.search(circumstance) for circumstance in self.circumstances)
        return next((match[1] for match in found if match), None)

    @property
    def informative_words(self) -> list[str]:
        """The words that distinguish the error, in the form that it is searched in."""
        return faults.informative_words(self.read.text)

    @property
    def language(self) -> str:
        return technology_of(self.fault.language)

    @property
    def frame(self) -> Frame | None:
        """The innermost call of the application's own code."""
        frames = [f for part in (*reversed(self.fault.causes), self.fault) for f in part.frames]
        return next((frame for frame in frames if not frame.is_library), None)

    def names_one_of(self, technologies: Sequence[str]) -> bool:
        return bool(self.technologies & {technology_of(name) for name in technologies})

    def names_tool_of(self, technologies: Sequence[str]) -> bool:
        """Whether it names one of these that is not a programming language."""
        named = self.technologies & {technology_of(name) for name in technologies}
        return bool(named - _LANGUAGES)

    def excludes(self, technologies: Sequence[str]) -> bool:
        """Return whether the language of the error is none of these."""
        others = {technology_of(name) for name in technologies} & _LANGUAGES
        mine = self.language
        if mine not in _LANGUAGES or not others or mine in others:
            return False
        return not any(frozenset({mine, other}) in _KIN for other in others)


def read(
    error_message: str, stack_trace: str = "", *, facts: Mapping[str, str], tags: Sequence[str]
) -> Symptom:
    given = f"{error_message}\n{stack_trace}".strip()
    printed = faults.clean(given)
    fault = faults.parse(printed)
    given_names = _named_in(" ".join([*facts, *facts.values(), *tags]))
    named = _named_in(printed[:NAMED_WITHIN]) | given_names | {technology_of(fault.language)} - {""}
    return Symptom(
        read=reading.read(error_message, stack_trace),
        fault=fault,
        printed=printed,
        texts=tuple(dict.fromkeys([printed, given])),
        kind=kind_of(fault),
        technologies=frozenset(named),
        facts=dict(facts),
        circumstances=tuple(f"{name} {value}".lower() for name, value in facts.items()),
    )


def kind_of(fault: Fault) -> str | None:
    """That of the root cause where there is a chain of causes."""
    parts = (*reversed(fault.causes), fault)
    kinds = (faults.family(part.error_type, part.message) for part in parts)
    return next((kind for kind in kinds if kind), None)


@lru_cache(maxsize=8192)
def kind_of_text(text: str) -> str | None:
    """The kind of an error that a pattern shows as an example."""
    return kind_of(faults.parse(text))


def technology_of(name: str) -> str:
    """The name that a technology goes by here."""
    lowered = name.lower().removesuffix(".js")
    return _ALIASES.get(lowered, lowered)


def _named_in(text: str) -> set[str]:
    return {technology_of(word.strip(".")) for word in _WORD.findall(text)}
