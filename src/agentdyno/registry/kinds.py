"""What kinds of runs say about themselves, for those who show runs and know none of the kinds."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from agentdyno.registry.installed import installed, load

STRESS = "stress"
"""Findings of runs whose samples are windows of a load."""


@cache
def findings_of(kind: str) -> tuple[str, ...]:
    """What is concluded about runs of a kind, as the kind names it; nothing where the kind is not installed."""
    if kind not in installed("kinds"):
        return ()
    found: Any = load("kinds", kind)
    made: Any = found() if inspect.isclass(found) else found
    return tuple(made.findings)


def has_windows(kind: str) -> bool:
    """Whether the samples of such runs are windows of a load, and its conclusions tell what they say."""
    return STRESS in findings_of(kind)
