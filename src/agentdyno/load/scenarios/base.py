"""What every scenario is made of: declared parameters with three profiles, and the settings that it runs with."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.load.driver import Levers
from agentdyno.model.load import Arrivals, LoadOptions, Objective, SelfCheck, Stage, Step
from agentdyno.model.parameter import Parameter

PROFILES = ("quick", "standard", "full")
NORMAL_RATE = "normal_rate"
_SEEDS = 1_000_003


@dataclass(frozen=True, slots=True)
class ScenarioSettings:
    """What a scenario runs with. ``params`` has a value for each of its parameters; ``objectives`` are the user's,
    possibly none."""

    params: Mapping[str, object]
    objectives: tuple[Objective, ...] = ()
    options: LoadOptions = field(default_factory=LoadOptions)
    levers: Levers = field(default_factory=Levers)
    seed: int = 0
    self_check: SelfCheck | None = None

    def number(self, name: str) -> float:
        value = self.params[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SpecError(f"{name} is a number, not {value!r}")
        return float(value)

    def whole(self, name: str) -> int:
        return round(self.number(name))

    def flag(self, name: str) -> bool:
        return bool(self.params[name])

    def arrivals(self) -> Arrivals:
        return Arrivals(str(self.params["arrivals"]))

    def seed_of(self, number: int) -> int:
        """A seed of its own for every step, the same in every run of this seed."""
        return self.seed * _SEEDS + number

    @property
    def drain_s(self) -> float:
        return self.options.timeout_s


class Scenario(Protocol):
    """A way of putting load on a target.

    ``steps`` yields what to do and is sent what came of it, so that a search goes where the answers lead it.
    ``needs`` names what the target must allow: ``process`` (its memory can be limited), ``proxy`` (faults can be put
    in front of it). ``scaled`` gives the parameters that are multiples of ``normal_rate``.
    """

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...

    @property
    def profiles(self) -> Mapping[str, Mapping[str, object]]: ...

    @property
    def scaled(self) -> Mapping[str, float]: ...

    @property
    def needs(self) -> frozenset[str]: ...

    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]: ...

    def options(self, options: LoadOptions, params: Mapping[str, object]) -> LoadOptions: ...

    def check(self, params: Mapping[str, object]) -> None: ...


@dataclass(frozen=True, slots=True)
class Declared:
    """The part of a scenario that is only declared."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    profiles: Mapping[str, Mapping[str, object]]
    scaled: Mapping[str, float] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()

    def options(self, options: LoadOptions, params: Mapping[str, object]) -> LoadOptions:
        """How the client has to behave in this scenario: its windows, and the cap on connections where it has one."""
        window = params.get("window_seconds")
        if isinstance(window, (int, float)):
            options = replace(options, window_s=min(options.window_s, float(window)))
        cap = params.get("concurrent_requests")
        return replace(options, connections=int(cap)) if isinstance(cap, (int, float)) else options

    def check(self, params: Mapping[str, object]) -> None:
        """``SpecError`` where a value is of the right type and means nothing all the same."""


def number(name: str, description: str, minimum: float = 0.001, maximum: float | None = None) -> Parameter:
    """A parameter that is a number."""
    return Parameter(name, ("number",), minimum=minimum, maximum=maximum, description=description)


def whole(name: str, description: str, minimum: int = 1) -> Parameter:
    return Parameter(name, ("integer",), minimum=minimum, description=description)


def flag(name: str, description: str) -> Parameter:
    return Parameter(name, ("boolean",), description=description)


ARRIVALS = Parameter(
    "arrivals",
    ("string",),
    choices=(Arrivals.CONSTANT.value, Arrivals.POISSON.value),
    description="how requests come: evenly spaced, or independently of each other",
)
WINDOW = number("window_seconds", "length of a window: times to recover are told no more finely", 0.05)


def resolve_params(
    scenario: Scenario, profile: str, params: Mapping[str, object], rate: float | None = None
) -> dict[str, object]:
    """A value for every parameter: the profile's, scaled to ``rate`` where that is known, and the given ones last.

    ``SpecError`` for a profile or parameter that is not known, with the nearest one, and for a value of the wrong
    type or out of bounds.
    """
    if profile not in scenario.profiles:
        raise SpecError(f"there is no profile {profile!r}", remedy=nearest(profile, scenario.profiles))
    known = {parameter.name: parameter for parameter in scenario.parameters}
    for name, value in params.items():
        if name not in known:
            raise SpecError(f"{scenario.name} has no parameter {name!r}", remedy=nearest(name, known))
        problem = known[name].problem(value)
        if problem:
            raise SpecError(f"{scenario.name}: {name}: {problem}", remedy=known[name].description)
    values = dict(scenario.profiles[profile])
    if rate is not None:
        values[NORMAL_RATE] = rate
    values.update(params)
    normal = values.get(NORMAL_RATE)
    if isinstance(normal, (int, float)) and (rate is not None or NORMAL_RATE in params):
        values.update({name: factor * normal for name, factor in scenario.scaled.items() if name not in params})
    resolved = {name: values[name] for name in known}
    scenario.check(resolved)
    return resolved


def share_params(scenarios: Sequence[Scenario], params: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    """Which of the given parameters go to which scenario: ``name`` to all that have it, ``scenario.name`` to one.

    ``SpecError`` for a name that none of them has.
    """
    shared: dict[str, dict[str, object]] = {scenario.name: {} for scenario in scenarios}
    named: dict[str, dict[str, object]] = {scenario.name: {} for scenario in scenarios}
    for name, value in params.items():
        head, dot, tail = name.partition(".")
        if dot and head in named:
            named[head][tail] = value
            continue
        takers = [one for one in scenarios if any(parameter.name == name for parameter in one.parameters)]
        if not takers:
            known = {parameter.name for one in scenarios for parameter in one.parameters}
            chosen = ", ".join(one.name for one in scenarios)
            whose = f"none of {chosen} has a" if len(scenarios) > 1 else f"{chosen} has no"
            raise SpecError(f"{whose} parameter {name!r}", remedy=nearest(name, known))
        for taker in takers:
            shared[taker.name][name] = value
    return {name: {**shared[name], **named[name]} for name in shared}


def planned_seconds(scenario: Scenario, params: Mapping[str, object]) -> float | None:
    """How long a scenario puts load on its target; ``None`` where what it meets decides about it."""
    stages = getattr(scenario, "stages", ())
    if stages:
        return float(sum(stage.duration_s for stage in stages))
    if any(parameter.name in ("width", "shares") for parameter in scenario.parameters):
        return None
    lengths = {name: float(value) for name, value in params.items() if isinstance(value, (int, float))}
    faults = params.get("faults")
    each = ("fault_seconds", "recovery_seconds") if isinstance(faults, (list, tuple)) else ()
    once = [
        name
        for name in lengths
        if name.endswith("_seconds") and name not in (*each, "window_seconds", "drain_seconds")
    ]
    times = len(faults) if isinstance(faults, (list, tuple)) else 0
    total = sum(lengths[name] for name in once) + times * sum(lengths.get(name, 0.0) for name in each)
    return total or None


def steady(label: str, duration_s: float, rate: float) -> Stage:
    """A stretch of constant rate."""
    return Stage(label, duration_s, rate=rate)
