"""Tables of boards: the leaderboard, the comparison matrix, and what was not benchmarked lately."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from agentdyno.findings.board.model import (
    BENCHMARKS,
    BoardScope,
    Coverage,
    Leaderboard,
    LeaderboardEntry,
    Matrix,
    MatrixEntry,
    RankedScore,
)
from agentdyno.findings.conclusions import Conclusions
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.findings.standing.tables_labels import of_cases, points_of
from agentdyno.findings.standing.words import not_told_apart
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.show.section import Lead, Picture, Section
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, count, one_line, percent, show, when

_MOST_NAMED = 5
"""Agents that a note lists by name."""
_TIMED = "speed"
_HASH = 10
"""Characters shown of a version that is a digest."""
_POINTS = "Points of 100 with their 95 % interval where it is known."
_RANKS = "Ranks: 1 is best, equals share one; beside it the 95 % interval."


class Placed(Protocol):
    """What entries of boards have in common."""

    @property
    def agent(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...


def leaderboard_tables(board: Leaderboard) -> list[Table]:
    """The places by the board's metric with what they rest on, then every dimension."""
    category = "all categories" if board.category == OVERALL else f"category {one_line(board.category)}"
    of = f"{suites_text(board.scope)}, " if board.scope.suites else ""
    title = f"Leaderboard: {of}{category}" + ("" if board.metric == OVERALL else f", by {board.metric}")
    window = f"{count(board.days, 'day')} to {when(board.until)} UTC"
    if not board.entries:
        return [Table(title, (), (), (f"Nothing was benchmarked in the {window}.", *scope_notes(board.scope)))]
    labels = board_labels(board.entries)
    return [_places(board, title, window, labels), _dimensions(board, labels)]


def _places(board: Leaderboard, title: str, window: str, labels: Mapping[str, str]) -> Table:
    columns = (
        Column("rank", Align.RIGHT),
        Column("agent", wrap=True),
        Column(board.metric, Align.RIGHT),
        Column("trend", Align.RIGHT, 1),
        Column("best rank", Align.RIGHT, 3),
        Column(BENCHMARKS, Align.RIGHT, 2),
        Column("cases", Align.RIGHT, 2),
        Column("runs", Align.RIGHT, 4),
        Column("$ per run", Align.RIGHT, 5),
        Column("last success", priority=1),
    )
    rows = []
    for entry in board.entries:
        score = entry.scores[board.metric]
        partial = board.metric == OVERALL and bool(entry.missing)
        rows.append(
            (
                Cell(rank_text(score)),
                Cell(labels[entry.agent]),
                _score_cell(score, partial),
                _trend_cell(entry.trend.get(board.metric)),
                Cell(NOTHING if entry.best_ranking is None else str(entry.best_ranking)),
                Cell(f"{entry.benchmarks_completed:,}"),
                Cell(cases_text(entry)),
                Cell(f"{entry.executions:,}/{entry.attempts:,}" + MARK * bool(entry.not_whole)),
                Cell(show(entry.cost_usd, "usd")),
                Cell(when(entry.last_benchmark_at)[:10]),
            )
        )
    shown = count(board.total, "agent")
    if len(board.entries) < board.total:
        shown = f"{len(board.entries):,} of {shown}"
    notes = [f"{shown}, {window}. Simulated results are not counted.", _POINTS, _RANKS]
    notes += _accuracy_note(board.entries, labels)
    if any(value is not None for entry in board.entries for value in entry.trend.values()):
        notes.append(f"Trend: points since the {count(board.days, 'day')} before.")
    if board.metric == OVERALL:
        notes += [f"Weights: {weights_text(board.weights)}.", *_partial(board.entries, labels)]
    marked = [f"{labels[entry.agent]} ({entry.not_whole:,})" for entry in board.entries if entry.not_whole]
    notes += [*_not_whole(marked), *scope_notes(board.scope)]
    return Table(title, columns, tuple(rows), tuple(notes))


def _dimensions(board: Leaderboard, labels: Mapping[str, str]) -> Table:
    columns = [Column("agent", wrap=True)]
    columns += [Column(name, Align.RIGHT) for name in DIMENSIONS]
    rows = []
    for entry in board.entries:
        cells = [Cell(labels[entry.agent])]
        for name in DIMENSIONS:
            score = entry.scores[name]
            known = score.score is not None
            of = f" ({cases_text(entry)})" if name == "accuracy" and entry.scored else ""
            mark = RECORDED if name == _TIMED and entry.agent in board.scope.recorded else ""
            text = f"{100 * (score.score or 0.0):.0f} #{score.rank}{mark}{of}" if known else NOTHING
            cells.append(Cell(text, Tone.PLAIN if known else Tone.MUTED))
        rows.append(tuple(cells))
    notes = ("Points of 100, and after # the rank; behind accuracy, in brackets, of how many cases it is.",)
    return Table("By dimension", tuple(columns), tuple(rows), notes)


