"""Like is compared with like, as a user sees it: quick and limited runs beside whole ones, targets that stay."""

from __future__ import annotations

import pytest

from ..command import Bench

AGENTS = """
def lucky(case):
    return case.target if int(case.id[1:]) < 8 else "no"

def steady(case):
    return case.target if int(case.id[1:]) % 4 else "no"

def base(case):
    return case.target
"""
CASES = "\n".join(f'    - {{id: c{number}, input: "q{number}", target: "a{number}"}}' for number in range(20))
SUITE = f"""
name: forms
category: reliability
scorer: exact
epochs: 3
quick: {{limit: 8, epochs: 1}}
baseline_scores: [{{agent_id: base}}]
dataset:
  cases:
{CASES}
"""
WORKSPACE = "agents: {base: agents.py@base, lucky: agents.py@lucky, steady: agents.py@steady}\n"


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    made = loaded_bench
    made.write("agents.py", AGENTS)
    made.write("forms.yaml", SUITE)
    made.write("dyno.yaml", WORKSPACE)
    return made


def ran(bench: Bench, *options: str) -> str:
    done = bench.dyno("run", "forms.yaml", *options)
    assert done.code == 0, done.err
    return done.out


def board(bench: Bench, *options: str) -> dict[str, tuple[int | None, int]]:
    """Rank by accuracy and number of executions, by agent."""
    entries = bench.dyno("board", "--metric", "accuracy", "--json", *options).json["entries"]
    return {entry["name"]: (entry["scores"]["accuracy"]["rank"], entry["executions"]) for entry in entries}


def test_quick_runs_are_on_no_board_and_in_no_history_unless_asked_for(bench: Bench) -> None:
    ran(bench, "--agent", "lucky", "--agent", "steady")
    before = board(bench)
    assert before == {"steady": (1, 1), "lucky": (2, 1)}
    for _ in range(3):
        told = " ".join(ran(bench, "--quick", "--agent", "lucky").split())
        assert "A quick run, 8 of 20 cases, 1 of 3 epochs" in told
    assert board(bench) == before
    assert "Not counted: 3 executions" in bench.dyno("board").out
    assert board(bench, "--include-partial") == {"lucky": (1, 4), "steady": (2, 1)}
    shown = bench.dyno("board", "--include-partial").out
    assert "4/4†" in shown
    assert "† with runs that were quick, limited or cut short: lucky" in shown

    history = bench.dyno("history", "lucky", "--metric", "accuracy", "--json").json
    assert [(point["value"], point["form"]) for point in history["points"]] == [(0.4, "")]
    history = bench.dyno("history", "lucky", "--metric", "accuracy", "--include-partial", "--json").json
    assert [(point["value"], point["form"]) for point in history["points"]] == [(0.4, ""), *[(1.0, "quick")] * 3]
    assert bench.dyno("list", "runs").out.count("complete, quick") == 3
    assert [row["form"] for row in bench.dyno("list", "runs", "--json").json] == ["quick"] * 3 + ["full"]
    assert bench.dyno("board", "--category", "reliability", "--json").json["scope"]["suites"] == ["forms"]


def test_an_agent_with_quick_runs_alone_is_told_how_to_see_them(bench: Bench) -> None:
    for _ in range(2):
        ran(bench, "--quick", "--agent", "lucky")
    told = " ".join(bench.dyno("history", "lucky").out.split())
    assert "Not counted: 2 runs that were quick, limited or cut short; --include-partial." in told
    assert "Not counted" not in bench.dyno("history", "lucky", "--include-partial").out
    assert bench.dyno("history", "lucky", "--days", "1", "--benchmark", "forms").code == 0


def test_every_accuracy_of_boards_and_histories_says_of_how_many_cases_it_is(bench: Bench) -> None:
    ran(bench, "--agent", "lucky", "--agent", "steady")
    ran(bench, "--quick", "--agent", "lucky")
    assert "Accuracy is of 20 cases." in bench.dyno("board").out
    entries = bench.dyno("board", "--json").json["entries"]
    assert [(entry["scored"], entry["cases"]) for entry in entries] == [(20, 20)] * 2
    partial = bench.dyno("board", "--include-partial")
    assert "Accuracy is of 20 cases; lucky" in " ".join(partial.out.split()), "its newest run is of 8 of them"
    assert "of 8." in partial.out
    matrix = bench.dyno("board", "--matrix", "--format", "csv,md,html", "--output-dir", "out")
    assert "Accuracy is of 20 cases." in matrix.out
    for page in (bench.folder / "out").glob("*.[mh]*"):
        assert "Accuracy is of 20 cases" in page.read_text(), page
    assert "Each point is of 20 cases." in bench.dyno("history", "lucky", "--metric", "accuracy").out
    both = bench.dyno("history", "lucky", "--metric", "accuracy", "--include-partial", "--json").json["points"]
    assert [(point["scored"], point["cases"]) for point in both] == [(20, 20), (8, 8)]


def test_agents_that_ran_an_older_version_of_the_suite_alone_are_named_below_the_board(bench: Bench) -> None:
    ran(bench, "--agent", "lucky", "--agent", "steady")
    bench.write("forms.yaml", SUITE.replace("q19", "another question"))
    ran(bench, "--agent", "steady")
    told = " ".join(bench.dyno("board").out.split())
    assert "Only older versions of this suite were run by lucky: `dyno run SUITE --agent lucky`." in told
    assert bench.dyno("board", "--json").json["scope"]["older_version"] == ["lucky"]
    assert bench.dyno("board", "--matrix", "--json").json["scope"]["older_version"] == ["lucky"]
    ran(bench, "--agent", "lucky")
    assert "older versions" not in bench.dyno("board").out


def test_a_limited_run_is_no_baseline_and_no_change(bench: Bench) -> None:
    ran(bench, "--limit", "5", "--agent", "steady")
    done = bench.dyno("baseline", "set", "steady")
    assert done.code == 3
    assert "steady has no whole run of the suite: what there is was limited" in done.err
    assert "--include-partial" in done.err
    assert bench.dyno("changes", "--json").json["changes"]["rows"] == []
    assert bench.dyno("baseline", "set", "steady", "--include-partial").code == 0
    ran(bench, "--limit", "100", "--agent", "steady")  # more than there are: the whole suite
    assert board(bench) == {"steady": (1, 1)}
    assert bench.dyno("baseline", "set", "steady").code == 0


def test_targets_stay_while_the_baseline_agent_runs_again_and_move_when_told_to(bench: Bench) -> None:
    def efficiency() -> float:
        entries = bench.dyno("board", "--json").json["entries"]
        return float(next(item["scores"]["efficiency"]["score"] for item in entries if item["name"] == "steady"))

    ran(bench, "--quick", "--agent", "base")
    assert "None yet" in bench.dyno("baseline", "targets", "forms").out, "a quick run sets no target"
    ran(bench, "--agent", "steady")
    ran(bench, "--agent", "base")
    set_once = bench.dyno("baseline", "targets", "forms", "--json").json
    assert {row["agent"].partition("@")[0] for row in set_once} == {"base"}
    first = efficiency()
    ran(bench, "--agent", "base")
    assert bench.dyno("baseline", "targets", "forms", "--json").json == set_once
    assert efficiency() == first

    moved = bench.dyno("baseline", "targets", "forms", "--from", "steady")
    assert moved.code == 0
    assert "Targets of forms from steady@" in moved.out
    assert "4 executions scored again" in moved.out  # the quick one, too
    assert efficiency() != first
    again = bench.dyno("baseline", "targets", "forms", "--from", "steady")
    assert "Nothing moved" in again.out
