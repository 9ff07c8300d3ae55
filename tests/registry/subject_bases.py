"""Base classes that live in another module than their subclasses."""

from dataclasses import dataclass

from agentdyno import Experiment, ExperimentContext


class Elsewhere(Experiment):
    """A base."""

    def __init__(self, width: int = 8, *, height: float = 1.5) -> None:
        super().__init__({"width": width, "height": height})

    def execute_once(self, context: ExperimentContext) -> None: ...


@dataclass(frozen=True)
class ElsewhereFields:
    """Fields."""

    first: bool = True
    size: int = 1