def matrix_tables(matrix: Matrix) -> list[Table]:
    """Scores and ranks of every agent on every dimension, each with its interval."""
    title = f"Comparison matrix: {suites_text(matrix.scope) or one_line(matrix.suite) or 'all suites'}"
    if not matrix.entries:
        nothing = "No agent was put to a benchmark here yet."
        return [Table(title, (), (), (nothing, *scope_notes(matrix.scope)))]
    labels = board_labels(matrix.entries)
    heads = [Column("agent", wrap=True, heading=True)]
    heads += [Column(name, Align.RIGHT, wrap=True) for name in (OVERALL, *DIMENSIONS)]
    scores, ranks = [], []
    for entry in matrix.entries:
        own = [entry.scores[name] for name in (OVERALL, *DIMENSIONS)]
        marks = [entry.partial, *(False for _ in DIMENSIONS)]
        done = Cell(f"{entry.benchmarks_completed}/{matrix.benchmarks}" + MARK * bool(entry.not_whole))
        name = Cell(labels[entry.agent])
        cells = [_score_cell(score, mark) for score, mark in zip(own, marks, strict=True)]
        if entry.agent in matrix.scope.recorded and entry.scores[_TIMED].score is not None:
            place = (OVERALL, *DIMENSIONS).index(_TIMED)
            cells[place] = replace(cells[place], text=cells[place].text + RECORDED)
        scores.append((name, *cells, Cell(cases_text(entry)), done))
        ranks.append((name, *(Cell(rank_text(score), _tone(score)) for score in own)))
    shown = count(len(matrix.entries), "agent")
    notes = [
        f"{shown}, {count(matrix.benchmarks, 'benchmark')}: means over the last success in each.",
        _POINTS,
        *_accuracy_note(matrix.entries, labels),
        f"Weights: {weights_text(matrix.weights)}.",
        *_partial(matrix.entries, labels),
        *_failing(matrix, labels),
        *_not_whole([labels[entry.agent] for entry in matrix.entries if entry.not_whole]),
        *scope_notes(matrix.scope),
    ]
    tail = (Column("cases", Align.RIGHT, 1), Column("done", Align.RIGHT, 1))
    found = [Table(title, (*heads, *tail), tuple(scores), tuple(notes))]
    if len(matrix.entries) > 1:
        found.append(Table("Ranks", tuple(heads), tuple(ranks), (_RANKS,)))
    return found


def cases_text(entry: LeaderboardEntry | MatrixEntry) -> str:
    """``30``, or ``28/30`` where some have no score: what the accuracy is of."""
    if not _is_known_of(entry):
        return NOTHING
    return f"{entry.cases:,}" if entry.scored >= entry.cases else f"{entry.scored:,}/{entry.cases:,}"


def _is_known_of(entry: LeaderboardEntry | MatrixEntry) -> bool:
    """An accuracy of no case at all comes from a result that does not say of how many it is."""
    return bool(entry.scored or (entry.cases and entry.scores["accuracy"].score is None))


def _accuracy_note(entries: Sequence[LeaderboardEntry | MatrixEntry], labels: Mapping[str, str]) -> list[str]:
    """What the accuracies are of: the most cases, and who has fewer, or fewer with a score."""
    told_of = [entry for entry in entries if _is_known_of(entry)]
    most = max((entry.cases for entry in told_of), default=0)
    fewer = [entry for entry in told_of if 0 < entry.cases < most or entry.scored < entry.cases]
    told = [f"{labels[entry.agent]} {of_cases(entry.scored, entry.cases)}" for entry in fewer]
    return [f"Accuracy is of {count(most, 'case')}" + (f"; {_listed(told)}." if told else ".")] if most else []


MARK = "†"
"""Beside results of runs that were quick, limited or cut short."""


RECORDED = "‡"
"""Beside the speed of agents whose model calls were recorded, on a board with others whose calls were not."""


def suites_text(scope: BoardScope) -> str:
    """``first`` or ``first + second``: what the board is about."""
    return " + ".join(one_line(name) for name in scope.suites)


