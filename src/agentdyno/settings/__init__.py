"""Every setting once: its default, its limits, its words. Files, options, API and reference follow from it."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from agentdyno.settings.setting import Setting

_HOMES = ("run", "result", "suite", "load", "load_requests", "judging", "service")


@cache
def all_settings() -> tuple[Setting[object], ...]:
    """Every setting that a module of this package defines, in the order of definition."""
    found: dict[int, Setting[object]] = {}
    for home in _HOMES:
        for value in vars(import_module(f"{__name__}.{home}")).values():
            if isinstance(value, Setting):
                found.setdefault(id(value), value)
    return tuple(found.values())


def settings_of(*scopes: frozenset[str]) -> tuple[Setting[object], ...]:
    """The settings that belong to any of the scopes."""
    wanted = frozenset[str]().union(*scopes)
    return tuple(setting for setting in all_settings() if setting.scopes & wanted)
