"""The schema of threat files: `threat_pattern`, with these fields."""

import datetime as dt
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from contextd import expressions

SUMMARY_CHARACTERS = 400

Level = Literal["high", "medium", "low"]
Severity = Literal["critical", "high", "medium", "low"]
Language = Literal["python", "javascript", "yaml"]
Framework = Literal["celery", "django", "drf", "express", "fastapi", "flask"]
SupportedFramework = Literal[Framework, "any"]
Relationship = Literal["extends", "related", "prerequisite"]

LANGUAGE_OF: dict[str, Language] = {
    **dict.fromkeys(["celery", "django", "drf", "fastapi", "flask"], "python"),
    "express": "javascript",
}
"""The language of each framework."""

SUPPORTED_LANGUAGES: tuple[str, ...] = get_args(Language)
SUPPORTED_FRAMEWORKS: tuple[str, ...] = get_args(SupportedFramework)

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Code = Annotated[str, StringConstraints(min_length=1, max_length=6000)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=50)]
Kind = Annotated[str, StringConstraints(pattern=r"^[a-z]+([_-][a-z]+)*$", max_length=50)]
Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=60)]
ThreatId = Annotated[str, StringConstraints(pattern=r"^TMKB-[A-Z0-9]{2,10}-\d{3}$")]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Reference(Part):
    """An entry of a public list of weaknesses, CWE or OWASP."""

    cwe: Annotated[str, StringConstraints(pattern=r"^CWE-\d{1,5}$")] | None = None
    owasp: Annotated[str, StringConstraints(pattern=r"^(A|API|LLM)\d{1,2}:20\d\d$")] | None = None
    name: Line
    url: Annotated[str, StringConstraints(pattern=r"^https://\S+$", max_length=300)]

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if (self.cwe is None) == (self.owasp is None):
            raise ValueError("give either cwe or owasp")
        return self


class Provenance(Part):
    source_type: Kind
    description: Prose
    public_references: Annotated[list[Reference], Field(min_length=1)]


class Triggers(Part):
    """Developers' words that indicate the threat: nouns, actions, globs of file names."""

    keywords: Annotated[list[Phrase], Field(min_length=3, max_length=40)]
    actions: Annotated[list[Phrase], Field(min_length=1, max_length=20)]
    file_patterns: Annotated[list[Phrase], Field(max_length=20)] = []


class Differentiation(Part):
    llm_knowledge_state: Prose
    tmkb_value: Prose
    llm_blindspots: Annotated[list[Line], Field(min_length=1)]


class AgentSummary(Part):
    """The summary for assistants: what goes wrong, what to check, what to do."""

    threat: Line
    check: Line
    fix: Line

    @model_validator(mode="after")
    def _is_brief(self) -> Self:
        length = len(self.threat) + len(self.check) + len(self.fix)
        if length > SUMMARY_CHARACTERS:
            raise ValueError(
                f"threat, check and fix have {length} characters together, "
                f"at most {SUMMARY_CHARACTERS}"
            )
        return self


class AttackStep(Part):
    step: Annotated[int, Field(ge=1)]
    action: Line
    detail: Prose


class Impact(Part):
    confidentiality: Literal["high", "medium", "low", "none"]
    integrity: Literal["high", "medium", "low", "none"]
    availability: Literal["high", "medium", "low", "none"]
    scope: Line
    business_impact: Prose


class AttackScenario(Part):
    narrative: Prose
    preconditions: list[Line] = []
    attack_steps: list[AttackStep] = []
    impact: Impact | None = None


class CodeExample(Part):
    """The same task solved insecurely and securely.

    `setup_code` and `test_code` are Python, for Python code, and never shown: `setup_code` runs
    first and defines what the code relies on. Then `test_code` runs in the same module; each
    `test_...` function must pass with the secure code, and one must fail with the vulnerable.
    """

    language: Language
    framework: SupportedFramework = "any"
    description: Line
    vulnerable_code: Code
    secure_code: Code
    setup_code: Annotated[Code | None, Field(exclude=True)] = None
    test_code: Annotated[Code | None, Field(exclude=True)] = None


class Mitigation(Part):
    id: Annotated[str, StringConstraints(pattern=r"^MIT-[A-Z0-9]{2,10}-\d{3}[a-z]$")]
    name: Line
    description: Prose
    effectiveness: Level
    implementation_effort: Level
    tradeoffs: list[Line] = []
    code_examples: list[CodeExample] = []


class Principle(Part):
    principle: Line
    explanation: Prose


class Relation(Part):
    id: ThreatId
    relationship: Relationship
    description: Line


class ManualStep(Part):
    step: Annotated[int, Field(ge=1)]
    check: Line


class AutomatedCheck(Part):
    """A regular expression that finds code to look at.

    With `side: removed` it describes a guard, and finds changes that delete it.
    """

    type: Literal["pattern"]
    side: Literal["added", "removed"] = "added"
    description: Line
    pattern: Line
    expectation: Line

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        if mistake := expressions.mistake_in(pattern):
            raise ValueError(f"it {mistake}")
        return pattern


class Testing(Part):
    manual_verification: list[ManualStep] = []
    automated_checks: list[AutomatedCheck] = []


class BaselineTest(Part):
    """How assistants fail without this threat's advice; `observed` only if actually tested."""

    prompt: Prose
    expected_failure: Prose
    observed: Prose | None = None
    date: dt.date | None = None


class Validation(Part):
    baseline_test: BaselineTest


class ThreatPattern(Part):
    id: ThreatId
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=5, max_length=120)]
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")]
    last_updated: dt.date
    tier: Literal["A", "B"]
    category: Slug
    subcategory: Slug
    language: Language | Literal["any"] = "any"
    framework: SupportedFramework = "any"
    severity: Severity
    likelihood: Level
    generalizes_to: list[Line] = []
    provenance: Provenance
    triggers: Triggers
    differentiation: Differentiation | None = None
    description: Prose
    agent_summary: AgentSummary
    attack_scenario: AttackScenario | None = None
    mitigations: Annotated[list[Mitigation], Field(min_length=1)]
    security_principles: list[Principle] = []
    related_patterns: list[Relation] = []
    testing: Testing = Testing()
    validation: Validation | None = None

    @model_validator(mode="after")
    def _tier_a_is_full(self) -> Self:
        scenario = self.attack_scenario or AttackScenario(narrative="none")
        full = {
            "generalizes_to": self.generalizes_to,
            "differentiation": self.differentiation,
            "attack_scenario.preconditions": scenario.preconditions,
            "attack_scenario.attack_steps": scenario.attack_steps,
            "attack_scenario.impact": scenario.impact,
            "security_principles": self.security_principles,
            "testing.manual_verification": self.testing.manual_verification,
            "code_examples": [m for m in self.mitigations if m.code_examples],
        }
        missing = [name for name, value in full.items() if not value]
        if self.tier == "A" and missing:
            raise ValueError(f"tier A needs {', '.join(missing)}")
        return self
