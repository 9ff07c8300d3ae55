"""``dyno profile`` as a user types it, the profile in reports, and the Python API."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import agentdyno
from agentdyno.cli.main import main

from ...command import Bench, Done

AGENT = '''
def answer(text, tool_s: float = 0.03):
    """Says what it did: a model call, two tools one after the other, a wait."""
    usage = {"input_tokens": 100, "output_tokens": 20}
    return {
        "output": text,
        "events": [
            {"kind": "step", "at_s": 0.0, "name": "plan", "duration_s": 0.06, "details": {"span": "a"}},
            {"kind": "model_call", "at_s": 0.01, "name": "gpt-x", "duration_s": 0.05,
             "details": {"parent": "a", "usage": usage, "finish_reason": "length"}},
            {"kind": "tool_call", "at_s": 0.06, "name": "search", "content": "x", "duration_s": tool_s},
            {"kind": "tool_call", "at_s": 0.06 + tool_s, "name": "fetch", "content": "x", "duration_s": tool_s},
            {"kind": "wait", "at_s": 0.2, "name": "rate limit", "duration_s": 0.8},
        ],
    }


def silent(text):
    return text
'''
SUITE = """
suite_id: tiny
epochs: 2
benchmarks:
  - benchmark_id: echo
    scoring_rubric: exact
    dataset: {cases: [{id: one, input: x, target: x}, {id: two, input: y, target: y}]}
"""
Dyno = Callable[..., Done]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A first run of an agent, and a second one whose tools take twice the time, beside an agent without events."""
    made = Bench(tmp_path_factory.mktemp("profiled"))
    made.write("agent.py", AGENT)
    made.write("suite.yaml", SUITE)
    slower = (
        "agents:\n  - {name: worker, use: 'agent.py@answer', config: {tool_s: 0.06}}\n"
        "  - {name: silent, use: 'agent.py@silent'}\n"
    )
    made.write("first.yaml", SUITE + "agents:\n  - {name: worker, use: 'agent.py@answer'}\n")
    made.write("second.yaml", SUITE + slower)
    for file in ("first.yaml", "second.yaml"):
        done = made.dyno("run", file)
        assert done.code == 0, done.err
    return made


@pytest.fixture
def dyno(bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dyno:
    monkeypatch.chdir(bench.folder)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["dyno", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(int(left.value.code or 0), out, err)

    return call


def phases(profile: dict[str, object]) -> dict[str, float]:
    data = profile["profile_data"]
    assert isinstance(data, dict)
    return {item["phase_name"]: round(item["duration_ms"], 3) for item in data["execution_phases"]}


def test_a_run_shows_the_phases_of_each_agent_and_says_who_told_nothing(dyno: Dyno) -> None:
    done = dyno("profile", "last")
    assert done.code == 0
    assert "the most time is in wait before a retry rate limit: 80 %" in " ".join(done.out.split())
    for title in ("Phases of worker@", "Bottlenecks", "Use of resources", "Tokens", "What could be saved"):
        assert title in done.out
    assert "told nothing of what happens inside" in done.out


def test_json_has_the_planted_times(dyno: Dyno) -> None:
    report = dyno("profile", "last~1", "--json").json
    (profile,) = report["profiles"]
    found = phases(profile)
    assert (found["model"], found["tool"], found["retry_wait"]) == (50, 60, 800)
    assert found["own_code"] + found["idle"] == pytest.approx(90, abs=0.01)
    assert profile["executions"] == 4
    assert profile["beyond_measured"] == 4
    assert profile["trees"] == []
    rules = [item["rule"] for item in profile["optimization_opportunities"]]
    assert {"truncated_calls", "avoid_retries"} <= set(rules)


def test_one_case_is_shown_span_by_span(dyno: Dyno) -> None:
    done = dyno("profile", "last", "--agent", "worker", "--case", "echo/one")
    assert "Spans of case one, epoch 1" in done.out
    assert "· gpt-x" in done.out
    (profile,) = dyno("profile", "last", "--agent", "worker", "--case", "one", "--json").json["profiles"]
    assert (profile["case_id"], profile["benchmark"], len(profile["trees"])) == ("one", "echo", 2)


def test_an_agent_means_its_newest_run(dyno: Dyno) -> None:
    (profile,) = dyno("profile", "worker", "--json").json["profiles"]
    assert phases(profile)["tool"] == 120


def test_two_runs_stand_side_by_side(dyno: Dyno) -> None:
    done = dyno("profile", "last", "--against", "last~1", "--agent", "worker")
    assert done.code == 0
    assert "Profiles side by side" in done.out
    assert "shown and not judged" in " ".join(done.out.split())
    (pair,) = dyno("profile", "last", "--against", "last~1", "--agent", "worker", "--json").json["comparisons"]
    tool = next(item for item in pair["changes"] if item["name"] == "tool")
    assert (tool["baseline"], tool["candidate"], tool["ratio"]) == (
        pytest.approx(0.06),
        pytest.approx(0.12),
        pytest.approx(2),
    )
    assert pair["cases"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody",), "'nobody' is neither a run nor an agent here"),
        (("last", "--case", "on"), "there is no case 'on' here"),
        (("last", "--agent", "workr"), "there is no agent 'workr' here"),
        (("last~7",), "there is no last~7: the store holds 2 runs"),
    ],
)
def test_names_that_are_not_there_are_said_with_the_nearest(
    dyno: Dyno, arguments: tuple[str, ...], said: str
) -> None:
    done = dyno("profile", *arguments)
    assert done.code == 2
    assert said in " ".join(done.err.split())


def test_reports_have_pictures_and_tables(dyno: Dyno, tmp_path: Path) -> None:
    done = dyno("profile", "last", "--case", "one", "--format", "html,md,png", "--output-dir", str(tmp_path))
    assert done.code == 0
    assert (tmp_path / "profile-waterfall-1-1.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "profile-flame-1-1.png").exists()
    page = (tmp_path / "report.html").read_text()
    assert "Spans in time." in page
    assert "Bottlenecks" in (tmp_path / "report.md").read_text()


def test_the_report_of_a_run_ends_with_the_profile(dyno: Dyno, tmp_path: Path) -> None:
    assert dyno("report", "last", "--format", "html,md", "--output-dir", str(tmp_path)).code == 0
    for name in ("report.md", "report.html"):
        text = (tmp_path / name).read_text()
        assert text.index("Time and money") < text.index("Phases of worker@")


def test_the_python_api_gives_the_same(dyno: Dyno, bench: Bench) -> None:
    report = agentdyno.profile("last", case="one", agent="worker", store=bench.folder / ".dyno" / "dyno.db")
    assert [len(tree.spans) for tree in report.profiles[0].trees] == [5, 5]
    assert dyno("profile", "last", "--case", "one", "--agent", "worker", "--json").json["profiles"][0][
        "wall_s"
    ] == pytest.approx(report.profiles[0].wall_s)
