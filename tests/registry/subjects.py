"""Experiments of many shapes, for the two ways of describing them."""

import dataclasses
import enum
import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Dict, List, Literal, Optional, Union  # noqa: UP035

from agentdyno import Experiment, ExperimentContext, benchmark
from agentdyno.contracts import Experiment as Base

from .subject_bases import Elsewhere, ElsewhereFields

SIZE = 100
TWICE = SIZE * 2


class Colour(enum.Enum):
    RED = "red"


class Documented(Experiment):
    """
    Sorts numbers.

    And a second paragraph.
    """

    def __init__(
        self,
        size: int = 10,
        rate: float = 0.5,
        name: str = "x",
        deep: bool = False,
        parameters: Optional[Dict[str, Any]] = None,  # noqa: UP006, UP045
    ) -> None:
        super().__init__(parameters or {})

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:
        return {}


class Annotations(Experiment):
    """Annotations of every kind."""

    def __init__(
        self,
        required: int,
        maybe: int | None = None,
        old: Optional[List[int]] = None,  # noqa: UP006, UP045
        either: Union[int, str] = 3,  # noqa: UP007
        mode: Literal["fast", "safe"] = "fast",
        off: Literal["fast", "safe"] = None,  # type: ignore[assignment]  # noqa: RUF013
        sign: Literal[-1, 1] = -1,
        auto: int | Literal["auto"] = "auto",
        note: Annotated[int, "rows"] = 1,
        quoted: "Optional[int]" = None,  # noqa: UP045
        forward: Optional["int"] = None,
        anything: Any = None,
        whatever: object = 5,
        where: Path = Path("x"),
        table: Mapping[str, int] | None = None,
        unset: int = None,  # type: ignore[assignment]  # noqa: RUF013
    ) -> None:
        super().__init__({})

    def execute_once(self, context: ExperimentContext) -> None: ...


class Unannotated(Experiment):
    def __init__(self, size, mode="x", *extra, depth=(1, 2), **rest):  # type: ignore[no-untyped-def]
        super().__init__({})

    def execute_once(self, context: ExperimentContext) -> None: ...


class KeywordOnly(Experiment):
    """Keywords only."""

    def __init__(this, *, size: int, depth: int = -3, tags: list[str] = ["a"]) -> None:  # noqa: B006
        super().__init__({})

    def execute_once(self, context: ExperimentContext) -> None: ...


class ComputedDefaults(Experiment):
    """Defaults that are not written out."""

    def __init__(
        self,
        size: int = SIZE,
        twice: int = TWICE,
        limit: float = math.inf,
        colour: Colour = Colour.RED,
        kinds: frozenset[str] = frozenset({"a"}),
        text: bytes = b"x",
        options: Mapping[str, Any] = {"a": [1, {"b": None}]},
    ) -> None:
        super().__init__({})

    def execute_once(self, context: ExperimentContext) -> None: ...


class Inherits(Documented):
    """Has the parameters of its base."""


class InheritsTwice(Inherits):
    def execute_once(self, context: ExperimentContext) -> dict[str, int]:
        return {}


class InheritsFromElsewhere(Elsewhere):
    """Its base lies in another module."""


class OwnInitOfNone(Base):
    """Only what every experiment takes."""

    def execute_once(self, context: ExperimentContext) -> None: ...


@dataclass
class Fields:
    """Fields are parameters."""

    size: int
    mode: Literal["a", "b"] = "a"
    tags: list[str] = field(default_factory=list)
    depth: int = field(default=3, repr=False)
    hidden: int = field(default=1, init=False)
    shared: ClassVar[int] = 4
    seed: InitVar[int] = 7

    def execute_once(self, context: ExperimentContext) -> None: ...


@dataclasses.dataclass(frozen=True)
class MoreFields(ElsewhereFields):
    size: int = 5
    _: KW_ONLY
    last: str = "z"

    def execute_once(self, context: ExperimentContext) -> None: ...


class WithSchema(Experiment):
    """A schema adds bounds."""

    param_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"size": {"type": "integer", "minimum": 1, "default": 4}, "extra": {"enum": ["x", "y"]}},
        "required": ["extra"],
    }

    def __init__(self, size: int = 10, extra: str = "x") -> None:
        super().__init__({})

    def execute_once(self, context: ExperimentContext) -> None: ...


class InheritsSchema(WithSchema):
    """The schema of the base holds."""


class NotAnExperiment:
    """Has no work to do."""


def plain(rounds: int = 30, label: str = "x") -> int:
    """A function."""
    return rounds


async def waits(delay_s: float, *, times: int = 1) -> None:
    """An async function."""


def takes_all(**options: int) -> None:
    """Open."""


def silent(self: int = 1):  # type: ignore[no-untyped-def]
    return self


@benchmark(name="Decorated", iterations=25)
def decorated(size: int = 3) -> int:
    """A benchmark."""
    return size


def make() -> type:
    class Inner(Experiment):
        def execute_once(self, context: ExperimentContext) -> None: ...

    return Inner
