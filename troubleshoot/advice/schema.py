"""What a language model may answer; anything else is no answer."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from contextd.validation import Text

Short = Annotated[Text, Field(max_length=300)]
Long = Annotated[Text, Field(max_length=2_000)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Look(Part):
    run: Annotated[
        Long, Field(description="A command that changes and sends nothing; empty for none")
    ]
    expect: Annotated[Short, Field(description="What is seen when this is the cause")]


class Fix(Part):
    description: Annotated[Text, Field(max_length=1_000)]
    command: Annotated[Long, Field(description="Empty for none")]


class Suggestion(Part):
    """One possible cause."""

    known_id: Annotated[
        Text | None,
        Field(max_length=100, description="The id of the known case that it is, else null"),
    ]
    description: Annotated[Text, Field(min_length=1, max_length=200)]
    root_cause: Annotated[Long, Field(min_length=1)]
    likelihood: Literal["low", "medium", "high"]
    reasons: Annotated[list[Short], Field(max_length=6)]
    checks: Annotated[list[Look], Field(max_length=6)]
    fixes: Annotated[list[Fix], Field(max_length=8)]


class Advice(Part):
    suggestions: Annotated[list[Suggestion], Field(min_length=1, max_length=3)]
