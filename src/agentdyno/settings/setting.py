"""What a parameter and a setting are, and the check of given values.

A parameter belongs to an experiment or a scenario. A setting is a parameter that a user meets in more than one place:
in a file, on the command line, in the API, in Python, in the reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)

JSON_NAMES = ("null", "boolean", "integer", "number", "string", "array", "object")

# Where a setting belongs. Parts of files:
SPEC = frozenset({"spec"})
ITERATIONS = frozenset({"iterations"})
AUTO = frozenset({"auto"})
SUITE = frozenset({"suite"})
QUICK = frozenset({"quick"})
"""Only under ``quick:`` of a suite, and on the command line."""
BENCHMARK = frozenset({"benchmark"})
RUBRIC = frozenset({"rubric"})
AGENT = frozenset({"agent"})
"""Beside ``use:`` of an agent in a suite or in ``dyno.yaml``."""
DATASET = frozenset({"dataset"})
LOAD = frozenset({"load"})
"""Under ``load:`` of a load file, and of ``dyno load``."""
LOAD_FILE = frozenset({"load file"})
"""Beside ``load:`` in a load file."""
PROMPT_WORDS = frozenset({"prompt words"})
COMMANDS = frozenset({"commands"})
"""Of commands that are timed (``dyno time``), in a file with ``commands:`` too."""
GATE = frozenset({"gate"})
REQUIRE = frozenset({"require"})
"""Under ``require:`` of a gate."""
BANDS = frozenset({"bands"})
"""Under ``bands:`` of a spec, a suite or a load file."""
ALERTS = frozenset({"alerts"})
"""Of one place under ``alerts:`` of ``dyno.yaml``."""
# What a service takes with a job, and the commands that take settings of several files:
JOB = frozenset({"job"})
CHECK = frozenset({"check"})
RESUME = frozenset({"resume"})
SERVE = frozenset({"serve"})
WORKER = frozenset({"worker"})
ASK = frozenset({"ask"})
"""Commands that read results: boards, histories, baselines."""
# Options and arguments in Python whose place in the file is written out there (``instrumentation``, ``cases``):
SPEC_CHANGE = frozenset({"spec change"})
SUITE_CHANGE = frozenset({"suite change"})
LOAD_COMMAND = frozenset({"load command"})
# Options that are said beside a file and have no place in it (``--cache``):
SPEC_CHOICE = frozenset({"spec choice"})
SUITE_CHOICE = frozenset({"suite choice"})
LOAD_CHOICE = frozenset({"load choice"})
# Everything that means something for a kind of run:
EXPERIMENT_RUN = SPEC | ITERATIONS | SPEC_CHANGE | SPEC_CHOICE
SUITE_RUN = SUITE | QUICK | SUITE_CHANGE | SUITE_CHOICE
LOAD_RUN = LOAD_FILE | LOAD_CHOICE


@dataclass(frozen=True, slots=True)
class Parameter:
    """``types`` are JSON type names, empty for "anything"; ``choices`` are the only values allowed, if any.

    ``opaque``: the default is an object that has no JSON form; ``default`` only shows it.
    """

    name: str
    types: tuple[str, ...] = ()
    required: bool = False
    default: object = None
    choices: tuple[object, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    description: str = ""
    opaque: bool = False

    @property
    def type_name(self) -> str:
        if self.choices:
            return "|".join(str(choice) for choice in self.choices)
        return "|".join(self.types) or "any"

    @property
    def takes_list(self) -> bool:
        """Whether a list is a value of this parameter, rather than a sweep over it."""
        return "array" in self.types or (not self.types and isinstance(self.default, (list, tuple)))

    def problem(self, value: object) -> str | None:
        """What is wrong with ``value``, or ``None``."""
        if self.choices:
            if any(_same(value, choice) for choice in self.choices):
                return None
            return f"expected one of {', '.join(map(repr, self.choices))}, got {value!r}"
        if self.types and not any(_is(value, name) for name in self.types):
            return f"expected {self.type_name}, got {json_type(value)} {value!r}"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if self.minimum is not None and value < self.minimum:
                return f"expected at least {self.minimum:g}, got {value!r}"
            if self.maximum is not None and value > self.maximum:
                return f"expected at most {self.maximum:g}, got {value!r}"
        return None


@dataclass(frozen=True, slots=True)
class Wording:
    """How one place says it where it says it in words of its own; what is empty is as the setting has it."""

    description: str = ""
    example: object = None
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Parameter, Generic[T_co]):
    """``scopes`` says where it is known. ``above`` is a lower bound that is itself not allowed.

    ``name`` is its name in Python, and everywhere where nothing else is said. ``key`` is its dotted place in a file,
    and ``scale`` what a value is multiplied by there.

    ``option`` is its spelling on the command line, "" where that has none; ``dest`` its name among a command's
    options; ``help`` the text there (the description without it), with the default where ``shows_default``. The
    command itself refuses what is too small and, where ``shows_maximum``, too large; the other maxima are there
    against slips, and the form refuses what is above them.

    ``spelled`` names a kind of text or a shorthand of ``specs/forms``. ``worded`` has other words for some scopes.
    ``hint`` follows the option in a refusal; ``note`` and ``shown_default`` are for the reference.
    """

    default: T_co = None  # type: ignore[assignment]
    above: float | None = None
    scopes: frozenset[str] = frozenset()
    option: str = ""
    dest: str = ""
    metavar: str = ""
    help: str = ""
    shows_default: bool = False
    shows_maximum: bool = False
    key: str = ""
    scale: float = 1
    example: object = None
    spelled: str = ""
    worded: Mapping[str, Wording] = field(default_factory=dict)
    hint: str = ""
    note: str = ""
    shown_default: str = ""

    def problem(self, value: object) -> str | None:
        """What is wrong with ``value``, or ``None``."""
        if value is None and "null" in self.types:
            return None
        found = Parameter.problem(self, value)
        if found is None and self.above is not None and isinstance(value, (int, float)) and value <= self.above:
            return f"expected more than {self.above:g}, got {value!r}"
        return found

    @property
    def asked(self) -> str:
        """Its name among the options of a command."""
        return self.dest or self.name

    @property
    def place(self) -> str:
        """Its dotted place in a file."""
        return self.key or self.name

    @property
    def form_key(self) -> str:
        """Its key in the part of a file that holds it."""
        return self.place.rpartition(".")[2]

    def wording(self, scopes: frozenset[str]) -> Wording:
        """Its words in one of the scopes, the setting's own where they have none."""
        other = next((self.worded[scope] for scope in sorted(scopes) if scope in self.worded), Wording())
        return Wording(
            other.description or self.description,
            self.example if other.example is None else other.example,
            other.help or self.help or f"{self.description}.",
        )


def json_type(value: object) -> str:
    """The JSON name of a value's type."""
    for name in JSON_NAMES:
        if _is(value, name):
            return name
    return type(value).__name__


def _same(value: object, choice: object) -> bool:
    """Equal as JSON has it: true is not 1."""
    return value == choice and isinstance(value, bool) == isinstance(choice, bool)


def _is(value: object, name: str) -> bool:
    if name == "null":
        return value is None
    if name == "boolean":
        return isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "string":
        return isinstance(value, str)
    if name == "array":
        return isinstance(value, Sequence) and not isinstance(value, str)
    return name == "object" and isinstance(value, Mapping)