def scope_notes(scope: BoardScope) -> list[str]:
    """What is not on the board and why, each once."""
    notes = []
    if len(scope.suites) > 1:
        notes.append("Each suite counts the same. Only agents that ran all of them are here.")
    if scope.not_shared:
        notes.append(
            f"Left out, because they share fewer suites: {_listed([one_line(x) for x in scope.not_shared])}."
        )
    if scope.other_suites and len(scope.suites) < 2:
        listed = _listed([one_line(name) for name in scope.other_suites])
        notes.append(f"Other suites: {listed}. --suite NAME shows one, --suite all compares over shared ones.")
    if scope.older_version:
        own = [one_line(name) for name in scope.older_version]
        again = " ".join(f"--agent {shlex.quote(name)}" for name in own[:_MOST_NAMED])
        notes.append(f"Only older versions of this suite were run by {_listed(own)}: `dyno run SUITE {again}`.")
    if scope.recorded:
        named = _listed([one_line(name) for name in scope.recorded])
        notes.append(
            f"{RECORDED} Model calls of {named} went through the recording proxy, which takes time; those of the "
            "others did not: speed is not compared like with like. `--record off` measures without."
        )
    if scope.left_out:
        said = count(scope.left_out, "execution")
        notes.append(f"Not counted: {said} in runs that were quick, limited or cut short; {INCLUDE_PARTIAL.option}.")
    if scope.unknown_form:
        said = count(scope.unknown_form, "execution")
        notes.append(
            f"Whether {said} were whole runs is not known: recorded before that was kept, or by another tool."
        )
    return notes


def _not_whole(agents: Sequence[str]) -> list[str]:
    return [f"{MARK} with runs that were quick, limited or cut short: {_listed(agents)}."] if agents else []


def coverage_tables(coverage: Coverage) -> list[Table]:
    """How many agents were benchmarked lately, and those that were not, the longest ago first."""
    window = "the last day" if coverage.days == 1 else f"the last {coverage.days:,} days"
    if not coverage.agents:
        return [Table("Coverage", (), (), ("No agent is known here yet.",))]
    said = f"{coverage.fresh:,} of {count(coverage.agents, 'agent')} benchmarked in {window}"
    summary = f"{said} ({percent(coverage.share)})."
    if not coverage.stale:
        return [Table("Coverage", (), (), (summary,))]
    labels = board_labels(coverage.stale)
    columns = (
        Column("agent", wrap=True),
        Column("last success"),
        Column("days ago", Align.RIGHT),
        Column("last attempt", priority=1),
    )
    rows = tuple(
        (
            Cell(labels[agent.agent]),
            Cell("never", Tone.WARN) if agent.last_success_at is None else Cell(when(agent.last_success_at)),
            Cell(NOTHING if agent.days is None else f"{agent.days:,.0f}"),
            Cell(when(agent.last_attempt_at)),
        )
        for agent in coverage.stale
    )
    return [Table("Not benchmarked lately", columns, rows, (summary,))]


def board_labels(entries: Sequence[Placed]) -> dict[str, str]:
    """How the agents read, by ``name@version``: a board may show one version and not another."""
    return {
        entry.agent: one_line(f"{entry.name}@{_version(entry.version)}" if entry.version else entry.name)
        for entry in entries
    }


def rank_text(score: RankedScore) -> str:
    """``2 1–3``: a rank with its interval where that is more than the rank."""
    if score.rank is None:
        return NOTHING
    best, worst = score.rank_interval or (score.rank, score.rank)
    return str(score.rank) if best == worst else f"{score.rank} {best}–{worst}"


def trend_text(difference: float | None) -> str:
    """``+3.2``: a difference of scores in points of 100."""
    if difference is None:
        return NOTHING
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def weights_text(weights: Mapping[str, float]) -> str:
    """``accuracy 60, speed 40``: shares of 100, without those of no weight."""
    total = sum(weights.values())
    named = [(name, weights[name]) for name in DIMENSIONS if weights.get(name)]
    return ", ".join(f"{name} {100 * weight / total:.3g}" for name, weight in named)


