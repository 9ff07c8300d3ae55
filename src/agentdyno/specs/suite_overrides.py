"""What the command line changes in a suite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SuiteOverrides:
    """``None`` and empty leave the suite as it is. Tags are added, all else replaces.

    ``limit`` is a number of cases of the whole suite, spread evenly over its benchmarks. ``benchmarks`` and ``cases``
    are ids (of cases also with wildcards). ``epochs`` and ``warmup`` hold for every benchmark. ``time_limit_s`` is
    for one case, ``time_budget_s`` for the whole run, both seconds; ``max_cost_usd`` for the whole run.
    """

    epochs: int | None = None
    limit: int | None = None
    concurrency: int | None = None
    warmup: int | None = None
    benchmarks: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    retries: int | None = None
    seed: int | None = None
    tags: tuple[str, ...] = ()
    notes: str | None = None
    output_dir: str | None = None
    time_limit_s: float | None = None
    time_budget_s: float | None = None
    max_cost_usd: float | None = None

    def document(self) -> dict[str, object]:
        """The overrides in the form of ``quick:``, to be validated like it."""
        document: dict[str, object] = {}
        for key in ("benchmarks", "cases", "agents", "tags"):
            values = getattr(self, key)
            if values:
                document[key] = list(values)
        for key in _SINGLE:
            value = getattr(self, key)
            if value is not None:
                document[key] = value
        if self.time_limit_s is not None:
            document["case_constraints"] = {"time_limit_ms": self.time_limit_s * 1000}
        if self.max_cost_usd is not None:
            document["constraints"] = {"cost_limit_usd": self.max_cost_usd}
        return document


_SINGLE = (
    *("epochs", "limit", "concurrency", "warmup", "retries", "seed"),
    *("notes", "output_dir", "time_budget_s"),
)
