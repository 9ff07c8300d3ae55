"""Everything about one case in a run, and about one answer: what was asked, said, done, judged and spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.case.tables_trajectory import attempts, json_text, text_block, trajectory
from agentdyno.findings.case.tables_workflow import workflow
from agentdyno.model import ArmResult, Benchmark, Case, Phase, Provenance, RunResult, Sample, Status
from agentdyno.model.codec import to_plain
from agentdyno.model.metric import REPORTED_PREFIX, is_reserved, known_metric, reported_name
from agentdyno.model.naming import meant_by, shown_result
from agentdyno.model.sample import DISTURBED
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, marked, one_line, plain, settings, show, without_unknown

_USED = "Used"
_TONES = {Status.OK: Tone.GOOD, Status.CANCELLED: Tone.MUTED}
_SPENT = (
    ("duration_s", "duration", "s"),
    ("ttft_s", "time to first token", "s"),
    ("itl_s", "between tokens", "s"),
    ("tokens_per_s", "tokens per second", "/s"),
    ("input_tokens", "tokens in", ""),
    ("output_tokens", "tokens out", ""),
    ("api_calls", "calls", ""),
    ("cpu_s", "CPU time", "s"),
    ("peak_rss_bytes", "peak memory", "bytes"),
)


def case_tables(result: RunResult, case_id: str, agent: str | None = None) -> tuple[Table, ...]:
    """The case and every execution of it that the result holds, of one agent where it is named."""
    tables: list[Table] = []
    shown = {arm.arm_id: arm for arm in shown_result(result).arms}
    for benchmark, case in find_case(result, case_id):
        taken = [(shown[arm.arm_id], sample) for arm, sample in executions(result, benchmark, case_id, agent)]
        tables += _asked(benchmark, case)
        if not taken:
            tables.append(text_block("Answers", "No execution of this case is recorded in this run."))
            continue
        tables.append(_overview(taken))
        for arm, samples in _alike(taken):
            first, *others = execution_tables(arm, samples[0])
            if len(samples) > 1:
                same = f"epoch {samples[0].iteration + 1}"
                told = f"epochs {_ranges([item.iteration + 1 for item in samples])} alike"
                first = replace(first, title=first.title.replace(f"{same}:", f"{told}:"))
                others = [
                    replace(item, title=f"{_USED} in {same}") if item.title == _USED else item for item in others
                ]
            tables += [first, *others]
    return tuple(tables)


def _ranges(numbers: Sequence[int]) -> str:
    """``1–3, 5, 6``: rising numbers, three and more without a gap as a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _alike(taken: Sequence[tuple[ArmResult, Sample]]) -> list[tuple[ArmResult, list[Sample]]]:
    """Executions of an agent that ended, answered, were judged and went about it the same way, together."""
    groups: dict[str, tuple[ArmResult, list[Sample]]] = {}
    for arm, sample in taken:
        events = sample.details.get("events")
        steps = [
            [event.get("kind"), event.get("name"), event.get("content")]
            for event in (events if isinstance(events, (list, tuple)) else ())
            if isinstance(event, Mapping)
        ]
        failure = sample.failure.message if sample.failure is not None else None
        said = [sample.status.value, sample.output, failure, sample.details.get("scoring"), steps, sample.attempts]
        groups.setdefault(json_text([arm.arm_id, to_plain(said)]), (arm, []))[1].append(sample)
    return list(groups.values())


def case_plain(result: RunResult, case_id: str, agent: str | None = None) -> object:
    """The same as plain data: one document per benchmark that has the case, a single one without a list."""
    documents = [
        {
            "run_id": result.run_id,
            "benchmark": benchmark.benchmark_id,
            "case": to_plain(case),
            "executions": [
                {"agent": arm.agent, "epoch": sample.iteration, "sample": to_plain(sample)}
                for arm, sample in executions(result, benchmark, case_id, agent)
            ],
        }
        for benchmark, case in find_case(result, case_id)
    ]
    return documents[0] if len(documents) == 1 else documents


def attempt_tables(sample: Sample) -> tuple[Table, ...]:
    """What one answer took and how it came about; the answer itself is not among them."""
    found = (_spent(sample), attempts(sample), workflow(sample), trajectory(sample))
    return tuple(table for table in found if table is not None)


