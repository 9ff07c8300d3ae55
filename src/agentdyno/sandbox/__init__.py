"""Limited subprocesses: memory limits, process groups, output caps. Standard library only.

Names are loaded when first used: a worker that only sends and receives messages starts no process itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentdyno.sandbox.command import CannotStart, Command, CommandLauncher, Completed
    from agentdyno.sandbox.process import LimitedProcess

__all__ = [
    "CannotStart",
    "Command",
    "CommandLauncher",
    "Completed",
    "LimitedProcess",
]
_HOMES = {"LimitedProcess": "process"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'command')}"), name)
    globals()[name] = value
    return value
