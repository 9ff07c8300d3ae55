"""Realistic results and comparisons, made without running anything."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.contracts import Report
from agentdyno.model import (
    ArmComparison,
    ArmResult,
    Comparison,
    Direction,
    Entry,
    Environment,
    Failure,
    FailureKind,
    Findings,
    Metric,
    MetricComparison,
    MetricSummary,
    Phase,
    RunResult,
    RunStatus,
    RunWarning,
    Sample,
    Spec,
    Status,
    Vcs,
    Verdict,
    known_metric,
)
from agentdyno.model.identity import experiment_arm_id

STARTED = 1_772_374_000_000
RUN_ID = "019ca9c1-4d80-7abc-8def-0123456789ab"
SCRIPT = "<script>alert(1)</script>"


class Factory:
    """Builds values of the vocabulary; every number comes from a seeded generator."""

    def summary(self, name: str, values: Sequence[float], metric: Metric | None = None) -> MetricSummary:
        known = metric or known_metric(name)
        ordered = sorted(values)
        n = len(ordered)
        median, mean = statistics.median(ordered), statistics.fmean(ordered)
        std = statistics.stdev(ordered) if n > 1 else 0.0
        half = 1.25 * 1.96 * std / n**0.5
        return MetricSummary(
            unit=known.unit,
            direction=known.direction,
            provenance=known.provenance,
            n=n,
            mean=mean,
            median=median,
            p95=ordered[min(n - 1, int(0.95 * n))],
            p99=ordered[min(n - 1, int(0.99 * n))],
            ci=(median - half, median + half) if n >= 6 else None,
            std=std,
            mad=statistics.median(abs(value - median) for value in ordered),
            cv=std / mean if mean and n > 1 else None,
            minimum=ordered[0],
            maximum=ordered[-1],
        )

    def samples(self, arm_id: str, durations: Sequence[float], extra: Mapping[str, float]) -> list[Sample]:
        return [
            Sample(
                arm_id=arm_id,
                phase=Phase.MEASURED,
                iteration=i,
                status=Status.OK,
                started_at_ms=STARTED + 10 * i,
                readings={"duration_s": value, "cpu_s": value * 0.97, "peak_rss_bytes": 52_428_800.0, **extra},
            )
            for i, value in enumerate(durations)
        ]

    def arm(
        self,
        name: str = "sort",
        durations: Sequence[float] = (0.00123, 0.00124, 0.00121, 0.00126, 0.00122, 0.00125),
        params: Mapping[str, object] | None = None,
        failures: Sequence[Sample] = (),
        extra: Mapping[str, float] | None = None,
        declared: Mapping[str, Metric] | None = None,
    ) -> ArmResult:
        arm_id = experiment_arm_id(name, params or {})
        samples = [*self.samples(arm_id, durations, extra or {}), *(replace(f, arm_id=arm_id) for f in failures)]
        names = samples[0].readings if durations else {}
        metrics = {
            key: self.summary(key, [s.readings[key] for s in samples if key in s.readings], (declared or {}).get(key))
            for key in names
        }
        if durations and all(durations):
            metrics["throughput_per_s"] = self.summary("throughput_per_s", [1 / value for value in durations])
        counts: dict[str, int] = {}
        for sample in samples:
            counts[sample.status.value] = counts.get(sample.status.value, 0) + 1
        return ArmResult(
            arm_id=arm_id,
            name=name,
            experiment=name.split("[")[0],
            params=params or {},
            observed={"threads": 1},
            metrics=metrics,
            statuses=counts,
            planned=len(samples),
            samples_total=len(samples),
            samples=tuple(samples),
        )

    def failure(self, iteration: int = 0, message: str = "boom", status: Status = Status.ERROR) -> Sample:
        kind = {Status.TIMEOUT: FailureKind.TIMEOUT, Status.LIMIT: FailureKind.MEMORY}.get(
            status, FailureKind.EXCEPTION
        )
        trace = f"Traceback (most recent call last):\n  in execute_once\nValueError: {message}"
        failure = Failure(kind, message, "execute", trace)
        return Sample("", Phase.MEASURED, 100 + iteration, status, STARTED, failure=failure)

    def result(self, arms: Sequence[ArmResult], name: str = "sorting", **changes: object) -> RunResult:
        result = RunResult(
            run_id=RUN_ID,
            kind="experiment",
            name=name,
            status=RunStatus.COMPLETE,
            started_at=STARTED,
            finished_at=STARTED + 72_000,
            seed=7,
            spec=Spec(name, (Entry("sort", {"size": 10}),)),
            environment=Environment(
                machine_id="a1b2c3d4",
                os="Linux",
                kernel="6.1",
                cpu_model="Example CPU 3 GHz",
                cpu_count=8,
                memory_bytes=17_179_869_184,
                python="3.11.4",
                implementation="CPython",
                agentdyno="0.1.0",
                packages={"numpy": "2.0"},
            ),
            vcs=Vcs("0123456789abcdef0123456789abcdef01234567", "main", True),
            arms=tuple(arms),
            overhead_s=180e-9,
        )
        return replace(result, **changes)  # type: ignore[arg-type]

    def sweep(
        self, sizes: Sequence[int] = (10, 100, 1000, 10_000), kinds: Sequence[str] = ("quick", "merge")
    ) -> RunResult:
        rng = random.Random(3)
        arms = []
        for kind_number, kind in enumerate(kinds):
            for size in sizes:
                base = size * 1.1e-6 * (1 + 0.4 * kind_number) + 4e-6
                durations = [base * rng.lognormvariate(0, 0.03) for _ in range(40)]
                durations[17] *= 1.3
                arms.append(self.arm(f"sort[size={size},kind={kind}]", durations, {"size": size, "kind": kind}))
        return self.result(arms)

    def rich(self) -> RunResult:
        """A sweep with declared metrics, profiles, a series, failures and warnings."""
        base = self.sweep()
        declared = {"result.accuracy": Metric("result.accuracy", "ratio", Direction.HIGHER)}
        extra = {"result.accuracy": 0.93, "result.comparisons": 1234.0}
        special = self.arm(
            "search[index=hnsw]",
            [0.0021 + 0.00001 * (i % 7) for i in range(30)],
            {"index": "hnsw"},
            [self.failure(i, "index is empty") for i in range(2)] + [self.failure(3, "over 5 s", Status.TIMEOUT)],
            extra,
            declared,
        )
        profile = Sample(
            special.arm_id,
            Phase.INSTRUMENTED,
            0,
            Status.OK,
            STARTED,
            instrument="cprofile",
            details={
                "cprofile": {
                    "top": [
                        {
                            "function": f"index.py:{10 * i}(step_{i})",
                            "calls": 9 * i,
                            "total_s": 0.1 / i,
                            "cumulative_s": 0.2 / i,
                        }
                        for i in range(1, 9)
                    ]
                },
                "tracemalloc": {"top": [{"where": "index.py:40", "size_bytes": 4_000_000, "count": 812}]},
                "psutil": {
                    "series": {
                        "t_s": [0.05 * i for i in range(40)],
                        "rss_bytes": [5e7 + 4e5 * i for i in range(40)],
                        "cpu_percent": [60.0 + (i * 37 % 40) for i in range(40)],
                    }
                },
            },
        )
        special = replace(special, samples=(*special.samples, profile))
        warning = RunWarning(
            "noisy", "The machine was busy: load 3.2 on 8 CPUs.", "Close other programs and run again."
        )
        return replace(base, arms=(*base.arms, special), warnings=(warning,), tags=("nightly",))

    def row(self, verdict: Verdict | None, name: str = "duration_s", **changes: object) -> MetricComparison:
        ratio = {Verdict.WORSE: 1.124, Verdict.BETTER: 0.871, Verdict.SAME: 1.002}.get(verdict or Verdict.SAME, 1.021)
        row = MetricComparison(
            metric=known_metric(name),
            baseline_n=30,
            candidate_n=30,
            baseline=0.00123,
            candidate=0.00123 * ratio,
            ratio=ratio,
            interval=(ratio - 0.02, ratio + 0.02),
            p_value=0.001,
            verdict=verdict,
            reason={None: "direction unknown", Verdict.INCONCLUSIVE: "the interval crosses the threshold"}.get(
                verdict, "significant and above the threshold"
            ),
            threshold=0.03,
            detectable=0.041,
            more_samples=45 if verdict is Verdict.INCONCLUSIVE else None,
        )
        return replace(row, **changes)  # type: ignore[arg-type]

    def comparison(self, *verdicts: Verdict | None, **changes: object) -> Comparison:
        arms = tuple(
            ArmComparison(
                f"sort[size={10 ** (i + 1)},kind=quick]",
                f"a{i}",
                f"b{i}",
                metrics=(self.row(verdict), self.row(None, "result.comparisons")),
            )
            for i, verdict in enumerate(verdicts)
        )
        value = Comparison(
            "main@0123456",
            "feature@89abcde",
            False,
            arms,
            only_in_baseline=("sort[size=5]",),
            noise_floor=0.018,
            warnings=(RunWarning("other-python", "The sides used different Pythons.", "Use one interpreter."),),
        )
        return replace(value, **changes)  # type: ignore[arg-type]

    def report(self, *results: RunResult, comparisons: Sequence[Comparison] = ()) -> Report:
        return Report(tuple(results), Findings(comparisons=tuple(comparisons)))

    def degenerate(self) -> dict[str, Report]:
        """Results at the edge: nothing may crash on them."""
        errors = [self.failure(i) for i in range(3)]
        hostile = f"{SCRIPT}|$x^2$ `a` \x1b[31m\x00 =1+1 {'long' * 40} 漢字 🚀"
        many = [self.arm(f"arm[n={i}]", params={"n": i}) for i in range(200)]
        numberless = replace(self.arm(), metrics={})
        infinite = self.arm("infinite", [float("inf"), float("nan"), 1.0][2:])
        infinite = replace(
            infinite,
            samples=tuple(replace(s, readings={"duration_s": float("inf")}) for s in infinite.samples),
            metrics={"duration_s": replace(infinite.metrics["duration_s"], median=float("nan"), mean=float("inf"))},
        )
        cases = {
            "no arms": self.result([]),
            "no samples": self.result([self.arm(durations=())]),
            "all failed": self.result([self.arm(durations=(), failures=errors)], status=RunStatus.FAILED),
            "one sample": self.result([self.arm(durations=(0.5,))]),
            "constant": self.result([self.arm(durations=(0.25,) * 12), self.arm("other", (0.25,) * 12)]),
            "zero": self.result([self.arm(durations=(0.0,) * 8), self.arm("other", (0.0,) * 8)]),
            "missing metrics": self.result([numberless]),
            "not finite": self.result([infinite, replace(infinite, name="again")]),
            "huge range": self.result([self.arm(durations=(1e-9, 1e3, 1e3, 1e3, 1e3, 2e3))]),
            "many arms": self.result(many),
            "hostile names": self.result(
                [self.arm(hostile, params={hostile: hostile}, failures=errors), self.arm(hostile + "2")], hostile
            ),
            "running": self.result([self.arm()], status=RunStatus.RUNNING, finished_at=None, vcs=None),
        }
        reports = {name: Report((result,), Findings()) for name, result in cases.items()}
        reports["nothing"] = Report((), Findings())
        empty = Comparison("a", "b", False, ())
        unknown = self.comparison(None)
        odd = self.comparison(Verdict.WORSE)
        row = replace(self.row(Verdict.WORSE), ratio=None, interval=None, baseline=0.0, candidate=float("inf"))
        odd = replace(odd, arms=(replace(odd.arms[0], name=hostile, metrics=(row,)),))
        reports["odd comparisons"] = Report((), Findings(comparisons=(empty, unknown, odd)))
        return reports
