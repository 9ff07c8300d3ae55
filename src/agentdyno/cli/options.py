"""Options of commands, made from the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from agentdyno.cli.shared import LISTED
from agentdyno.settings import settings_of
from agentdyno.settings.judging import GATE_FLAG, STRICT, TOLERANCE
from agentdyno.settings.setting import (
    CHECK,
    COMMANDS,
    EXPERIMENT_RUN,
    LOAD,
    LOAD_COMMAND,
    LOAD_FILE,
    LOAD_RUN,
    QUICK,
    RESUME,
    SPEC,
    SUITE,
    SUITE_CHANGE,
    SUITE_RUN,
    Setting,
)

F = TypeVar("F", bound=Callable[..., Any])

KINDS = {"an experiment": EXPERIMENT_RUN, "a suite": SUITE_RUN, "a load run": LOAD_RUN}
SCOPES_OF_COMMANDS = {
    "run": EXPERIMENT_RUN | SUITE_RUN,
    "load": LOAD | LOAD_FILE | LOAD_COMMAND,
    "check": CHECK,
    "resume": RESUME,
    "time": COMMANDS,
}
_IN_FILES = SPEC | SUITE | QUICK | SUITE_CHANGE | LOAD | LOAD_FILE | LOAD_COMMAND | COMMANDS
_ONE_TEXT = ("names",)
"""Lists that an option takes as one text, separated by commas."""


def settings_options(*scopes: frozenset[str], order: str = "") -> Callable[[F], F]:
    """The options of all settings of the scopes; those that ``order`` names come first, in its order.

    Two settings with one option (``--warmup`` of experiments and of suites) are one option; the file says which
    of them it is.
    """
    scope = frozenset[str]().union(*scopes)
    first = {name: position for position, name in enumerate(order.split())}
    found: dict[str, Setting[object]] = {}
    for setting in settings_of(scope):
        if setting.option:
            found.setdefault(setting.asked, setting)
    ordered = sorted(found.values(), key=lambda setting: first.get(setting.asked, len(first)))

    def decorate(function: F) -> F:
        for setting in reversed(ordered):
            function = setting_option(setting, scope)(function)
        return function

    return decorate


def setting_option(setting: Setting[object], scope: frozenset[str] = frozenset()) -> Callable[[F], F]:
    """One option with the limits and the words that its setting has in ``scope``."""
    text, spelled = setting.wording(scope).help, setting.option.split()
    if setting.types == ("boolean",):
        return click.option(*spelled, setting.asked, is_flag=True, help=text)
    given: dict[str, Any] = {"type": _type(setting), "metavar": setting.metavar or None}
    if _is_repeated(setting):
        given["multiple"] = True
    elif setting.shows_default and setting.scopes & _IN_FILES:  # what nobody said is as the file says it
        text = f"{text}  [default: {_shown(setting.default)}]"
    elif setting.shows_default:
        given |= {"default": setting.default, "show_default": True}
    if setting.metavar == "LIST":
        return click.option(*spelled, setting.asked, help=text, **{**given, **LISTED})
    return click.option(*spelled, setting.asked, help=text, **given)


def tolerance_option(function: F) -> F:
    return setting_option(TOLERANCE)(function)


def gate_options(function: F) -> F:
    return setting_option(STRICT)(setting_option(GATE_FLAG)(function))


def refuse_foreign(options: Mapping[str, object], kind: str) -> None:
    """An option that would change nothing is a mistake that the user wants to hear of."""
    meant = {setting.asked for setting in settings_of(KINDS[kind])}
    refuse(options, [item for item in settings_of(*KINDS.values()) if item.asked not in meant], kind)


def refuse_one_sided(options: Mapping[str, object], kind: str) -> None:
    """For a kind of another package: options that only experiments or only suites have mean nothing there."""
    shared = {item.asked for item in settings_of(EXPERIMENT_RUN)} & {item.asked for item in settings_of(SUITE_RUN)}
    foreign = [item for item in settings_of(EXPERIMENT_RUN | SUITE_RUN) if item.asked not in shared - {"against"}]
    refuse(options, foreign, kind)


def refuse(options: Mapping[str, object], settings: Sequence[Setting[object]], kind: str) -> None:
    """None of the settings may be among the options of a ``kind`` of run."""
    for setting in settings:
        if setting.option and options.get(setting.asked):
            raise click.UsageError(f"{_told(setting)} means nothing for {kind}")


def _told(setting: Setting[object]) -> str:
    spelled = setting.option.split()[-1]
    return f"{spelled} ({setting.hint})" if setting.hint else spelled


def _is_repeated(setting: Setting[object]) -> bool:
    return ("array" in setting.types or "object" in setting.types) and setting.spelled not in _ONE_TEXT


def _type(setting: Setting[object]) -> Any:
    if setting.choices:
        return click.Choice([str(choice) for choice in setting.choices])
    if setting.spelled == "file":
        return click.Path(dir_okay=False)
    if setting.spelled == "existing file":
        return click.Path(exists=True, dir_okay=False)
    highest = setting.maximum if setting.shows_maximum else None
    if "integer" in setting.types:
        return click.IntRange(_whole(setting.minimum), _whole(highest))
    if "number" in setting.types:
        lowest = setting.minimum if setting.above is None else setting.above
        return click.FloatRange(lowest, highest, min_open=setting.above is not None)
    return None


def _shown(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:,.12g}" if value >= 10_000 else f"{value:g}"
    return str(value)


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
