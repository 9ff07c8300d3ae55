"""How often separate runs are judged wrongly on a busy machine, and how far figures wander between them.

Every run is a whole run of a suite (20 cases, 3 tries each), stored as any other; verdicts are those of
`dyno compare`, `dyno changes` and a gate. The first table: equal code and +30 % work beside a process that loads the
machine in bursts, each held against the unchanged run before it, with five earlier ones known. Pairs overlap (an
unchanged run is known to six of them), so that they are fewer than they seem; chains of other folders are independent
of each other. Mann-Whitney and pyperf's rule judge the same runs. The other table: the spread between runs by kind of
subject.

Stopped and started again with the same --folder it goes on where it was.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.background_load import loaded
from benchmarks.ratio_table import met, print_heading, print_table
from benchmarks.separate_chain import EARLIER, Concluded, Judge, Pair, Workspace, chain, durations, order_of_runs
from benchmarks.separate_subjects import KINDS

from agentdyno.findings.figures.normalised import SPENT
from agentdyno.findings.record.judge_spread import RAW, RunFigure, steadiest_way, way_value, within_spread
from agentdyno.runs.host_state import host_id
from agentdyno.runs.learning import figures_of
from agentdyno.runs.normalising import WAYS
from agentdyno.stats import mann_whitney, wilson
from agentdyno.store import Store

FALSE_ALARMS, JUDGED, FOUND, SMALL = 8 / 400, 0.95, 0.80, 0.045
"""The goals: at most, at least, at least where the remaining spread is at most."""
_Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair as our rule and the peers' see it. ``more`` is with more work, ``slowed`` the same code with times made
    longer by the smallest detectable change; both ``None`` where no more work was run."""

    same: Concluded
    more: Concluded | None
    slowed: Concluded | None
    peers_same: tuple[bool, bool]
    peers_more: tuple[bool, bool]


def mann_whitney_rule(first: Sequence[float], second: Sequence[float]) -> bool:
    return mann_whitney(first, second).p_value < 0.05


def pyperf_rule(first: Sequence[float], second: Sequence[float]) -> bool:
    """What ``pyperf compare_to`` calls significant: Student's t over samples at 5 %."""
    from scipy.stats import ttest_ind

    return bool(ttest_ind(first, second, equal_var=True).pvalue < 0.05)


PEERS = {"Mann-Whitney, p < 0.05": mann_whitney_rule, "pyperf's rule": pyperf_rule}


def outcomes(store: Store, pairs: Sequence[Pair], say: _Say) -> list[Outcome]:
    found = []
    with tempfile.TemporaryDirectory(prefix="dyno-window-") as folder:
        judge = Judge(store, Path(folder))
        for number, pair in enumerate(pairs, start=1):
            found.append(_outcome(store, judge, pair))
            say(f"\rjudged {number} of {len(pairs)} ")
    say("\r")
    return found


def _outcome(store: Store, judge: Judge, pair: Pair) -> Outcome:
    same = judge.asked(pair, pair.same)
    visible = same.time.detectable
    before, again = (durations(store.runs.load(run_id)) for run_id in (pair.baseline, pair.same))
    more = None if pair.more is None else durations(store.runs.load(pair.more))
    alarms, hits = [], []
    for rule in PEERS.values():
        alarms.append(rule(before, again))
        hits.append(more is not None and rule(before, more) and median(more) > median(before))
    return Outcome(
        same,
        None if pair.more is None else judge.asked(pair, pair.more),
        None if visible is None or pair.more is None else judge.asked(pair, pair.same, 1.0 + visible),
        (alarms[0], alarms[1]),
        (hits[0], hits[1]),
    )


def show_pairs(store: Store, kind: str, pairs: Sequence[Pair], say: _Say) -> None:
    found = outcomes(store, pairs, say)
    total, changed = len(found), [item for item in found if item.more is not None]
    judged = sum(item.same.judged for item in found)
    alarms = sum(bool(item.same.alarmed) for item in found)
    hits = sum(item.more is not None and item.more.slower for item in changed)
    told = sum((item.same.change in ("better", "worse")) == item.same.time_alarmed for item in found)
    by_row = Counter(name for item in found for name in item.same.alarmed)
    own = {pair.baseline for pair in pairs}
    raw_sd, left_sd = _spreads([figure for figure in _figures(store) if figure.run_id in own])
    rows = [("ours", *_cells(alarms, total, hits, len(changed)), f"{judged}")]
    for place, name in enumerate(PEERS):
        wrong, right = (sum(item.peers_same[place] for item in found), sum(i.peers_more[place] for i in changed))
        rows.append((name, *_cells(wrong, total, right, len(changed)), f"{total}"))
    goals = [
        f"false alarms at most {FALSE_ALARMS:.0%}: {met(alarms <= FALSE_ALARMS * total)}",
        f"judged at least {JUDGED:.0%}: {met(judged >= JUDGED * total)}",
    ]
    if left_sd <= SMALL:
        goals.append(f"+30 % found in at least {FOUND:.0%}: {met(hits >= FOUND * len(changed))}")
    small = [item.more for item in changed if item.more is not None and item.more.spread <= SMALL]
    if small:
        found_small = sum(item.slower for item in small)
        share = f"found in {found_small} of {len(small)}: {met(found_small >= FOUND * len(small))}"
        goals.append(f"+30 % where the spread that the row names is at most {SMALL}, at least {FOUND:.0%}: {share}")
    visible = [item.same.time.detectable for item in found if item.same.time.detectable is not None]
    shown = [item.slowed.time for item in found if item.slowed is not None]
    seen = fmean((row.p_value or 1.0) < row.level and (row.change or 0.0) > 0 for row in shown) if shown else 0.0
    print_table(
        f"{kind}: {total} pairs of separate runs, {EARLIER} earlier runs known; "
        f"spread of the time {raw_sd:.3f} raw, {left_sd:.3f} normalised",
        ("rule", "alarms on equal code", "95 % interval", "+30 % found", "judged"),
        rows,
        (
            *goals,
            f"Rows that alarmed on equal code: {dict(by_row) or 'none'}.",
            f"`dyno changes` says the same as `dyno compare` in {told} of {total}.",
            f"Smallest detectable change: {median(visible):+.1%} (median); times made longer by what each pair "
            f"prints are called slower in {seen:.0%} (80 % wanted).",
        ),
    )


