"""Prompts about threats."""

from typing import Annotated

from pydantic import Field

from contextd.callers import Caller
from contextd.operations import Request
from contextd.prompts import prompt
from contextd.validation import Filled
from threats import reviews
from threats.schema import Language, SupportedFramework

MAX_AREAS = 20


class ReviewThreats(Request):
    """Review a piece of work for security threats."""

    work: Annotated[
        Filled,
        Field(max_length=5000, description="What the work does; up to 20 areas, one per line"),
    ]
    language: Annotated[Language | None, Field(description="Programming language")] = None
    framework: Annotated[SupportedFramework | None, Field(description="Framework")] = None


@prompt("threat_review", timeout=30)
def threat_review(caller: Caller, request: ReviewThreats) -> str:
    areas = [line.strip() for line in request.work.splitlines() if line.strip()]
    made = reviews.checklist(
        caller,
        areas=areas[:MAX_AREAS],
        language=request.language,
        framework=request.framework,
        most_for_each=4,
    )
    points = [point.as_text for point in made.points] or ["(no known threat applies)"]
    if len(areas) > MAX_AREAS:
        points.append(f"Only the first {MAX_AREAS} of {len(areas)} lines were looked up.")
    if made.notice:
        points.append(made.notice)
    return (
        f"Review this work for security:\n\n{request.work}\n\nRead its code. Go through the "
        "points below one by one; state for each whether it holds, does not hold or does not "
        "apply, with the file and line as evidence. Then look for threats that are not listed. "
        "Propose a fix for each finding, most severe first; do not change anything yet."
        "\n\n" + "\n".join(points)
    )
