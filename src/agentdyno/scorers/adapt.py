"""Anything that can judge, as a ``Scorer`` whose own failures cannot end a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

from agentdyno.contracts import Agent, Scorer
from agentdyno.errors import DynoError, PluginError, SpecError, nearest
from agentdyno.model.case import Case, Response, Score
from agentdyno.model.parameter import Parameter
from agentdyno.model.suite import ScorerUse
from agentdyno.pricing import PriceBook
from agentdyno.registry import register_scorer
from agentdyno.registry.describe import signature_of
from agentdyno.registry.installed import load
from agentdyno.registry.local import load_target, parse_reference
from agentdyno.scorers.outcome import as_score

GIVEN = ("output", "target", "input", "case", "response")
"""Parameters of a function that are what it judges; any other is an option."""
_INJECTED = ("judge", "judges", "prices")


def make_scorer(
    use: ScorerUse,
    *,
    base_dir: Path | str,
    judge_for: Callable[[str], Agent] | None = None,
    prices: PriceBook | None = None,
) -> Scorer:
    """The scorer that a rubric names, with its options checked.

    ``use.name`` is a built-in, installed or registered name, ``file.py@name`` (below ``base_dir``) or
    ``module:attr``: a class with ``score``, an object of one, or a function. ``judge_for`` gives the agent that a
    model-graded scorer names, ``prices`` what its calls cost. Raises ``SpecError`` or ``PluginError``.
    """
    folder = Path(base_dir).absolute()
    reference = parse_reference(use.name, folder)
    found = load("scorers", use.name) if reference is None else load_target("scorers", reference)
    options = dict(use.options)
    if isinstance(found, type):
        return _Guarded(use.name, _build(found, use.name, options, judge_for, prices), folder)
    if callable(getattr(found, "score", None)):
        if options:
            raise SpecError("it takes no options: it is already built", where=_where(use.name))
        return _Guarded(use.name, found, folder)
    if callable(found):
        return _Guarded(use.name, _function(found, use.name, options), folder)
    raise PluginError(
        f"{type(found).__name__} cannot judge",
        where=_where(use.name),
        remedy="Give a function of output and target, or a class with score(case, response).",
    )


@dataclass(frozen=True, slots=True)
class _Guarded:
    """What the scorer raises is the 0 of that answer; what it returns that is no score leaves the score unknown."""

    name: str
    scorer: Any
    base_dir: Path

    def check(self, case: Case) -> str | None:
        check = getattr(self.scorer, "check", None)
        if check is None:
            return None
        try:
            said = check(case)
        except Exception as error:  # noqa: BLE001
            return f"its check failed: {type(error).__name__}: {error}"
        return None if said is None else str(said)

    async def score(self, case: Case, response: Response) -> Score:
        try:
            result = self.scorer.score(case, response)
            if inspect.isawaitable(result):
                result = await result
            return as_score(result, self.name)
        except (Exception, SystemExit) as error:  # noqa: BLE001
            from agentdyno.scorers.raised import raised_score  # most runs need none of it

            return raised_score(error, self.name, _file_of(self.scorer), self.base_dir)


def _file_of(judging: object) -> str:
    """Where a scorer is defined; "" where that cannot be told."""
    code = judging.function if isinstance(judging, _Function) else type(judging)
    try:
        return inspect.getsourcefile(inspect.unwrap(code)) or ""
    except (TypeError, ValueError, OSError):
        return ""


@dataclass(frozen=True, slots=True)
class _Function:
    function: Callable[..., object]
    wanted: tuple[str, ...]
    options: Mapping[str, object]

    def score(self, case: Case, response: Response) -> object:
        known = {
            "output": response.output,
            "target": case.target,
            "input": case.input,
            "case": case,
            "response": response,
        }
        return self.function(**{name: known[name] for name in self.wanted}, **self.options)


def _function(function: Callable[..., object], name: str, options: dict[str, object]) -> _Function:
    parameters, is_open = signature_of(function, skip_first=False)
    wanted = tuple(parameter.name for parameter in parameters if parameter.name in GIVEN)
    if clash := [option for option in options if option in GIVEN]:
        raise SpecError(f"{clash[0]} is what it judges, not an option", where=_where(name))
    declared = [parameter for parameter in parameters if parameter.name not in GIVEN]
    _check_options(name, declared, options, is_open)
    for parameter in declared:
        if parameter.required and parameter.name not in options:
            raise SpecError(
                f"its parameter {parameter.name!r} is none of {', '.join(GIVEN)}, and no option gives it",
                where=_where(name),
                remedy=f"Name it as what it receives, or set it under options. {nearest(parameter.name, GIVEN)}",
            )
    return _Function(function, wanted, options)


def _build(
    kind: type,
    name: str,
    options: dict[str, object],
    judge_for: Callable[[str], Agent] | None,
    prices: PriceBook | None,
) -> object:
    if not callable(getattr(kind, "score", None)):
        raise PluginError(
            f"the class {kind.__name__} has no score(case, response)",
            where=_where(name),
            remedy="Define it, or give a function of output and target.",
        )
    parameters, is_open = signature_of(kind.__init__, skip_first=True)  # type: ignore[misc]
    declared = {parameter.name: parameter for parameter in parameters}
    takes_judge = "judge" in declared and "agent" in declared
    injected: dict[str, object] = {}
    if takes_judge:
        _check_options(name, [item for item in parameters if item.name not in _INJECTED], options, is_open)
        if "judges" in declared and options.get("agents"):
            injected["judges"] = _judges(name, options, judge_for)
        else:
            injected["judge"] = _judge(name, options.get("agent"), judge_for)
        if "prices" in declared:
            injected["prices"] = prices
    else:
        _check_options(name, parameters, options, is_open)
    missing = [item.name for item in parameters if item.required and item.name not in {*options, *injected}]
    if missing:
        raise SpecError(f"it needs the option {missing[0]}", where=_where(name))
    try:
        return kind(**options, **injected)
    except DynoError:
        raise
    except (TypeError, ValueError) as error:
        raise SpecError(str(error), where=_where(name), remedy="Correct the scorer's options.") from error


def _judges(name: str, options: Mapping[str, object], judge_for: Callable[[str], Agent] | None) -> tuple[Agent, ...]:
    """The judges of a panel, each once."""
    named = options["agents"]
    if options.get("agent"):
        raise SpecError("it takes agent or agents, not both", where=_where(name), remedy="Name all under agents.")
    if not isinstance(named, (list, tuple)) or len(set(map(str, named))) < len(named):
        remedy = "Name each judge once; `repeats: 3` asks one several times."
        raise SpecError("agents: expected a list of different agents", where=_where(name), remedy=remedy)
    return tuple(_judge(name, reference, judge_for) for reference in named)


def _judge(name: str, reference: object, judge_for: Callable[[str], Agent] | None) -> Agent:
    if not isinstance(reference, str) or not reference:
        raise SpecError(
            "it needs the option agent: who judges",
            where=_where(name),
            remedy="Name an agent of dyno.yaml, or one by file or scheme, such as openai:gpt-5-mini.",
        )
    if judge_for is None:
        raise SpecError(f"no agent can be found here, so not {reference!r} either", where=_where(name))
    return judge_for(reference)


def _check_options(name: str, parameters: Sequence[Parameter], options: Mapping[str, object], is_open: bool) -> None:
    declared = {parameter.name: parameter for parameter in parameters}
    for option, value in options.items():
        parameter = declared.get(option)
        if parameter is None:
            if is_open:
                continue
            remedy = nearest(option, declared) if declared else "It has no options."
            raise SpecError(f"it has no option {option!r}", where=_where(name), remedy=remedy)
        if problem := parameter.problem(value):
            raise SpecError(f"{option}: {problem}", where=_where(name))


def _where(name: str) -> str:
    return f"scorer {name}"


F = TypeVar("F", bound=Callable[..., Any])


@overload
def scorer(function: F, /) -> F: ...


@overload
def scorer(name: str | None = None, /) -> Callable[[F], F]: ...


def scorer(function: F | str | None = None, /) -> F | Callable[[F], F]:
    """Makes a function or class known as a scorer by its own name, or with ``@scorer("name")`` by that one.

    The function receives by name any of ``output``, ``target``, ``input``, ``case`` and ``response``; further
    parameters are its options. It returns a number in 0..1, a bool, a dict of them, a ``Score`` or ``None``.
    """
    if function is None or isinstance(function, str):
        given = function

        def decorate(target: F) -> F:
            return register_scorer(_name_of(target) if given is None else given)(target)

        return decorate
    return register_scorer(_name_of(function))(function)


def _name_of(target: object) -> str:
    name = getattr(target, "__name__", None)
    if not isinstance(name, str):
        raise PluginError(f"{target!r} has no name of its own", remedy='Give it one: @scorer("name").')
    return name
