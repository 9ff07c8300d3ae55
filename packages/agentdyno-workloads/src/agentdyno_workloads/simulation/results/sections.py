"""The sections of the results page, each from one stored run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from agentdyno_workloads.simulation.results.figures import (
    FigureEstimate,
    FigureSource,
    duration,
    median_of,
    number,
    percent,
    times,
)
from agentdyno_workloads.simulation.timing import growth

CLAIMED = 0.336
"""Time saved by keeping the history in memory, as the documentation of AgentFarm's benchmarks gives it."""
PUBLISHED = {(20, 3): 1_889, (100, 6): 2_420, (200, 20): 1_698}
"""Observations a second of the original by agents and radius, as published, measured on other hardware."""
STEP_GOAL = 1.1
LARGE = 1_000
UNKNOWN = "–"
WIDTH = 118


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "|" + "---|" * len(header)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def paragraph(*lines: str) -> Iterator[str]:
    """Lines of text, broken anew to the width of the page."""
    yield from textwrap.wrap(" ".join(lines), WIDTH, break_long_words=False, break_on_hyphens=False)


def memory_db(source: FigureSource) -> Iterator[str]:
    """Disk, memory, memory and persisted: how long a whole run takes, and what is saved against disk."""
    rows, gains = [], []
    for agents in source.values("agents"):
        disk = source.arm(mode="disk", agents=agents)
        steps = source.run.arms[disk].params["steps"]
        for mode in source.values("mode"):
            arm = source.arm(mode=mode, agents=agents)
            took, size = source.median(arm, "duration_s"), source.median(arm, "result.database_bytes")
            found = None if arm == disk else source.ratio(disk, arm, "duration_s")
            saved, verdict = UNKNOWN, UNKNOWN
            if found is not None:
                saved, verdict = _saved(*found)
                if mode == "memory_persist":
                    gains.append(f"{saved} at {agents:,} agents × {steps} steps ({verdict})")
            rows.append(
                (
                    *(f"{agents:,}", f"{steps}", f"`{mode}`"),
                    UNKNOWN if took is None else took.show(duration),
                    UNKNOWN if size is None else f"{size.value / 1e6:.2f} MB",
                    *(saved, verdict),
                )
            )
    yield from paragraph(
        "The same simulation with its history on disk, in memory, and in memory and then written to disk through",
        "SQLite's backup. The history is the same in all three, which is checked; times are of the whole run.",
    )
    yield ""
    yield from table(("agents", "steps", "mode", "time", "database", "time saved against disk", "verdict"), rows)
    yield ""
    yield from paragraph(
        f"In memory and persisted, the time saved is {'; '.join(gains) or UNKNOWN}. A saving below 0 is a loss.",
        f"The documentation of AgentFarm's benchmarks, which these experiments follow, gives {CLAIMED:.1%} for its",
        "own implementation and machine. How much there is to save depends on how often a database on disk is",
        "waited for: here",
        f"{', '.join(str(value) for value in source.values('commit_every'))} steps share a transaction.",
    )


def _saved(ratio: FigureEstimate, verdict: str) -> tuple[str, str]:
    turned = None if ratio.interval is None else (1 - ratio.interval[1], 1 - ratio.interval[0])
    return FigureEstimate(1 - ratio.value, turned).show(percent), verdict or UNKNOWN


