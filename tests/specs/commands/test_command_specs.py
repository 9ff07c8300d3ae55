"""Commands as a user describes them: parameters, names, shells, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.model import Order
from agentdyno.specs.commands.build import argv_of, load_commands, needs_shell, parse_commands
from agentdyno.specs.commands.scan import filled, scanned


def commands(*texts: str, **settings: object) -> list[str]:
    spec = parse_commands({"commands": list(texts), **settings})
    return [str(entry.params["command"]) for entry in spec.entries]


def test_a_range_has_both_its_ends() -> None:
    assert scanned("n", "1", "3") == [1, 2, 3]
    assert scanned("n", "0.1", "0.5", "0.2") == [0.1, 0.3, 0.5]
    assert scanned("n", "2", "9", "3") == [2, 5, 8]


@pytest.mark.parametrize(
    ("low", "high", "step"), [("3", "1", None), ("a", "3", None), ("1", "9", "0"), ("0", "nan", None)]
)
def test_a_range_that_is_none_is_refused(low: str, high: str, step: str | None) -> None:
    with pytest.raises(SpecError, match="--parameter-scan n"):
        scanned("n", low, high, step)


@given(st.text(), st.dictionaries(st.from_regex(r"\A\w+\Z"), st.integers()))
def test_only_known_names_in_braces_are_replaced(text: str, values: dict[str, object]) -> None:
    result = filled(text, values)
    assert result == text or any(f"{{{name}}}" in text for name in values)


def test_parameters_are_combined_the_last_one_fastest() -> None:
    assert commands("cc -O{o} {f}.c", parameters={"o": [0, 2], "f": ["a", "b"]}) == [
        *("cc -O0 a.c", "cc -O0 b.c"),
        *("cc -O2 a.c", "cc -O2 b.c"),
    ]


def test_a_command_without_a_parameter_runs_once_beside_one_with() -> None:
    assert commands("sort words", "sort -j {n} words", parameters={"n": [1, 2]}) == [
        "sort words",
        "sort -j 1 words",
        "sort -j 2 words",
    ]


def test_a_parameter_that_no_command_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"no command has \{thread\}") as caught:
        commands("make -j {threads}", parameters={"thread": [1, 2]})
    assert "threads" in str(caught.value)


def test_the_same_command_twice_is_two_arms_with_two_names() -> None:
    spec = parse_commands({"commands": ["true", "true"]})
    assert [entry.name for entry in spec.entries] == ["true", "true (2)"]
    assert spec.entries[0].params != spec.entries[1].params


def test_a_program_is_started_directly_and_a_pipe_needs_a_shell_for_all() -> None:
    direct = parse_commands({"commands": ["true", "env"]})
    piped = parse_commands({"commands": ["true", "env | wc"]})
    assert {entry.params["shell"] for entry in direct.entries} == {"none"}
    assert {entry.params["shell"] for entry in piped.entries} == {"sh"}


@pytest.mark.parametrize(
    "text", ["a | b", "cd /", "X=1 env", "echo $HOME", "ls *.py", "no-such-program-here", "echo 'a"]
)
def test_what_only_a_shell_understands_needs_one(text: str) -> None:
    assert needs_shell(text)


@pytest.mark.parametrize("text", ["true", "env --unset=A true", "sort -k 1,2 'a file'"])
def test_what_a_program_understands_needs_none(text: str) -> None:
    assert not needs_shell(text)


def test_words_are_divided_as_a_shell_divides_them() -> None:
    assert argv_of("sort 'a file' -r", "none") == ["sort", "a file", "-r"]
    assert argv_of("a | b", "bash --norc") == ["bash", "--norc", "-c", "a | b"]
    with pytest.raises(SpecError, match="quotation mark"):
        argv_of("echo 'a", "none")


def test_setups_that_differ_run_one_after_the_other() -> None:
    asked = {"commands": ["build {v}"], "parameters": {"v": ["a", "b"]}}
    assert parse_commands({**asked, "setup": "make"}).order is Order.INTERLEAVED
    assert parse_commands({**asked, "setup": "git checkout {v}"}).order is Order.SEQUENTIAL


def test_names_are_the_arms_names_with_the_parameters_that_vary() -> None:
    spec = parse_commands({"commands": ["a {n}", "b {n}"], "names": ["old", "new {n}"], "parameters": {"n": [1, 2]}})
    assert [entry.name for entry in spec.entries] == ["old 1", "old 2", "new 1", "new 2"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"runs": 0}, "at least 1"),
        ({"min_runs": 9, "max_runs": 3}, "at least 9 runs and at most 3"),
        ({"prepare": ["a", "b", "c"]}, "3 for 2 commands"),
        ({"names": ["a", "b", "c"]}, "3 names for 2 commands"),
        ({"shell": "no-such-shell"}, "no shell"),
        ({"warmups": 3}, "unknown key 'warmups'"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_commands({"commands": ["true", "false"], **settings})


def test_a_file_is_read_with_what_quick_changes(tmp_path: Path) -> None:
    file = tmp_path / "sleeps.yaml"
    file.write_text("commands: [sleep 1]\nruns: 50\nquick: {runs: 3}\n")
    assert load_commands(file).entries[0].iterations.measured == 50
    quick = load_commands(file, quick=True, overrides={"warmup": 2})
    assert (quick.name, quick.entries[0].iterations.measured, quick.entries[0].iterations.warmup) == ("sleeps", 3, 2)
