"""What an executor is told about an arm: the code, its parameters, and where to run it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.model.spec import GcPolicy, Limits
from agentdyno.settings.run import WARMUP


@dataclass(frozen=True, slots=True)
class CodeReference:
    """An object by module, or by files and the name it has there. ``imports`` are loaded before it."""

    name: str
    module: str | None = None
    files: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """The interpreter and surroundings of an arm's processes. ``label`` says in words what they are.

    ``code_root`` is the project whose loaded files the worker fingerprints, to prove which code really ran.
    """

    python: str = sys.executable
    cwd: str | None = None
    sys_path: tuple[str, ...] = ()
    label: str = "this environment"
    code_root: str | None = None


@dataclass(frozen=True, slots=True)
class InstrumentJob:
    """An instrument by code and options."""

    name: str
    code: CodeReference
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArmJob:
    """Everything a process needs to execute trials of one arm.

    ``cpu`` is where it is kept if it turns out to use one CPU only; ``None`` leaves that to the system.
    ``reference_s`` is what each process may always spend on reference readings; 0 is for none at all.
    """

    run_id: str
    arm_id: str
    code: CodeReference
    params: Mapping[str, object]
    seed: int
    warmup: int = WARMUP.default
    inner_loops: int | None = None
    gc: GcPolicy = GcPolicy.NORMAL
    cpu: int | None = None
    instruments: tuple[InstrumentJob, ...] = ()
    artifacts_dir: str = ""
    limits: Limits = field(default_factory=Limits)
    launch: Launch = field(default_factory=Launch)
    reference_s: float = 0.0

    def make_artifacts_dir(self) -> None:
        """Called before the first trial of the arm, and not earlier: a run that cannot begin leaves no folder."""
        if self.artifacts_dir:
            Path(self.artifacts_dir).mkdir(parents=True, exist_ok=True)
