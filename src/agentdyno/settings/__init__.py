"""Every setting once: its default, its limits, its words. Files, options, API and reference follow from it."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from agentdyno.settings.setting import (
    ALERTS,
    BANDS,
    COMMANDS,
    LOAD,
    LOAD_COMMAND,
    PROMPT_WORDS,
    SERVE,
    WORKER,
    Setting,
)

_HOMES: dict[str, frozenset[str] | None] = {
    "run": None,
    "result": None,
    "suite": None,
    "load": LOAD,
    "load_requests": LOAD | LOAD_COMMAND | PROMPT_WORDS,
    "judging": None,
    "service": SERVE | WORKER,
    "bands": BANDS,
    "commands": COMMANDS,
    "imports": frozenset(),
    "alerts": ALERTS,
}
"""Where settings are defined, and the only scopes that those of a module have, where that can spare loading it."""


def settings_of(*scopes: frozenset[str]) -> tuple[Setting[object], ...]:
    """The settings that belong to any of the scopes, in the order of definition."""
    wanted = frozenset[str]().union(*scopes)
    found: dict[int, Setting[object]] = {}
    for home, only in _HOMES.items():
        if only is None or only & wanted:
            found |= {id(setting): setting for setting in _defined_in(home) if id(setting) not in found}
    return tuple(setting for setting in found.values() if setting.scopes & wanted)


@cache
def _defined_in(home: str) -> tuple[Setting[object], ...]:
    values = vars(import_module(f"{__name__}.{home}")).values()
    return tuple(value for value in values if isinstance(value, Setting))