def find_case(result: RunResult, case_id: str) -> list[tuple[Benchmark, Case]]:
    """The benchmarks that have the case; ``benchmark/case`` names one of them. Raises ``SpecError`` for none."""
    benchmarks = result.suite.benchmarks if result.suite is not None else ()
    every = [(benchmark, case) for benchmark in benchmarks for case in benchmark.cases]
    found = [pair for pair in every if pair[1].id == case_id]
    found = found or [pair for pair in every if f"{pair[0].benchmark_id}/{pair[1].id}" == case_id]
    if not found:
        if not every:
            raise SpecError(
                "this run has no cases: it is no run of a suite", where="--case", remedy="`dyno show RUN` shows it."
            )
        remedy = nearest(case_id, (case.id for _, case in every))
        raise SpecError(f"no case {case_id!r} in this run", where="--case", remedy=remedy)
    return found


def executions(
    result: RunResult, benchmark: Benchmark, case_id: str, agent: str | None
) -> Iterator[tuple[ArmResult, Sample]]:
    """Measured samples of the case, agent by agent, epoch by epoch. Raises ``SpecError`` for an unknown agent."""
    agents = {arm.agent for arm in result.arms if arm.agent is not None}
    wanted = {name for name in agents if agent is None or meant_by(result.suite, name, agent)}
    if not wanted and agent is not None:
        raise SpecError(f"no agent {agent!r} in this run", where="--agent", remedy=nearest(agent, agents))
    own = case_id.removeprefix(f"{benchmark.benchmark_id}/")
    ids = {case.id for case in benchmark.cases}
    name = case_id if case_id in ids else own
    for arm in result.arms:
        if arm.benchmark == benchmark.benchmark_id and arm.agent in wanted:
            taken = [item for item in arm.samples if item.case_id == name and item.phase is Phase.MEASURED]
            yield from ((arm, item) for item in sorted(taken, key=lambda item: item.iteration))


def _asked(benchmark: Benchmark, case: Case) -> list[Table]:
    scorers = ", ".join(
        item.name if not item.options else f"{item.name} ({settings(item.options)})"
        for item in benchmark.rubric.scorers
    )
    facts = [
        ("benchmark", benchmark.benchmark_id),
        ("judged by", f"{scorers}; passes from {benchmark.rubric.pass_threshold:g}"),
    ]
    if case.group is not None:
        facts.append(("group", case.group))
    if case.metadata:
        facts.append(("metadata", settings(case.metadata)))
    rows = tuple((Cell(name, Tone.MUTED), Cell(one_line(value))) for name, value in facts)
    tables = [Table(f"Case {one_line(case.id)}", (Column(""), Column("", wrap=True)), rows)]
    if case.turns:
        tables += [text_block(f"Turn {number}", turn) for number, turn in enumerate(case.turns, start=1)]
    else:
        tables.append(text_block("Input", _said(case.input)))
    if case.target is not None:
        tables.append(text_block("Target", json_text(case.target)))
    return tables


def _said(value: object) -> str:
    """A list of chat messages as lines of role and content, any other value as text."""
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(item, Mapping) and "role" in item for item in value)
    ):
        return "\n".join(f"{item['role']}: {json_text(item.get('content'))}" for item in value)
    return json_text(value)


def _overview(taken: Sequence[tuple[ArmResult, Sample]]) -> Table:
    columns = (
        Column("agent", wrap=True),
        Column("epoch", Align.RIGHT),
        Column("status"),
        Column("score", Align.RIGHT),
        Column("duration", Align.RIGHT),
        Column("tokens", Align.RIGHT, 1),
        Column("cost", Align.RIGHT, 1),
        Column("tries", Align.RIGHT, 2),
    )
    rows = tuple(
        (
            Cell(_agent(arm)),
            Cell(str(sample.iteration + 1)),
            Cell(_status(sample), _TONES.get(sample.status, Tone.BAD)),
            Cell(show(sample.scores.get("score"), "ratio")),
            Cell(show(sample.readings.get("duration_s"), "s")),
            Cell(show(sample.readings.get("total_tokens"), "")),
            Cell(show(sample.readings.get("cost_usd"), "usd")),
            Cell(str(sample.attempts)),
        )
        for arm, sample in taken
    )
    return without_unknown(Table("Answers", columns, rows), ("tokens", "cost"))


def _status(sample: Sample) -> str:
    return f"{sample.status.value}, {DISTURBED}" if DISTURBED in sample.details else sample.status.value


