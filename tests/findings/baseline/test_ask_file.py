"""Baseline files: small, readable line by line, and refused with a reason when something is wrong with them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import ResultError, RunError
from agentdyno.findings.baseline.ask_file import parse_baseline, read_baseline, render_baseline, write_baseline
from agentdyno.findings.baseline.judge import committable
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord, ErrorClass

from ...properties import examples
from ..gate_records import case, record

NAMES = st.text(min_size=1, max_size=12)
NUMBERS = st.floats(0, 1e12, allow_nan=False)
METRICS = st.dictionaries(st.sampled_from(["duration_s", "cpu_s", "cost_usd", "total_tokens", "x y"]), NUMBERS)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def case_records(draw: st.DrawFn, benchmark: str, case_id: str) -> CaseRecord:
    tries = draw(st.integers(1, 9))
    scored = draw(st.integers(0, tries))
    return CaseRecord(
        benchmark,
        case_id,
        draw(st.text("0123456789abcdef", max_size=16)),
        tries,
        scored,
        draw(st.integers(0, scored)),
        draw(st.floats(0, 1)) if scored else None,
        draw(st.dictionaries(st.sampled_from(["ok", "failed", "error", "timeout"]), st.integers(1, 9))),
        draw(METRICS),
        draw(METRICS),
        draw(st.none() | NAMES),
        draw(st.none() | NAMES),
    )


@st.composite
def records(draw: st.DrawFn) -> AgentRecord:
    keys = draw(st.lists(st.tuples(NAMES, NAMES), unique=True, max_size=5))
    names = sorted({benchmark for benchmark, _ in keys})
    error = st.builds(ErrorClass, st.just("error"), NAMES, NAMES, st.integers(1, 9), NAMES, st.just(("c1",)))
    benchmarks = [
        BenchmarkRecord(
            name,
            draw(NAMES),
            "accuracy",
            "r",
            draw(st.floats(0, 1)),
            3,
            9,
            "run-1",
            draw(st.dictionaries(st.sampled_from(["accuracy", "speed"]), st.none() | st.floats(0, 1))),
            draw(st.dictionaries(st.just("speed"), st.tuples(NUMBERS, NUMBERS))),
            tuple(draw(st.lists(error, max_size=2))),
        )
        for name in names
    ]
    return AgentRecord(
        agent=draw(NAMES),
        name=draw(NAMES),
        version=draw(NAMES),
        suite=draw(NAMES),
        suite_id=draw(NAMES),
        suite_name=draw(NAMES),
        suite_version=draw(NAMES),
        finished_at=draw(st.integers(0, 2**45)),
        machine_id="m1",
        benchmarks=tuple(benchmarks),
        cases=tuple(draw(case_records(*key)) for key in keys),
        simulated=draw(st.booleans()),
        commit="abc",
        configuration=draw(st.dictionaries(st.text(max_size=8), PLAIN, max_size=3)),
        origin=draw(st.text(max_size=20)),
    )


@examples(60)
@given(st.lists(records(), min_size=1, max_size=2))
def test_what_is_written_is_read_back_as_the_committable_record(made: list[AgentRecord]) -> None:
    text = render_baseline(made)
    found = parse_baseline(text, "b.json")
    kept = sorted((committable(item) for item in made), key=lambda item: (item.suite_name, item.agent, item.suite))
    assert found == tuple(kept)
    assert render_baseline(found) == text
    text.encode("utf-8")
    json.loads(text)


@examples(60)
@given(records(), st.data())
def test_a_file_cut_anywhere_is_refused(made: AgentRecord, data: st.DataObject) -> None:
    text = render_baseline([made]).rstrip()
    end = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(ResultError) as caught:
        parse_baseline(text[:end], "b.json")
    assert caught.value.message in ("the file is cut off", "the file is empty")
    assert caught.value.remedy


def full(count: int = 146) -> AgentRecord:
    names = ("api_calls", "cost_usd", "cpu_s", "duration_s", "input_tokens", "itl_s", "output_tokens")
    used = {name: 123.456789 / (i + 1) for i, name in enumerate((*names, "peak_rss_bytes", "total_tokens", "ttft_s"))}
    spread = {name: value / 10 for name, value in used.items()}
    return record([case(f"tool-use-{i:03}", used=used, spread=spread, digest=f"{i:016x}") for i in range(count)])


def test_146_cases_with_every_metric_fit_in_60_kilobytes(tmp_path: Path) -> None:
    path = write_baseline(tmp_path / "made" / "baseline.json", [full()])
    assert path.stat().st_size < 60_000
    (found,) = read_baseline(path)
    assert len(found.cases) == 146
    assert found.cases[5].used["duration_s"] == 30.8642


def test_a_case_that_changes_changes_one_line() -> None:
    before = full(20)
    cases = [replace(item, score=0.4, passed=2) if item.case_id == "tool-use-007" else item for item in before.cases]
    first, second = render_baseline([before]), render_baseline([replace(before, cases=tuple(cases))])
    changed = [(old, new) for old, new in zip(first.splitlines(), second.splitlines(), strict=True) if old != new]
    ((old, new),) = changed
    assert '"id":"tool-use-007"' in old
    assert '"score":1,' in old
    assert '"score":0.4,' in new


def test_order_does_not_matter() -> None:
    one, two = record([case("a"), case("b")], "x@1"), record([case("a", benchmark="z"), case("c")], "x@2")
    mixed = replace(two, cases=two.cases[::-1], benchmarks=two.benchmarks[::-1])
    assert render_baseline([one, two]) == render_baseline([mixed, one])


def test_folders_of_this_machine_and_examples_of_errors_stay_out() -> None:
    error = ErrorClass("error", "exception", "no file /home/someone/project/data.csv", 3, "secret question", ("a",))
    made = record([case("a")])
    made = replace(
        made,
        benchmarks=(replace(made.benchmarks[0], errors=(error,)),),
        configuration={
            "folder": "/home/someone/models/small.gguf",
            "more": [r"C:\Users\someone\x.bin"],
            "base_url": "https://example.com/v1/chat",
            "path": "models/small.gguf",
            "slash": "a/b and / or c",
        },
        origin="pyperf, /home/someone/bench.json",
    )
    text = render_baseline([made])
    assert "someone" not in text
    assert "secret question" not in text
    (found,) = parse_baseline(text, "b.json")
    assert found.configuration == {
        "folder": "…/small.gguf",
        "more": ["…/x.bin"],
        "base_url": "https://example.com/v1/chat",
        "path": "models/small.gguf",
        "slash": "a/b and / or c",
    }
    assert found.origin == "pyperf, …/bench.json"
    assert found.benchmarks[0].errors[0].message == "no file …/data.csv"


def test_what_is_no_number_is_left_out() -> None:
    made = record([case("a", used={"duration_s": math.nan, "cpu_s": math.inf, "cost_usd": 0.1}, score=math.nan)])
    (found,) = parse_baseline(render_baseline([made]), "b.json")
    assert found.cases[0].used == {"cost_usd": 0.1}
    assert found.cases[0].score is None


GOOD = render_baseline([record([case("a"), case("b")])])


@pytest.mark.parametrize(
    ("text", "where", "message", "remedy"),
    [
        ("", "b.json", "the file is empty", "export"),
        ("{]", "b.json: line 1", "the file is cut off", "export"),
        (GOOD.replace('"tries":5', '"tries":}', 1), "b.json: line 24", "not JSON", "export"),
        ("<<<<<<< HEAD\n" + GOOD, "b.json: line 1", "merge conflict", "Resolve"),
        (GOOD.replace('"score":1', '"score":NaN', 1), "b.json", "NaN is no number", "export"),
        ("[1, 2]", "b.json", "not a baseline file", "agentdyno.baseline"),
        ('{"schema_version": 1, "run_id": "x"}', "b.json", "not a baseline file", "agentdyno.baseline"),
        (GOOD.replace('"schema_version": 1', '"schema_version": 2'), "b.json", "is newer", "Upgrade"),
        (GOOD.replace('"schema_version": 1', '"schema_version": "1"'), "b.json", "schema_version", "export"),
        (GOOD.replace('"records": [', '"recods": ['), "b.json", "records", "export"),
        (GOOD.replace('"tries":5', '"tries":"5"', 1), "b.json", "records[0].cases[0].tries: expected int", "export"),
        (GOOD.replace('"passed":5', '"passed":6', 1), "b.json", "(facts/a): scored and passed", "export"),
        (GOOD.replace('"score":1', '"score":1.5', 1), "b.json", "expected 0 to 1, got 1.5", "export"),
        (GOOD.replace('"id":"b"', '"id":"a"'), "b.json", "(facts/a): is there twice", "export"),
        (GOOD.replace('"benchmark":"facts"', '"benchmark":"fact"', 1), "b.json", "its benchmark is not", "export"),
        (GOOD.replace('"metrics": [', '"metrics": ["more", '), "b.json", "used: expected 4 values", "export"),
        (GOOD.replace('"id":"a",', ""), "b.json", "records[0].cases[0].id: expected text", "export"),
        (GOOD.replace('"agent": "mine@1",', ""), "b.json", "records[0].agent is missing", "export"),
        (GOOD.replace('"used":[0.001,', '"used":[1e999,', 1), "b.json", "too large", "export"),
    ],
)
def test_a_mangled_file_is_refused_with_its_place(text: str, where: str, message: str, remedy: str) -> None:
    assert text != GOOD
    with pytest.raises(ResultError) as caught:
        parse_baseline(text, "b.json")
    assert message in caught.value.message
    assert (caught.value.where or "").startswith(where)
    assert remedy in (caught.value.remedy or "")


def test_files_that_cannot_be_read_or_written_are_told(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="no such baseline file"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(ResultError, match="cannot be read"):
        read_baseline(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ResultError, match="UTF-8"):
        read_baseline(tmp_path / "binary")
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert read_baseline(tmp_path / "marked")[0].agent == "mine@1"
    with pytest.raises(RunError):
        write_baseline(tmp_path / "binary" / "b.json", [full(1)])
