"""The threat operations."""

from typing import Annotated, Self

from pydantic import Field

from contextd.callers import Caller
from contextd.operations import Request, Result, operation
from contextd.validation import (
    MAX_PATH_LENGTH,
    Clamp,
    Filled,
    Notice,
    Offset,
    RecordId,
    Text,
)
from threats import reviews, services
from threats.schema import Language, Level, Severity, SupportedFramework, ThreatPattern
from threats.tmkb import MAX_THREATS, QueryThreats, ThreatAnswer

InLanguage = Annotated[Language | None, Field(description="Programming language")]
InFramework = Annotated[SupportedFramework | None, Field(description="Framework, or any")]


@operation("tmkb_query", effect="read", timeout=10, atomic=False)
def query(caller: Caller, request: QueryThreats) -> ThreatAnswer:
    language, framework = request.language, request.framework
    limit = MAX_THREATS[request.verbosity]
    matches = services.find(
        caller, request.context, language=language, framework=framework, limit=limit
    )
    if request.verbosity == "human":
        return ThreatAnswer.whole(matches)
    return ThreatAnswer.brief(matches, services.brief(matches, language, framework))


class GetThreat(Request):
    """Read the full description of one threat: scenario, mitigations with code, tests."""

    id: Annotated[RecordId, Field(description="Id of the threat, such as TMKB-AUTHZ-001")]


class ThreatDetail(ThreatPattern, Result):
    pass


@operation("threat_get", effect="read", timeout=5)
def get(caller: Caller, request: GetThreat) -> ThreatDetail:
    return ThreatDetail(**dict(services.get(caller, request.id)))


class ListThreats(Request):
    """List the known threats, or those of one kind, most severe first."""

    category: Annotated[
        Filled | None,
        Field(max_length=50, description="Category, such as authorization or injection"),
    ] = None
    severity: Annotated[Severity | None, Field(description="Severity of the threat")] = None
    cwe: Annotated[
        Filled | None, Field(max_length=10, description="CWE entry, such as CWE-862")
    ] = None
    owasp: Annotated[
        Filled | None, Field(max_length=12, description="OWASP entry, such as A01:2021")
    ] = None
    language: Annotated[
        Language | None, Field(description="Only threats with code in this language")
    ] = None
    framework: Annotated[
        SupportedFramework | None,
        Field(description="Only threats with code for it or a framework it builds on; any: all"),
    ] = None
    limit: Annotated[int, Clamp(1, 200), Field(description="How many, 1 to 200")] = 50
    offset: Offset = 0


class ThreatRow(Result):
    id: Annotated[str, Field(validation_alias="key")]
    name: str
    category: str
    subcategory: str
    severity: Severity
    likelihood: Level
    cwes: list[str]
    owasps: list[str]


class ThreatList(Result):
    threats: list[ThreatRow]
    total: int
    categories: Annotated[dict[str, int], Field(description="Number of threats in every category")]
    limit: int
    offset: int


@operation("threat_list", effect="read", timeout=5)
def list_threats(caller: Caller, request: ListThreats) -> ThreatList:
    page = services.listed(caller, **dict(request))
    return ThreatList(
        threats=[ThreatRow.model_validate(threat) for threat in page.threats],
        total=page.total,
        categories=page.categories,
        limit=request.limit,
        offset=request.offset,
    )


class FindThreatsForFiles(Request):
    """Find the threats that a change may introduce, from its paths or its diff."""

    paths: Annotated[
        list[Annotated[Filled, Field(max_length=MAX_PATH_LENGTH)]],
        Field(max_length=500, description="Paths of the files, relative or absolute"),
    ] = []
    diff: Annotated[
        Text, Field(max_length=500_000, description="A unified diff, as `git diff` prints it")
    ] = ""
    limit: Annotated[int, Clamp(1, 50), Field(description="Maximum number of threats, 1 to 50")] = (
        10
    )


class FileThreat(Result):
    id: str
    name: str
    severity: Severity
    threat: str
    check: str
    fix: str
    files: Annotated[list[str], Field(description="The files that indicate it")]
    reasons: Annotated[list[str], Field(description="How the files indicate it, strongest first")]

    @classmethod
    def of(cls, found: reviews.FileThreat) -> Self:
        pattern = found.pattern
        return cls(
            id=pattern.id,
            name=pattern.name,
            severity=pattern.severity,
            **dict(pattern.agent_summary),
            files=found.files,
            reasons=found.reasons,
        )


class FileThreats(Result):
    threats: Annotated[list[FileThreat], Field(description="Threats, strongest indication first")]
    limit: int
    notice: Notice = None


@operation("threats_for_files", effect="read", timeout=30, atomic=False)
def for_files(caller: Caller, request: FindThreatsForFiles) -> FileThreats:
    found = reviews.for_files(caller, **dict(request))
    threats = [FileThreat.of(one) for one in found.threats]
    return FileThreats(threats=threats, limit=request.limit, notice=found.notice)


class MakeChecklist(Request):
    """Get one review checklist for several areas of work, without repeats, most severe first."""

    areas: Annotated[
        list[Annotated[Filled, Field(max_length=1000)]],
        Field(min_length=1, max_length=20, description="What the work does, one area each"),
    ]
    language: InLanguage = None
    framework: InFramework = None
    most_for_each: Annotated[
        int, Clamp(1, 10), Field(description="Maximum number of threats per area, 1 to 10")
    ] = 4


class ChecklistPoint(Result):
    id: str
    name: str
    severity: Severity
    check: str
    fix: str
    verify: Annotated[list[str], Field(description="Manual checks")]
    areas: Annotated[list[str], Field(description="The areas to check")]

    @classmethod
    def of(cls, point: reviews.Point) -> Self:
        pattern = point.pattern
        return cls(
            id=pattern.id,
            name=pattern.name,
            severity=pattern.severity,
            check=pattern.agent_summary.check,
            fix=pattern.agent_summary.fix,
            verify=[step.check for step in pattern.testing.manual_verification],
            areas=point.areas,
        )


class Checklist(Result):
    points: list[ChecklistPoint]
    uncovered: Annotated[list[str], Field(description="The areas without known threats")]
    most_for_each: int
    notice: Notice = None


@operation("threat_checklist", effect="read", timeout=30, atomic=False)
def checklist(caller: Caller, request: MakeChecklist) -> Checklist:
    made = reviews.checklist(caller, **dict(request))
    return Checklist(
        points=[ChecklistPoint.of(point) for point in made.points],
        uncovered=made.uncovered(request.areas),
        most_for_each=request.most_for_each,
        notice=made.notice,
    )
