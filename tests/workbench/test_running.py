"""``run_spec`` and ``compare`` from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno import NotComparable, SpecError, Verdict, compare, load_run, run_load, run_spec, stress_report
from agentdyno.model import Comparison, RunResult
from agentdyno.specs import parse_spec


@pytest.fixture
def store(tmp_path: Path) -> str:
    (tmp_path / "work.py").write_text("def work(n: int = 10):\n    return {'total': sum(range(n))}\n")
    return str(tmp_path / "dyno.db")


def spec(folder: str, n: object) -> dict[str, object]:
    return {"experiment": f"{Path(folder).parent}/work.py@work", "params": {"n": n}, "iterations": 12}


def test_results_at_hand_are_compared_with_results_in_the_store(store: str) -> None:
    small = run_spec(spec(store, 100), store=store)
    large = run_spec(spec(store, 10_000), store=store)
    assert small.arms[0].metrics["result.total"].median == 4950
    verdict = compare(small, large.run_id, store=store)
    assert verdict.arms[0].differing == {"n": (100, 10_000)}
    (total,) = (row for row in verdict.arms[0].metrics if row.metric.name == "result.total")
    assert (total.baseline, total.candidate) == (4950, 49_995_000)
    assert verdict.arms == compare(small, large, store=store).arms
    with pytest.raises(NotComparable, match="no arm"):
        compare(small, f"{large.run_id}:n=3", store=store)


def test_two_arms_of_a_result_are_compared_and_paired(store: str) -> None:
    both = run_spec(spec(store, [100, 10_000]), store=store)
    found = compare(both.arms[0], both.arms[1], store=store)
    assert (found.paired, found.verdict) == (True, Verdict.WORSE)
    other = run_spec(spec(store, 100), store=store)
    apart = compare(other.arms[0], both.arms[1], store=store)
    assert not apart.paired
    assert {row.verdict for arm in apart.arms for row in arm.metrics if row.metric.name == "duration_s"} == {None}


def test_two_pieces_of_code_run_against_each_other(store: str) -> None:
    folder = Path(store).parent
    (folder / "work.py").write_text(
        "def work(n: int = 10):\n    return {'steps': n}\n\n\n"
        "def slow(n: int = 10):\n    return {'steps': 9 * n}\n\n\n"
        "def odd(m: int = 10):\n    return m\n"
    )
    # What is judged is what they return: their times are those of a machine that may be busy.
    steps = {"unit": "count", "direction": "lower"}
    asked = {**spec(store, [1000, 2000]), "processes": 4, "metrics": {"steps": steps}}
    run = run_spec(asked, store=store, against=f"{folder}/work.py@slow")
    assert [arm.name for arm in run.arms] == [
        *("slow n=1000 [baseline]", "slow n=2000 [baseline]"),
        *("work n=1000 [candidate]", "work n=2000 [candidate]"),
    ]
    found = compare_two_sides(run, store)
    assert [row.verdict for arm in found.arms for row in arm.metrics if row.metric.name == "result.steps"] == [
        Verdict.BETTER,
        Verdict.BETTER,
    ]
    with pytest.raises(SpecError, match="n"):
        run_spec(asked, store=store, against=f"{folder}/work.py@odd")


def compare_two_sides(run: RunResult, store: str) -> Comparison:
    from agentdyno.findings.run.ask import findings_for
    from agentdyno.store import Store

    with Store.open(store) as opened:
        return findings_for(run, opened).comparisons[0]


def test_overrides_are_those_of_the_command_line(store: str) -> None:
    result = run_spec(spec(store, 100), store=store, iterations=4, params={"n": 7}, tags=("mine",), seed=3)
    assert (result.seed, result.tags) == (3, ("mine",))
    assert [(arm.params["n"], arm.samples_total) for arm in result.arms] == [(7, 4)]
    with pytest.raises(SpecError, match="nonsense"):
        run_spec(spec(store, 100), store=store, nonsense=1)


def test_reports_that_a_spec_names_are_written_with_the_run(store: str) -> None:
    result = run_spec({**spec(store, 100), "iterations": 3, "reports": ["md"]}, store=store)
    assert (Path(result.spec.output_dir or "") / result.run_id / "report.md").is_file()
    with pytest.raises(SpecError, match="no report format"):
        run_spec({**spec(store, 100), "reports": ["mdd"]}, store=store)


def test_a_run_is_loaded_by_the_beginning_of_its_id(store: str) -> None:
    made = run_spec({**spec(store, 100), "iterations": 3}, store=store)
    assert load_run(made.run_id[:13], store=store).run_id == load_run("last", store=store).run_id == made.run_id
    assert len(load_run("last", store=store).arms[0].samples) == 3


def test_a_load_is_run_from_python(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(store).parent
    monkeypatch.chdir(folder)
    (folder / "agent.py").write_text("def answer(text):\n    return text\n")
    asked = {"target": "agent.py@answer", "input": "hi", "concurrency": 1, "duration_s": 0.3}
    report = stress_report(run_load({"load": asked}, store=store))
    assert report.scenarios[0].outcomes["ok"] > 0
    assert report.scenarios[0].closed_loop


def test_a_spec_at_hand_is_complete(store: str) -> None:
    ready = parse_spec(spec(store, 5), source="here", base_dir=Path(store).parent)
    assert run_spec(ready, store=store).name == "work"
    with pytest.raises(SpecError, match="takes no quick and no overrides"):
        run_spec(ready, store=store, iterations=3)
