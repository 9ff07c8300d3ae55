"""What a task is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

BASIC, INTERMEDIATE, ADVANCED = "basic", "intermediate", "advanced"
TIERS = (BASIC, INTERMEDIATE, ADVANCED)


@dataclass(frozen=True, slots=True)
class TaskStep:
    """One step of a reference plan."""

    id: str
    command: str
    needs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def plain(self) -> dict[str, object]:
        return {
            "id": self.id,
            "command": self.command,
            "needs": list(self.needs),
            "outputs": list(self.outputs),
        }


@dataclass(frozen=True, slots=True)
class WorkflowTask:
    """``module`` has ``make_<name>(folder, seed)`` and ``check_<name>(state, seed)``, with blanks of the id as ``_``.

    ``plan`` is the reference: a way that works. ``trap`` says what is wrong on purpose, in a few words.
    """

    id: str
    tier: str
    prompt: str
    module: str
    plan: Sequence[TaskStep]
    quota_mb: float | None = None
    trap: str = ""
    seed: int = field(default=7)

    def case(self) -> dict[str, object]:
        """As a row of a data set."""
        name = self.id.replace("-", "_")
        workflow: dict[str, object] = {
            "make": f"{self.module}:make_{name}",
            "check": f"{self.module}:check_{name}",
            "seed": self.seed,
        }
        if self.quota_mb is not None:
            workflow["quota_mb"] = self.quota_mb
        metadata: dict[str, object] = {"workflow": workflow, "tier": self.tier}
        if self.trap:
            metadata["trap"] = self.trap
        return {"id": self.id, "input": self.prompt, "metadata": metadata}
