"""``dyno time``: commands that are really run, and what is said about them."""

from __future__ import annotations

import csv
import json

import pytest

from ...command import Bench, Done


def test_two_commands_take_turns_and_the_slower_one_is_called_so(loaded_bench: Bench) -> None:
    # So far apart that no machine is too busy to tell them.
    done = loaded_bench.dyno("time", "-r", "10", "sleep 0.002", "sleep 0.3", "--json")
    assert done.code == 0, done.err
    first, second = done.json["arms"]
    assert (first["name"], second["name"]) == ("sleep 0.002", "sleep 0.3")
    assert first["metrics"]["duration_s"]["n"] == second["metrics"]["duration_s"]["n"] == 10
    started = [[sample["started_at_ms"] for sample in arm["samples"]] for arm in (first, second)]
    assert all(max(started[0][i], started[1][i]) <= min(started[0][i + 1], started[1][i + 1]) for i in range(9))
    assert {"user_s", "system_s", "cpu_s"} <= set(first["metrics"])

    told = loaded_bench.dyno("compare", "last:sleep 0.002", "last:sleep 0.3", "--json").json
    row = next(row for row in told["arms"][0]["metrics"] if row["metric"]["name"] == "duration_s")
    assert (told["paired"], row["verdict"]) == (True, "worse")
    assert loaded_bench.dyno("time", "-r", "10", "sleep 0.002", "sleep 0.3", "--gate").code == 1


def test_the_first_line_says_how_many_times_slower(loaded_bench: Bench) -> None:
    done = loaded_bench.dyno("time", "-r", "8", "sleep 0.001", "sleep 0.3", "-n", "short", "-n", "long")
    assert done.out.startswith("✗ worse  long is ")
    assert "slower than short." in done.out.splitlines()[0]


def test_what_is_around_a_command_runs_as_often_as_it_should(loaded_bench: Bench) -> None:
    log = loaded_bench.folder / "log"
    done = loaded_bench.dyno(
        *("time", "-w", "2", "-r", "3", "echo run{x} >> log", "-L", "x", "A,B"),
        *("-s", "echo setup >> log", "-p", "echo prepare{x} >> log", "-c", "echo cleanup >> log"),
    )
    assert done.code == 0, done.err
    lines = log.read_text().split()
    assert [lines.count(word) for word in ("setup", "prepareA", "runA", "prepareB", "runB", "cleanup")] == [
        *(2, 5, 5, 5, 5, 2)
    ]
    assert lines[0] == "setup"
    assert lines[-2:] == ["cleanup", "cleanup"]
    assert all(lines[i + 1] == line.replace("prepare", "run") for i, line in enumerate(lines) if "prepare" in line)


def test_setups_of_their_own_come_before_the_runs_of_their_command(loaded_bench: Bench) -> None:
    done = loaded_bench.dyno("time", "-r", "2", "echo {x} >> log", "-L", "x", "A,B", "-s", "echo set{x} >> log")
    assert done.code == 0, done.err
    assert (loaded_bench.folder / "log").read_text().split() == ["setA", "A", "A", "setB", "B", "B"]
    assert "one after the other" in done.out


def test_exports_are_those_of_hyperfine_and_can_be_imported(loaded_bench: Bench) -> None:
    exports = [part for kind in ("json", "csv", "markdown") for part in (f"--export-{kind}", f"out.{kind}")]
    assert loaded_bench.dyno("time", "-N", "-r", "4", "-L", "n", "true,env", "{n}", *exports).code == 0
    rows = json.loads((loaded_bench.folder / "out.json").read_text())["results"]
    assert [(row["command"], row["parameters"], len(row["times"]), row["exit_codes"]) for row in rows] == [
        ("true", {"n": "true"}, 4, [0] * 4),
        ("env", {"n": "env"}, 4, [0] * 4),
    ]
    table = list(csv.DictReader((loaded_bench.folder / "out.csv").read_text().splitlines()))
    assert [row["parameter_n"] for row in table] == ["true", "env"]
    assert float(table[0]["mean"]) == rows[0]["mean"]
    assert "| `env` |" in (loaded_bench.folder / "out.markdown").read_text()
    assert loaded_bench.dyno("import", "out.json").code == 0


