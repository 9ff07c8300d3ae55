"""Suites from Python: functions as agents and scorers, every form of a suite, inside and outside of a loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdyno import Benchmark, Case, Dataset, Response, Rubric, ScorerUse, Suite, Usage, aevaluate, evaluate
from agentdyno.errors import DynoError, RunError, SpecError
from agentdyno.findings.comparison.ask_result import read_result
from agentdyno.model import Constraints, Progress, Provenance, RunResult, RunStatus, Status
from agentdyno.runs.kind import Tools
from agentdyno.runs.pipeline import resume
from agentdyno.runs.place import run_folder
from agentdyno.store import Store

ROWS = [{"id": name, "input": name, "target": name.upper()} for name in ("a", "b", "c")]
DOCUMENT = {"name": "letters", "dataset": {"cases": ROWS}, "scorer": "exact", "epochs": 2, "warmup": 0}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    return tmp_path


def shout(text: str) -> str:
    return text.upper()


async def whisper(text: str) -> Response:
    await asyncio.sleep(0)
    return Response(text.lower(), Usage(3, 1), cost=0.01)


class Counting:
    """An agent with state of its own."""

    name = "counting"
    version = "7"

    def __init__(self) -> None:
        self.calls = 0

    def run(self, case: Case) -> object:
        self.calls += 1
        return case.target


def statuses(result: RunResult) -> dict[str, dict[str, int]]:
    return {arm.name.rpartition(" · ")[2]: dict(arm.statuses) for arm in result.arms}


def test_what_a_function_says_of_itself_is_shown_as_reported_and_takes_nothings_place() -> None:
    def boasting(text: str) -> Response:
        return Response(text.upper(), readings={"duration_s": 1e-12, "ttft_s": 1e-12, "steps": 7.0}, cost=0.0)

    (arm,) = evaluate(DOCUMENT, [boasting]).arms
    provenance = {name: metric.provenance for name, metric in arm.metrics.items()}
    claims = {"reported.duration_s", "reported.ttft_s", "reported.cost_usd", "steps"}
    assert {name for name, value in provenance.items() if value is Provenance.REPORTED} == claims
    assert provenance["duration_s"] is Provenance.MEASURED
    assert min(sample.readings["duration_s"] for sample in arm.samples) > 1e-12
    assert not {"ttft_s", "cost_usd"} & arm.metrics.keys()
    assert "cost_usd" not in arm.totals


def test_functions_and_objects_answer_and_each_is_an_arm() -> None:
    counting = Counting()
    result = evaluate(DOCUMENT, [shout, whisper, counting])
    assert result.status is RunStatus.COMPLETE
    assert statuses(result) == {"shout": {"ok": 6}, "whisper": {"failed": 6}, "counting": {"ok": 6}}
    assert counting.calls == 6
    assert result.arms[2].agent == "counting@7"
    sample = result.arms[1].samples[0]
    assert (sample.usage, sample.readings["reported.cost_usd"]) == ({"input_tokens": 3.0, "output_tokens": 1.0}, 0.01)


def test_the_result_is_what_the_store_and_the_file_hold(folder: Path) -> None:
    result = evaluate(DOCUMENT, shout, tags=("nightly",), notes="first")
    with Store.open(folder / ".dyno" / "dyno.db") as store:
        assert store.runs.load(result.run_id) == result
    assert read_result(run_folder(result.spec, result.run_id)) == result
    assert (result.tags, result.notes) == (("nightly",), "first")


def as_file(folder: Path) -> object:
    cases = "[{id: a, input: a, target: A}, {id: b, input: b, target: B}]"
    (folder / "suite.yaml").write_text(f"scorer: exact\nepochs: 2\nwarmup: 0\ndataset: {{cases: {cases}}}\n")
    return folder / "suite.yaml"


def as_objects(_: Path) -> object:
    rubric = Rubric((ScorerUse("exact"),))
    return Suite("made", (Benchmark("one", tuple(Dataset(ROWS[:2])), rubric=rubric),), epochs=2, warmup=0)


@pytest.mark.parametrize(
    "form", [as_file, as_objects, lambda _: Dataset(ROWS[:2]), lambda _: list(Dataset(ROWS[:2]))]
)
def test_a_suite_is_a_file_an_object_a_data_set_or_cases(form: Callable[[Path], object], folder: Path) -> None:
    result = evaluate(form(folder), shout, epochs=2, warmup=0)  # type: ignore[arg-type]
    assert statuses(result) == {"shout": {"ok": 4}}


def test_options_change_a_suite_that_was_made_in_python() -> None:
    suite = Suite("made", (Benchmark("one", tuple(Dataset(ROWS))), Benchmark("two", tuple(Dataset(ROWS)))), epochs=5)
    result = evaluate(
        suite, shout, epochs=1, warmup=0, benchmarks=("two",), cases=("a", "c"), time_limit_s=9.0, seed=3
    )
    assert [(arm.benchmark, dict(arm.statuses)) for arm in result.arms] == [("two", {"ok": 2})]
    assert result.seed == 3
    assert result.suite is not None
    assert result.suite.benchmarks[0].constraints == Constraints(time_limit_s=9.0)
    limited = evaluate(suite, shout, epochs=1, warmup=0, limit=2, concurrency=3, retries=0)
    assert sum(arm.samples_total for arm in limited.arms) == 2
    assert limited.suite is not None
    assert (limited.suite.concurrency, limited.suite.retries) == (3, 0)


def test_a_function_judges_in_place_of_what_the_suite_says() -> None:
    def half_right(output: str, target: str) -> dict[str, float]:
        return {"correctness": 0.5 if output != target else 1.0, "relevance": 1.0}

    def lengthy(output: str, case: Case) -> bool:
        return len(output) > len(str(case.input))

    both = evaluate(DOCUMENT, whisper, scorer=[half_right, lengthy])
    scores = both.arms[0].samples[0].scores
    assert (scores["correctness"], scores["relevance"]) == (0.25, 1.0)
    one = evaluate(Dataset(ROWS), whisper, scorer=lengthy, epochs=1, warmup=0)
    assert statuses(one) == {"whisper": {"failed": 3}}
    named = evaluate(Dataset(ROWS), shout, scorer="includes", epochs=1, warmup=0)
    assert statuses(named) == {"shout": {"ok": 3}}
    with pytest.raises(SpecError, match="two scorers are called '<lambda>'"):
        evaluate(DOCUMENT, shout, scorer=[lambda output: 1.0, lambda output: 0.0])


def test_an_answer_on_which_a_scorer_raises_has_0_and_no_traceback() -> None:
    def stumbles(output: str, case: Case) -> float:
        if case.id == "b":
            raise ZeroDivisionError("by nothing")
        return 1.0

    result = evaluate(DOCUMENT, shout, scorer=stumbles)
    sample = next(item for item in result.arms[0].samples if item.case_id == "b")
    assert (sample.status, sample.scores["score"]) == (Status.FAILED, 0.0)
    assert "scorer stumbles raised ZeroDivisionError: by nothing (test_evaluate.py:" in str(sample.details["scoring"])


def test_a_scorer_that_raises_on_everything_is_a_mistake_that_names_its_line() -> None:
    def trips(output: str) -> float:
        raise ZeroDivisionError("by nothing")

    with pytest.raises(SpecError, match=r"trips raised ZeroDivisionError: by nothing \(test_evaluate.py:\d+\)"):
        evaluate(DOCUMENT, shout, scorer=trips)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_inside_a_running_loop_it_works_and_can_be_awaited(concurrency: int) -> None:
    async def both() -> tuple[RunResult, RunResult]:
        inside = evaluate(DOCUMENT, whisper, concurrency=concurrency)
        return inside, await aevaluate(DOCUMENT, [shout, whisper], concurrency=concurrency, epochs=1)

    inside, awaited = asyncio.run(both())
    assert statuses(inside) == {"whisper": {"failed": 6}}
    assert statuses(awaited) == {"shout": {"ok": 3}, "whisper": {"failed": 3}}


def test_progress_tells_how_far_how_right_and_how_dear() -> None:
    seen: list[Progress] = []
    evaluate(DOCUMENT, [shout, whisper], on_progress=seen.append)
    last = seen[-1]
    assert (last.done, last.planned, last.errors) == (12, 12, 0)
    assert (last.pass_rate, last.tokens) == (0.5, 24)
    assert last.cost_usd == pytest.approx(0.06)


def test_costs_that_agents_report_end_a_run_before_its_limit() -> None:
    result = evaluate(DOCUMENT, whisper, max_cost=0.035)
    assert result.arms[0].samples_total == 3
    assert "the limit of $0.035" in (result.stopped_because or "")
    assert result.status is RunStatus.PARTIAL


def raises(text: str) -> str:
    raise LookupError(text)


def test_what_an_agent_raises_is_a_record_and_the_others_go_on() -> None:
    result = evaluate({**DOCUMENT, "max_failure_rate": 1.0}, [raises, shout])
    assert statuses(result) == {"raises": {"error": 6}, "shout": {"ok": 6}}
    failure = result.arms[0].samples[0].failure
    assert failure is not None
    assert failure.message.startswith("LookupError")
    assert {sample.status for sample in result.arms[0].samples} == {Status.ERROR}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evaluate(DOCUMENT, shout, epocs=3), "no option 'epocs'.*Did you mean epochs"),
        (lambda: evaluate(Dataset(ROWS), shout, epochs=0), "epochs: expected at least 1"),
        (lambda: evaluate(DOCUMENT, shout, epochs=0), "epochs: expected at least 1"),
        (lambda: evaluate(DOCUMENT, []), "no agent to run it with"),
        (lambda: evaluate(DOCUMENT, [shout, shout]), "takes part twice"),
        (lambda: evaluate([Case("a", 1), Case("a", 2)], shout), "the id 'a' appears twice"),
        (lambda: evaluate(Suite("s", (Benchmark("x", (Case("a", 1), Case("a", 2))),)), shout), "appears twice"),
        (
            lambda: evaluate(Suite("s", (Benchmark("x", (Case("a", 1),)),) * 2), shout),
            "two benchmarks have the id 'x'",
        ),
        (lambda: evaluate(DOCUMENT, "nobody"), "unknown agent 'nobody'"),
        (lambda: evaluate("absent.yaml", shout), "absent.yaml"),
    ],
)
def test_mistakes_are_one_clear_error(call: Callable[[], object], words: str, folder: Path) -> None:
    with pytest.raises(DynoError, match=f"(?s){words}"):
        call()
    assert not list((folder / ".dyno" / "runs").glob("*")), "nothing was begun"


def test_a_run_of_functions_is_resumed_by_its_own_program_only(folder: Path) -> None:
    result = evaluate(DOCUMENT, whisper, max_cost=0.035)
    with (
        Store.open(folder / ".dyno" / "dyno.db") as store,
        pytest.raises(RunError, match=r"whisper is a function of the program that started the run"),
    ):
        resume(result.run_id, Tools(store, folder / "runs"))


def test_evaluate_at_the_top_of_a_file_that_an_agent_is_loaded_from_is_refused(folder: Path) -> None:
    (folder / "agent.py").write_text(
        "from agentdyno import evaluate\ndef answer(text): return text\n"
        "evaluate({'dataset': {'cases': [{'input': 'a', 'target': 'a'}]}}, 'agent.py@answer')\n"
    )
    with pytest.raises(DynoError, match="at the top level of a file"):
        evaluate(DOCUMENT, "agent.py@answer")