def _partial(entries: Sequence[LeaderboardEntry | MatrixEntry], labels: Mapping[str, str]) -> list[str]:
    """What the mark of partial scores stands for, equal reasons together."""
    reasons: dict[tuple[str, ...], list[str]] = {}
    for entry in entries:
        if entry.missing and entry.scores[OVERALL].score is not None:
            reasons.setdefault(entry.missing, []).append(labels[entry.agent])
    said = []
    for missing, agents in reasons.items():
        lacks = [name if name != BENCHMARKS else "some benchmarks" for name in missing]
        said.append(f"{_listed(agents)} without {', '.join(lacks)}")
    return [f"* partial, of what is known: {'; '.join(said)}."] if said else []


def _failing(matrix: Matrix, labels: Mapping[str, str]) -> list[str]:
    failing = [
        f"{labels[entry.agent]} in {_listed([one_line(name) for name in entry.failing])}"
        for entry in matrix.entries
        if entry.failing
    ]
    if not failing:
        return []
    more = f" and {count(len(failing) - _MOST_NAMED, 'other')}" if len(failing) > _MOST_NAMED else ""
    return [f"The last attempt was no success: {'; '.join(failing[:_MOST_NAMED])}{more}."]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _score_cell(score: RankedScore, partial: bool) -> Cell:
    text = points_of(score.score, score.interval)
    return Cell(f"{text}*" if partial and score.score is not None else text, _tone(score))


def _trend_cell(difference: float | None) -> Cell:
    return Cell(trend_text(difference), Tone.MUTED if difference is None else Tone.PLAIN)


def _tone(score: RankedScore) -> Tone:
    return Tone.MUTED if score.score is None else Tone.PLAIN


def _version(version: str) -> str:
    return version[:_HASH] if len(version) > _HASH + 2 else version


_MOST_LEADERS = 3
MOST_RADAR = 6
"""Agents on one radar: more cannot be told apart."""


def sections(found: Conclusions) -> Iterator[Section]:
    """Leaderboards, matrices and coverages, in this order."""
    for board in found.leaderboards:
        text = f"{count(board.total, 'agent')} in {count(board.days, 'day')}{_first_words(board)}"
        pictures = _entries_radar("leaderboard-radar", board.entries)
        yield Section("Leaderboard", Lead("leaderboard", f"{text}."), tuple(leaderboard_tables(board)), pictures)
    for matrix in found.matrices:
        text = f"{count(len(matrix.entries), 'agent')} × {count(len(DIMENSIONS), 'dimension')}."
        pictures = _entries_radar("matrix-radar", matrix.entries)
        yield Section("Comparison matrix", Lead("matrix", text), tuple(matrix_tables(matrix)), pictures)
    for coverage in found.coverages:
        tone = Tone.WARN if coverage.stale else Tone.GOOD
        within = f"benchmarked within {count(coverage.days, 'day')}"
        text = f"{coverage.fresh:,} of {count(coverage.agents, 'agent')} {within}."
        yield Section("Coverage", Lead("coverage", text, tone), tuple(coverage_tables(coverage)))


def _first_words(board: Leaderboard) -> str:
    """Who leads, and who may be as good; where several have the best score, that they share it."""
    scores = {entry.agent: entry.scores[board.metric] for entry in board.entries if board.metric in entry.scores}
    leaders = [agent for agent, score in scores.items() if score.rank == 1]
    if not leaders:
        return ""
    labels = board_labels(board.entries)
    if len(leaders) == 1:
        others = [labels[agent] for agent, score in scores.items() if agent != leaders[0] and _may_be_first(score)]
        return f". First: {labels[leaders[0]]}{not_told_apart(others)}"
    named = ", ".join(labels[agent] for agent in leaders[:_MOST_LEADERS])
    more = f" and {len(leaders) - _MOST_LEADERS} more" if len(leaders) > _MOST_LEADERS else ""
    return f". {len(leaders)} share the first place: {named}{more}"


def _may_be_first(score: RankedScore) -> bool:
    return score.rank_interval is not None and score.rank_interval[0] == 1


def _entries_radar(name: str, entries: Sequence[LeaderboardEntry] | Sequence[MatrixEntry]) -> tuple[Picture, ...]:
    from agentdyno.findings.board.charts import radar_chart

    shown = [entry for entry in entries if entry.scores[OVERALL].score is not None][:MOST_RADAR]
    labels = board_labels(shown)
    scores = {labels[entry.agent]: {name: entry.scores[name].score for name in DIMENSIONS} for entry in shown}
    who = f"The first {len(shown)}" if len(shown) > 1 else "The only agent"
    caption = f"{who} on every dimension, 0 to 100."
    return (Picture(name, caption, partial(radar_chart, scores)),) if shown else ()
