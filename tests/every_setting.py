"""All settings, wherever they belong."""

from __future__ import annotations

from agentdyno.settings import setting, settings_of

EVERYWHERE = frozenset[str]().union(*(value for value in vars(setting).values() if isinstance(value, frozenset)))


def all_settings() -> tuple[setting.Setting[object], ...]:
    """Every setting of every scope."""
    return settings_of(EVERYWHERE)