def test_an_exit_code_ends_the_run_unless_it_is_to_be_ignored(loaded_bench: Bench) -> None:
    refused = loaded_bench.dyno("time", "-r", "3", "true", "sh -c 'exit 3'")
    assert refused.code == 2
    assert "ended with exit code 3" in refused.err
    assert "-i" in refused.err
    taken = loaded_bench.dyno("time", "-i", "-r", "3", "sh -c 'exit 3'", "--json")
    assert taken.code == 0
    assert [sample["details"] for sample in taken.json["arms"][0]["samples"]] == [{"exit_code": 3}] * 3


@pytest.mark.parametrize("shell", [(), ("-N",)], ids=["a shell", "no shell"])
def test_a_program_that_is_nowhere_is_not_answered_with_going_on_all_the_same(
    shell: tuple[str, ...], loaded_bench: Bench
) -> None:
    done = loaded_bench.dyno("time", "-r", "3", *shell, "no-such-program -x")
    assert done.code == 2
    assert "No program of that name is here" in done.err
    assert "--ignore-failure" not in done.err


def test_a_failing_warm_up_leaves_no_run(loaded_bench: Bench) -> None:
    assert loaded_bench.dyno("time", "-w", "1", "false").code == 2
    assert loaded_bench.dyno("list", "runs", "--json").json == []


def _told(done: Done) -> tuple[int, str]:
    return done.code, done.err.strip().splitlines()[-2] if len(done.err.strip().splitlines()) > 1 else done.err


def test_mistakes_are_told_before_anything_runs(loaded_bench: Bench) -> None:
    assert _told(loaded_bench.dyno("time", "-N", "no-such-program -x", "-r", "1")) == (
        2,
        "Error: 'no-such-program -x' cannot be started: No such file or directory",
    )
    assert "no command has {x}" in loaded_bench.dyno("time", "true", "-L", "x", "1,2").err
    assert "no-such-folder" in loaded_bench.dyno("time", "true", "--export-json", "no-such-folder/a.json").err
    assert "missing.txt" in loaded_bench.dyno("time", "cat", "--input", "missing.txt").err
    assert loaded_bench.dyno("time", "true", "-D", "2").code == 2


def test_input_output_and_a_time_limit(loaded_bench: Bench) -> None:
    loaded_bench.write("in.txt", "hello\n")
    assert loaded_bench.dyno("time", "-r", "2", "cat", "--input", "in.txt", "--output", "out.txt").code == 0
    assert (loaded_bench.folder / "out.txt").read_text() == "hello\n"
    assert "hello" in loaded_bench.dyno("time", "-r", "1", "cat", "--input", "in.txt", "--show-output").err
    late = loaded_bench.dyno("time", "-r", "1", "sleep 60", "--timeout", "0.05")
    assert late.code == 2
    assert "took longer than 0.05 s" in late.err


def test_a_file_of_commands_is_run_and_an_interrupted_run_goes_on(loaded_bench: Bench) -> None:
    loaded_bench.write("t.yaml", "commands: ['test -e go', 'true']\nruns: 3\n")
    assert loaded_bench.dyno("run", "t.yaml").code == 2
    loaded_bench.write("go", "")
    done = loaded_bench.dyno("resume", "last", "--retry-errors", "--json")
    assert done.code == 0, done.err
    assert [arm["statuses"] for arm in done.json["arms"]] == [{"ok": 3}, {"ok": 3}]


def test_a_dry_run_shows_the_plan_and_runs_nothing(loaded_bench: Bench) -> None:
    done = loaded_bench.dyno("time", "-r", "7", "touch made", "--dry-run")
    assert done.code == 0
    assert "touch made" in done.out
    assert not (loaded_bench.folder / "made").exists()
