"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from agentdyno import SpecError
from agentdyno_workloads.rl.dpo import Dpo, OnlineDpo
from agentdyno_workloads.rl.grpo import Grpo
from agentdyno_workloads.rl.gspo import Gspo
from agentdyno_workloads.rl.loss import Algorithm
from agentdyno_workloads.rl.ppo import Ppo

ALGORITHMS: dict[str, type[Algorithm]] = {kind.name: kind for kind in (Grpo, Gspo, Ppo, Dpo, OnlineDpo)}


def algorithm_named(name: str) -> Algorithm:
    """Raises ``SpecError`` with the nearest name."""
    if name not in ALGORITHMS:
        raise unknown_name("algorithm", name, tuple(ALGORITHMS))
    return ALGORITHMS[name]()


def unknown_name(what: str, name: str, known: Sequence[str]) -> SpecError:
    """The error for a name that is none of the ``known`` ones."""
    near = get_close_matches(name.lower(), known, n=1)
    return SpecError(
        f"no {what} is called {name!r}",
        where=f"params.{what}",
        remedy=f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}.",
    )