def _cells(alarms: int, total: int, hits: int, changed: int) -> tuple[str, str, str]:
    interval = wilson(alarms, total)
    return f"{alarms} of {total}", f"{interval.low:.1%} to {interval.high:.1%}", f"{hits} of {changed}"


def _figures(store: Store) -> list[RunFigure]:
    return figures_of(store.runs.repeated(host_id(), limit=100_000))


def _spreads(own: Sequence[RunFigure]) -> tuple[float, float]:
    """Of the time as it was, and of what the usual way of normalising leaves."""
    raw_sd = within_spread(own, lambda figure: figure.values.get(RAW))[0]
    return raw_sd, within_spread(own, way_value(WAYS[0], own[-1].values))[0]


def show_kinds(space: Workspace, store: Store, count: int, say: _Say) -> None:
    """Runs of all kinds in turns, so that they meet the machine in the same moods."""
    done = {kind: len(space.done(store, kind)) for kind in KINDS}
    for number in range(1, count + 1):
        for kind in KINDS:
            if done[kind] < number:
                space.run(kind, "1")
        say(f"\r{number} of {count} runs of each kind ")
    say("\r")
    figures = _figures(store)
    rows = []
    for kind in KINDS:
        own = [item for item in figures if item.version == f"{kind}@1"]
        raw, _ = _spreads(own)
        ways = [within_spread(own, way_value(way, own[0].values))[0] for way in WAYS]
        cpu = within_spread(own, lambda figure: figure.values.get("cpu_s"))[0]
        spent = fmean(item.values[SPENT] for item in own)
        took = f"{1000 * median(item.values[RAW] for item in own):.1f} ms"
        cells = (f"{value:.3f}" if value else "-" for value in (raw, cpu, *ways))
        way = steadiest_way(own, WAYS) or "not learned"
        rows.append((kind, took, *cells, way, f"{1000 * spent:.0f} ms"))
    print_table(
        f"Spread between {count} runs of each kind (standard deviation of the logarithm)",
        ("subject", "median", "raw", "CPU time", *(f"by {way}" for way in WAYS), "learned", "readings"),
        rows,
        ("`by none` only leaves out the time in the run queue. `raw`: normalising does not halve the spread.",),
    )


@contextmanager
def beside(processes: int) -> Iterator[None]:
    with ExitStack() as stack:
        for number in range(processes):
            stack.enter_context(loaded(seed=number))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400, help="pairs of the first table; 0 leaves it out")
    parser.add_argument("--every", type=int, default=4, help="every so many-th pair is also run with more work")
    parser.add_argument("--runs", type=int, default=50, help="runs of each kind for the second; 0 leaves it out")
    parser.add_argument("--kind", choices=sorted(KINDS), default="text", help="the subject of the first table")
    parser.add_argument("--load", type=int, default=1, help="processes that load the machine in bursts")
    parser.add_argument("--folder", type=Path, help="keeps the runs here and goes on with what is there")
    options = parser.parse_args()
    print_heading()
    started = time.perf_counter()

    def say(line: str) -> None:
        print(line, end="", file=sys.stderr, flush=True)

    folder = options.folder or Path(tempfile.mkdtemp(prefix="dyno-separate-"))
    try:
        if options.runs:
            space = Workspace((folder / "kinds").resolve())
            with space.entered() as store, beside(options.load):
                print(f"Beside {options.load} bursty processes.")
                show_kinds(space, store, options.runs, say)
        if options.pairs:
            order = order_of_runs(options.pairs, options.every)
            space = Workspace((folder / options.kind).resolve())
            with space.entered() as store:
                with beside(options.load):
                    print(f"Beside {options.load} bursty processes.")
                    pairs = chain(space, store, options.kind, order, say)
                show_pairs(store, options.kind, pairs[: options.pairs], say)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
