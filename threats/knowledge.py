"""Read and validate threat files."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from contextd import yaml_files
from contextd.shipped import Reading, Record
from contextd.yaml_files import Complaint, Faulty, Place, YamlFile
from threats import code, weaknesses
from threats.models import fields_of
from threats.schema import CodeExample, ThreatPattern

FOLDER = Path(__file__).parent / "knowledge"
ROOT = "threat_pattern"

Problem = tuple[Place, str]
Check = Callable[[ThreatPattern], Iterable[Problem]]


@dataclass(frozen=True, slots=True)
class ThreatFile:
    file: YamlFile
    pattern: ThreatPattern

    def complaint(self, place: Place, reason: str) -> Complaint:
        return self.file.complaint(reason, (ROOT, *place))


def shipped(folder: Path = FOLDER) -> Reading:
    """Read the shipped files, as at each start; code is checked only by `validate`."""
    files, complaints = read(folder)
    records = [Record(one.pattern.id, fields_of(one.pattern)) for one in files]
    checks = [_references, relations(named_in(folder, files))]
    return Reading(records, [*complaints, *_complaints(files, checks)])


def validate(folder: Path) -> tuple[int, list[Complaint]]:
    """Return the number of threats, and every error in their files."""
    files, complaints = read(folder)
    misnamed = [
        one.complaint(("id",), f"the file of {one.pattern.id} must be named {one.pattern.id}.yaml")
        for one in files
        if Path(one.file.name).name != f"{one.pattern.id}.yaml"
    ]
    known = named_in(folder, files) | named_in(FOLDER)
    found = _complaints(files, [problems_of, relations(known)])
    return len(files), sorted([*complaints, *misnamed, *found])


def read(folder: Path) -> tuple[list[ThreatFile], list[Complaint]]:
    """Return the valid files; of two with the same id, the first."""
    files: dict[str, ThreatFile] = {}
    paths, complaints = yaml_files.within(folder)
    for path in paths:
        try:
            file = yaml_files.read(path, str(path.relative_to(folder)))
            one = ThreatFile(file, parse(file))
        except Faulty as faulty:
            complaints += faulty.complaints
            continue
        first = files.setdefault(one.pattern.id, one)
        if first is not one:
            reason = f"{one.pattern.id} is the id of {first.file.name} too"
            complaints.append(one.complaint(("id",), reason))
    return list(files.values()), complaints


def parse(file: YamlFile) -> ThreatPattern:
    """Parse a threat file. Raises Faulty."""
    if not isinstance(file.content, dict) or list(file.content) != [ROOT]:
        raise Faulty([file.complaint(f"the one key at the top must be {ROOT}")])
    return file.parse(ThreatPattern, (ROOT,))


def named_in(folder: Path, files: Iterable[ThreatFile] = ()) -> set[str]:
    """Return the ids of all threats, including faulty files, which are named by id."""
    return {path.stem for path in folder.rglob("*.yaml")} | {one.pattern.id for one in files}


def written(text: str, *checks: Check) -> ThreatPattern:
    """Parse a person's text, with all checks. Raises Faulty with every error."""
    file = yaml_files.parse(text, "threat")
    pattern = parse(file)
    one = ThreatFile(file, pattern)
    if complaints := _complaints([one], [problems_of, *checks]):
        raise Faulty(complaints)
    return pattern


def problems_of(pattern: ThreatPattern) -> Iterator[Problem]:
    """Yield errors within a single threat, beyond its schema."""
    for check in (_references, _mitigations, _code):
        yield from check(pattern)


def _complaints(files: Sequence[ThreatFile], checks: Sequence[Check]) -> list[Complaint]:
    return [
        one.complaint(place, reason)
        for one in files
        for check in checks
        for place, reason in check(one.pattern)
    ]


def _references(pattern: ThreatPattern) -> Iterator[Problem]:
    place: Place = ("provenance", "public_references")
    for number, reference in enumerate(pattern.provenance.public_references):
        if reference.cwe and reference.cwe not in weaknesses.known("cwe"):
            yield (*place, number, "cwe"), f"CWE has no {reference.cwe}"
        if reference.owasp and reference.owasp not in weaknesses.known("owasp"):
            yield (*place, number, "owasp"), f"OWASP has no {reference.owasp}"


def relations(known: Set[str]) -> Check:
    """Return a check that related threats exist."""

    def check(pattern: ThreatPattern) -> Iterator[Problem]:
        for number, relation in enumerate(pattern.related_patterns):
            if relation.id not in known - {pattern.id}:
                reason = f"there is no other threat {relation.id}"
                yield ("related_patterns", number, "id"), reason

    return check


def _mitigations(pattern: ThreatPattern) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, mitigation in enumerate(pattern.mitigations):
        place: Place = ("mitigations", number, "id")
        if mitigation.id in seen:
            yield place, f"{mitigation.id} occurs twice"
        if mitigation.id[:-1] != pattern.id.replace("TMKB-", "MIT-"):
            yield place, f"{mitigation.id} must be {pattern.id.replace('TMKB-', 'MIT-')} + a letter"
        seen.add(mitigation.id)


def _code(pattern: ThreatPattern) -> Iterator[Problem]:
    for number, mitigation in enumerate(pattern.mitigations):
        for which, example in enumerate(mitigation.code_examples):
            place: Place = ("mitigations", number, "code_examples", which)
            yield from ((place + where, reason) for where, reason in _code_of(example))


def _code_of(example: CodeExample) -> Iterator[Problem]:
    written = {
        "vulnerable_code": example.language,
        "secure_code": example.language,
        "setup_code": "python",
        "test_code": "python",
    }
    for name, language in written.items():
        text = getattr(example, name)
        if text and (mistake := code.mistake_in(text, language)):
            yield (name,), f"{name} is not {language}: {mistake}"
