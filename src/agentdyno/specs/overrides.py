"""What the command line changes in a spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agentdyno.errors import SpecError, nearest
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.model.spec import Spec

COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class Overrides:
    """``None`` and empty leave the spec as it is. Tags and instruments are added, all else replaces.

    ``params`` replace a parameter or sweep of the same name in every entry; a list is a sweep where the parameter
    is not itself a list. Times are seconds.
    """

    params: Mapping[str, object] = field(default_factory=dict)
    iterations: int | None = None
    warmup: int | None = None
    instruments: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    name: str | None = None
    notes: str | None = None
    output_dir: str | None = None
    seed: int | None = None
    isolation: str | None = None
    order: str | None = None
    processes: int | None = None
    parallelism: int | None = None
    timeout_s: float | None = None
    time_budget_s: float | None = None

    def document(self) -> dict[str, object]:
        """The overrides in the form of a file, to be validated like one."""
        document: dict[str, object] = {}
        counts = {"measured": self.iterations, "warmup": self.warmup}
        counts = {key: value for key, value in counts.items() if value is not None}
        if counts:
            document["iterations"] = counts
        if self.params:
            document["params"] = dict(self.params)
        for key, values in (("instrumentation", self.instruments), ("imports", self.imports), ("tags", self.tags)):
            if values:
                document[key] = list(values)
        for key in _SINGLE:
            value = getattr(self, key)
            if value is not None:
                document[key] = value
        return document


_SINGLE = (
    "name",
    "notes",
    "output_dir",
    "seed",
    "isolation",
    "order",
    "processes",
    "parallelism",
    "timeout_s",
    "time_budget_s",
)


def fit_overrides(spec: Spec, params: Mapping[str, object], infos: Mapping[str, ExperimentInfo]) -> Spec:
    """Leaves overridden ``params`` only in the entries whose experiment has them.

    ``infos`` describes each experiment by the reference that the spec uses. A name that no experiment has is an
    error. Needed for specs of several experiments; without it the sweep refuses such a parameter.
    """
    known = [infos[entry.experiment] for entry in spec.entries]
    for name in params:
        if not any(info.open or info.parameter(name) for info in known):
            names = [parameter.name for info in known for parameter in info.parameters]
            raise SpecError(
                f"no experiment of {spec.name} has a parameter {name!r}",
                where=f"{COMMAND_LINE}: params.{name}",
                remedy=nearest(name, names),
            )
    entries = []
    for entry, info in zip(spec.entries, known, strict=True):
        foreign = {name for name in params if not info.open and info.parameter(name) is None}
        kept = {name: value for name, value in entry.params.items() if name not in foreign}
        entries.append(replace(entry, params=kept))
    return replace(spec, entries=tuple(entries))