def observation(source: FigureSource) -> Iterator[str]:
    """Observations a second, beside what was published of the original."""
    rows = []
    channels: object = None
    for arm, result in enumerate(source.run.arms):
        agents, radius = result.params["agents"], result.params["radius"]
        channels = result.observed.get("channels", channels)
        observed, whole = (
            source.median(arm, f"result.{name}") for name in ("observations_per_s", "with_world_per_s")
        )
        published = PUBLISHED.get((agents, radius)) if isinstance(agents, int) and isinstance(radius, int) else None
        rows.append(
            (
                *(f"{agents}", f"{radius}", " × ".join(str(size) for size in _list(result.observed.get("picture")))),
                UNKNOWN if observed is None else observed.show(number),
                UNKNOWN if whole is None else whole.show(number),
                UNKNOWN if published is None else f"{published:,}",
                *(
                    UNKNOWN if published is None or rate is None else f"{rate.value / published:,.1f}×"
                    for rate in (observed, whole)
                ),
            )
        )
    names = _list(channels)
    yield from paragraph(
        "An observation is the whole float32 array of one agent at one step, centred on the agent:",
        f"{len(names)} channels ({', '.join(str(name) for name in names)}).",
        "The first rate counts the time of observing alone, the second that of the simulation's steps as well.",
    )
    yield ""
    yield from table(
        (
            *("agents", "radius", "array", "observations/s", "with the simulation"),
            *("published, other hardware", "observing, times published", "with the simulation, times published"),
        ),
        rows,
    )
    yield ""
    yield from paragraph(
        "The published figures were measured for the original implementation, on another machine with other",
        "software; they say how large the numbers once were, not how two programs compare.",
    )


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def spatial(source: FigureSource) -> Iterator[str]:
    """Times as ratios to SciPy's tree in the same iteration, and exponents."""
    yield from paragraph(
        "Every point asks for all points within a radius, in one batch, in a world of constant density; all indexes",
        "give equal answers, which is checked. Ratios are of times in the same iteration: below 1 is faster than",
        "SciPy's cKDTree, whose time includes putting its lists into the arrays that all indexes answer with",
        "(`benchmarks/simulation.py` shows its bare call as well). An exponent is that of a power law through the",
        "medians at all sizes, with Student's",
        "interval: it is wide where the law does not fit.",
    )
    for operation in source.values("operation"):
        arm = source.arm(operation=operation)
        sizes = [size for size in _list(source.run.arms[arm].params["sizes"]) if isinstance(size, int)]
        names = [str(name) for name in _list(source.run.arms[arm].observed.get("indexes"))]
        rows = []
        for name in sorted(names, key=lambda name: name != "scipy"):
            cells = []
            for size in sizes:
                reference = source.samples(arm, f"result.scipy_{size}_s")
                own = source.samples(arm, f"result.{name}_{size}_s")
                if name == "scipy":
                    cells.append(median_of(own).show(duration))
                else:
                    cells.append(median_of([a / b for a, b in zip(own, reference, strict=True)]).show(times))
            medians = [median_of(source.samples(arm, f"result.{name}_{size}_s")).value for size in sizes]
            rows.append((f"`{name}`", *cells, _exponent(sizes, medians)))
        yield ""
        yield f"`{operation}`:"
        yield ""
        yield from table(("index", *(f"n = {size:,}" for size in sizes), "exponent"), rows)


