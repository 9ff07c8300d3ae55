"""The file format of commands that are timed: the key ``commands:`` beside how they are run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agentdyno.settings.setting import COMMANDS
from agentdyno.specs.forms import FileModel, Line, Text, form

Value = str | int | float | bool


class CommandsOwn(FileModel):
    """Commands that are timed side by side, as their file describes them."""

    name: Line = Field(default="", description="Name of the run; the file's name without it", examples=["nightly"])
    commands: Annotated[list[Text], Field(min_length=1, max_length=1000)] = Field(
        description="The commands, as one types them", examples=[["sort words.txt", "sort --parallel={n} words.txt"]]
    )
    parameters: dict[str, Annotated[list[Value], Field(min_length=1, max_length=100_000)]] = Field(
        default_factory=dict,
        description="Values by name; `{name}` in a command stands for each of them",
        examples=[{"n": [1, 2, 4]}],
    )
    quick: dict[str, Any] = Field(
        default_factory=dict, description="Changes for a quick run (--quick)", examples=[{"runs": 5}]
    )


CommandsFile = form(
    "CommandsFile",
    COMMANDS,
    base=CommandsOwn,
    order="name commands parameters names warmup runs min_runs max_runs setup prepare cleanup shell ignore_failure "
    "input output timeout_s order seed tags notes quick",
)
