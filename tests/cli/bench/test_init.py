"""``dyno init`` and what follows: a workspace that runs as it was written, without any network."""

from __future__ import annotations

from ...command import Bench


def test_an_empty_folder_becomes_a_workspace_that_runs(bench: Bench) -> None:
    written = bench.dyno("init")
    assert written.code == 0, written.err
    assert {path.name for path in bench.folder.iterdir()} >= {"dyno.yaml", "agent.py", "suites"}
    assert 'dyno try agent.py@answer "What is 17 * 23?"' in written.err
    tried = bench.dyno("try", "agent.py@answer", "What is 17 * 23?")
    assert tried.out.splitlines()[0] == "391"

    done = bench.dyno("run")
    assert done.code == 0, done.err
    assert "First steps: 1 agent × 12 cases, 42 calls (36 executions + 6 warm-ups), no charge" in done.err
    assert "starter passed 27 of 36" in done.out
    assert "word-problem" in done.out
    below = Bench(bench.folder / "suites")
    below.environ = bench.environ
    again = below.dyno("run", "--quick")
    assert again.code == 0, again.err
    assert len(bench.dyno("list", "runs", "--json").json) == 2, "dyno.yaml and the store are found from below"


def test_a_second_init_changes_nothing_and_keys_are_noticed_by_name(bench: Bench) -> None:
    first = bench.dyno("init", OPENAI_API_KEY="sk-secret-of-mine")
    assert "OPENAI_API_KEY is set" in first.err
    text = (bench.folder / "dyno.yaml").read_text()
    assert "openai:gpt-5-mini" in text
    assert "sk-secret-of-mine" not in text + first.err
    bench.write("agent.py", "mine")
    assert "Kept agent.py" in bench.dyno("init").err
    assert (bench.folder / "agent.py").read_text() == "mine"