def _exponent(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    law = growth(sizes, seconds)
    interval = "" if law.interval is None else f" [{law.interval[0]:.2f}, {law.interval[1]:.2f}]"
    return f"{law.exponent:.2f}{interval}"


def pragma(source: FigureSource) -> Iterator[str]:
    """Operations a second of each profile, and over the balanced one."""
    rows_of = {result.params["rows"] for result in source.run.arms}
    yield from paragraph(
        f"{', '.join(f'{rows:,}' for rows in sorted(rows_of, key=str))} rows. Operations are rows written in",
        "transactions of 1,000, queries, or both with 20 changed rows to 80 questions a transaction; closing the",
        "connection is in the time. The ratio is to `balanced` with the same work in the same run: above 1 is",
        "faster.",
    )
    yield ""
    workloads = source.values("workload")
    rows = []
    for profile in source.values("profile"):
        cells = []
        for workload in workloads:
            arm = source.arm(profile=profile, workload=workload)
            rate = source.median(arm, "result.ops_per_s")
            balanced = source.arm(profile="balanced", workload=workload)
            found = None if arm == balanced else source.ratio(balanced, arm, "result.ops_per_s")
            cells.append(UNKNOWN if rate is None else rate.show(number))
            cells.append("1" if arm == balanced else UNKNOWN if found is None else found[0].show(times))
        rows.append((f"`{profile}`", *cells))
    header = [text for workload in workloads for text in (f"{workload}, ops/s", "over balanced")]
    yield from table(("profile", *header), rows)
    yield ""
    yield from _settings(source)


def _settings(source: FigureSource) -> Iterator[str]:
    names = ("journal_mode", "synchronous", "cache_size", "temp_store", "mmap_size", "locking_mode")
    rows = []
    for profile in source.values("profile"):
        observed = source.run.arms[source.arms(profile=profile)[0]].observed
        told = observed.get("integrity_after_kill", UNKNOWN)
        rows.append((f"`{profile}`", *(str(observed.get(name, UNKNOWN)) for name in names), str(told)))
    yield from paragraph(
        "What was in force, as SQLite reported it, and what `integrity_check` said of a database whose writer had",
        "been killed with `kill -9` in mid-transaction (every commit was there, and nothing of the open",
        "transaction):",
    )
    yield ""
    yield from table(("profile", *names, "after kill -9"), rows)
    yield ""
    yield from paragraph(
        "A loss of power is **not tested** here. What SQLite's documentation says of it: with `synchronous` OFF a",
        "database can be damaged when the system crashes or the power fails; with a write-ahead log and NORMAL it",
        "stays consistent, but the latest commits can be lost; with a rollback journal and EXTRA a commit that",
        "has returned is kept ([PRAGMA synchronous](https://www.sqlite.org/pragma.html#pragma_synchronous)).",
        "By that, `performance` is for data that can be made again.",
    )


def redis(source: FigureSource) -> Iterator[str]:
    """Entries a second, one a round trip and pipelined."""
    arm = 0
    result = source.run.arms[arm]
    params = result.params
    entries = int(str(params["agents"])) * int(str(params["entries"]))
    rows = []
    for name in ("write", "read", "search"):
        single, batch = (source.median(arm, f"result.{name}{kind}_per_s") for kind in ("", "_pipelined"))
        gained = median_of(
            [
                b / a
                for a, b in zip(
                    source.samples(arm, f"result.{name}_per_s"),
                    source.samples(arm, f"result.{name}_pipelined_per_s"),
                    strict=True,
                )
            ]
        )
        cells = (UNKNOWN if figure is None else figure.show(number) for figure in (single, batch))
        rows.append((name, *cells, gained.show(times)))
    yield from paragraph(
        f"Redis {result.observed.get('redis', UNKNOWN)} on the same machine, one connection, {entries:,} entries;",
        f"batches of {params['batch']}. A write is `SET` and `ZADD`, a read is `GET`, a search asks for all entries",
        "in a disc. What is read equals what was written, and a search finds what looking at all entries finds:",
        "checked in every iteration.",
    )
    yield ""
    yield from table(("operation", "a second, one a round trip", "a second, pipelined", "gain"), rows)
    yield ""
    size, grown, gone = (
        source.median(arm, f"result.{name}")
        for name in ("bytes_per_entry", "server_bytes_per_entry", "cleanup_per_s")
    )
    yield from paragraph(
        f"An entry takes {_shown(size)} bytes by `MEMORY USAGE`, and the server grew by {_shown(grown)} for each;",
        f"{_shown(gone)} entries a second are removed.",
        "`benchmarks/simulation.py` sets the figures beside those of redis-benchmark on the same server.",
    )


def _shown(figure: FigureEstimate | None) -> str:
    return UNKNOWN if figure is None else figure.show(number)


def steps(source: FigureSource) -> Iterator[str]:
    """What a step costs as agents grow, and with which power."""
    rows, sizes, seconds = [], [], []
    for arm, result in enumerate(source.run.arms):
        step, rate = (source.median(arm, f"result.{name}") for name in ("step_mean_s", "agent_steps_per_s"))
        if step is None or rate is None:
            continue
        sizes.append(int(str(result.params["agents"])))
        seconds.append(step.value)
        rows.append((f"{sizes[-1]:,}", step.show(duration), rate.show(number)))
    yield from paragraph(
        "The step loop at constant density, without a log: mean time of a step, and agents moved on by a step in a",
        "second.",
    )
    yield ""
    yield from table(("agents", "a step", "agent steps/s"), rows)
    if len(set(sizes)) > 1:
        law = growth(sizes, seconds)
        yield ""
        yield from paragraph(
            f"Time grows with the number of agents to the power {_exponent(sizes, seconds)}; the goal is at most",
            f"{STEP_GOAL:g}, which is {'met' if law.exponent <= STEP_GOAL else 'missed'}. A fixed price of every",
            f"step flatters small worlds: {_large(sizes, seconds)}.",
        )


def _large(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """The exponent without the sizes at which what every step costs anyway is much of its time."""
    large = [(size, took) for size, took in zip(sizes, seconds, strict=True) if size >= LARGE]
    if len(large) < 2:
        return f"there are no sizes from {LARGE:,} on to leave it out with"
    return f"from {LARGE:,} agents on the power is {_exponent(*zip(*large, strict=True))}"
