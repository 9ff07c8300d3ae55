"""``dyno check --write-ci`` with other options: the written command has them."""

from __future__ import annotations

import pytest
import yaml

from agentdyno.workbench.ci_file import CI_FILE

from ...command import Bench


def run_of_check(bench: Bench) -> str:
    document = yaml.safe_load((bench.folder / CI_FILE).read_text(encoding="utf-8"))
    (run,) = [step["run"] for step in document["jobs"]["check"]["steps"] if step.get("name") == "Check"]
    return str(run)


def test_agents_and_limits_that_are_given_are_in_the_workflow(bench: Bench) -> None:
    words = ("--agent", "bot.py@answer", "--agent", "cmd:node bot.mjs", "--strict", "--epochs", "3")
    done = bench.dyno("check", "suite.yaml", *words, "--write-ci")
    assert done.code == 0, done.err
    run = run_of_check(bench)
    assert run.startswith('dyno check suite.yaml --against "origin/$BASE_REF" ')
    for part in ("--agent bot.py@answer", "--agent 'cmd:node bot.mjs'", "--strict", "--epochs 3"):
        assert part in run
    assert "--write-ci" not in run


def test_what_it_is_held_against_can_be_said(bench: Bench) -> None:
    assert bench.dyno("check", "--against", "baseline.json", "--write-ci").code == 0
    assert run_of_check(bench).startswith("dyno check --against baseline.json --junit ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--junit", "here.xml"), "--junit means nothing with --write-ci"),
        (("--agent", "cmd:echo ${{ github.token }}"), "cannot stand in a workflow"),
    ],
)
def test_what_cannot_be_in_a_workflow_is_refused(words: tuple[str, ...], told: str, bench: Bench) -> None:
    done = bench.dyno("check", *words, "--write-ci")
    assert (done.code, told in done.err) == (2, True), done.err
    assert not (bench.folder / CI_FILE).exists()