def execution_tables(arm: ArmResult, sample: Sample) -> list[Table]:
    """One execution: the answer or what went wrong, what scorers said, what it used, its steps."""
    score = show(sample.scores.get("score"), "ratio")
    heading = f"{_agent(arm)}, epoch {sample.iteration + 1}: {sample.status.value}"
    heading += "" if score == NOTHING else f", score {score}"
    if sample.failure is not None:
        failure = sample.failure
        parts = [f"{failure.kind.value}: {failure.message}", failure.traceback or "", failure.output_tail or ""]
        tables = [text_block(heading, "\n".join(part for part in parts if part))]
        if sample.output is not None:
            tables.append(text_block("What had arrived", json_text(sample.output)))
    else:
        tables = [text_block(heading, json_text(sample.output))]
    found = (_scoring(sample), _spent(sample), attempts(sample), workflow(sample), trajectory(sample))
    return [*tables, *(table for table in found if table is not None)]


def _scoring(sample: Sample) -> Table | None:
    scoring = sample.details.get("scoring")
    rows = []
    for item in scoring if isinstance(scoring, (list, tuple)) else ():
        if not isinstance(item, Mapping):
            continue
        values = item.get("values")
        known = values.items() if isinstance(values, Mapping) else ()
        text = ", ".join(f"{name} {_score(value)}" for name, value in known)
        details = item.get("details")
        told = plain(str(item.get("explanation") or "")) or (json_text(details) if details else "")
        rows.append((Cell(one_line(str(item.get("scorer", "")))), Cell(one_line(text)), Cell(one_line(told, 2000))))
    if not rows:
        return None
    columns = (Column("scorer", wrap=True), Column("says", wrap=True), Column("why", wrap=True))
    return without_unknown(Table("Scores", columns, tuple(rows)), ("why",))


def _score(value: object) -> str:
    return show(float(value), "ratio") if isinstance(value, (int, float)) else NOTHING


def _spent(sample: Sample) -> Table | None:
    rows = [
        (Cell(label, Tone.MUTED), Cell(show(sample.readings[name], unit)))
        for name, label, unit in _SPENT
        if name in sample.readings
    ]
    cost = sample.details.get("cost")
    source = str(cost.get("source", "")) if isinstance(cost, Mapping) else ""
    dollars = show(sample.readings.get("cost_usd", sample.readings.get(reported_name("cost_usd"))), "usd")
    if dollars != NOTHING or source:
        rows.append((Cell("cost", Tone.MUTED), Cell(f"{dollars} ({one_line(source)})" if source else dollars)))
    judging = sample.details.get("judge_cost_usd")
    if isinstance(judging, (int, float)) and judging:
        rows.append((Cell("judging cost", Tone.MUTED), Cell(show(float(judging), "usd"))))
    for name in ("model", "observed"):
        value = sample.details.get(name)
        if value:
            text = settings(value) if isinstance(value, Mapping) else one_line(str(value))
            rows.append((Cell(name, Tone.MUTED), Cell(text)))
    if sample.details.get("simulated"):
        rows.append((Cell("simulated", Tone.MUTED), Cell("yes: a simulated model answered")))
    if sample.details.get("cached"):
        rows.append((Cell("cached", Tone.MUTED), Cell("yes: an answer from before, nothing was measured")))
    rows += [
        (Cell(name, Tone.MUTED), Cell(show(value, "s" if name.endswith("_s") else "")))
        for name, value in sorted(sample.readings.items())
        if name.startswith("server.")
    ]
    rows += _reported(sample)
    return Table(_USED, (Column(""), Column("", wrap=True)), tuple(rows)) if rows else None


def _reported(sample: Sample) -> list[tuple[Cell, Cell]]:
    """What the agent says of itself, apart from the cost where nothing better is known."""
    shown = {reported_name("cost_usd")} if "cost_usd" not in sample.readings else set()
    rows = []
    for name, value in sorted(sample.readings.items()):
        if name not in shown and (name.startswith(REPORTED_PREFIX) or not is_reserved(name)):
            text = marked(known_metric(name).format(value), Provenance.REPORTED)
            rows.append((Cell(name.removeprefix(REPORTED_PREFIX), Tone.MUTED), Cell(text)))
    return rows


def _agent(arm: ArmResult) -> str:
    return one_line(arm.agent or arm.name)
