"""Recorded traffic."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.load.plan.conversations import recorded_conversations
from agentdyno.load.plan.schedule import build_schedule
from agentdyno.load.plan.trace import read_trace
from agentdyno.model.load import Arrivals, Step

NS = 10**9


def written(folder: Path, text: str, name: str = "trace.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "timestamp,input_length,output_length\n10.5,100,20\n10.75,3,1\n",
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:15:46.5000000,100,20\n2023-11-16 18:15:46.7500000,3,1\n",
        "Timestamp,Session,Request tokens,Response tokens,Total tokens\n5,x,100,20,120\n5.25,y,3,1,4\n\n",
        '{"timestamp": 27000, "input_length": 100, "output_length": 20, "hash_ids": [1]}\n\n'
        '{"timestamp": 27250, "input_length": 3, "output_length": 1, "hash_ids": [2]}\n',
        "arrival_ms,prompt_tokens,completion_tokens\r\n0,100,20\r\n250,3,1\r\n",
        "timestamp,input_length,output_length\n1.25,3,1\n1.0,100,20\n",
        '\ufeff"timestamp", "input_length", "output_length"\n0,100,20\n0.25,3,1\n',
    ],
    ids=["plain", "dates", "seconds", "milliseconds", "arrival_ms", "out of order", "byte order mark"],
)
def test_traces_of_every_known_kind_read_alike(tmp_path: Path, text: str) -> None:
    trace = read_trace(written(tmp_path, text.replace('", "', '","')))
    assert trace.due_ns.tolist() == [0, NS // 4]
    assert trace.input_words.tolist() == [100, 3]
    assert trace.output_tokens.tolist() == [20, 1]


def test_answers_that_were_not_recorded_have_no_limit(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, "time,input_tokens\n0,0\n1,7\n"))
    assert trace.lengths().output_tokens == (None, None)
    assert trace.lengths().input_words == (1, 7)


def test_a_replay_keeps_the_rate_and_the_times_of_the_trace(tmp_path: Path) -> None:
    rows = "".join(f"{number / 4},5,5\n" for number in range(9))
    trace = read_trace(written(tmp_path, "time,input_length,output_length\n" + rows))
    assert (len(trace), trace.duration_s, trace.stages()[0].rate) == (9, 2.25, 4.0)
    schedule = build_schedule(Step("replay", trace.stages(), Arrivals.TRACE), 9, recorded_ns=trace.due_ns)
    assert (schedule.due_ns * 4 // NS).tolist() == list(range(9))
    assert schedule.request.tolist() == list(range(9))
    assert (trace.faster(2.0).due_ns * 8 // NS).tolist() == list(range(9))
    assert len(trace.first(4)) == 4
    with pytest.raises(SpecError, match="0 times as fast"):
        trace.faster(0.0)


def test_a_single_request_is_a_second_long(tmp_path: Path) -> None:
    assert read_trace(written(tmp_path, "time,input_length\n5,1\n")).duration_s == 1.0


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("timestamp,input_length\n0,5\nsoon,5\n", 3, "timestamp is no time: 'soon'"),
        ("timestamp,input_length\n0,5\n\n1,-2\n", 4, "input_length is no number of tokens: '-2'"),
        ("timestamp,input_length\n0,1.5\n", 2, "no number of tokens"),
        ("timestamp,input_length\nnan,5\n", 2, "no time"),
        ("timestamp,input_length\n0,99999999999\n", 2, "more than 10,000,000"),
        ("timestamp,input_length\n0,5,6\n", 2, "3 cells for 2 columns"),
        ("when,input_length\n0,5\n", 2, "no column holds the timestamp"),
        ("timestamp,size\n0,5\n", 2, "no column holds the input_length"),
        ('{"timestamp": 0, "input_length": 1}\n{"timestamp": 1\n', 2, "not a JSON object"),
        ('{"timestamp": 0, "input_length": 1}\n[1, 2]\n', 2, "not a JSON object"),
        ('{"timestamp": 0, "input_length": 1}\n{"timestamp": 3}\n', 2, "input_length is no number of tokens: None"),
        ('{"timestamp": true, "input_length": 1}\n', 1, "timestamp is no time: True"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SpecError) as raised:
        read_trace(path)
    assert raised.value.where == f"{path}:{line}"
    assert message in raised.value.message


def test_what_is_no_trace_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="holds no request"):
        read_trace(written(tmp_path, "timestamp,input_length\n"))
    with pytest.raises(SpecError, match="holds no request"):
        read_trace(written(tmp_path, ""))
    with pytest.raises(SpecError, match="cannot be read"):
        read_trace(tmp_path / "none.csv")
    with pytest.raises(SpecError, match="cannot be read"):
        read_trace(tmp_path)
    (tmp_path / "binary").write_bytes(b"timestamp\xff\xfe\x00")
    with pytest.raises(SpecError, match="not a text in UTF-8"):
        read_trace(tmp_path / "binary")


TALKS = """{"session_id": "a", "timestamp": 1.0, "input_length": 40, "output_length": 10}
{"session_id": "b", "timestamp": 1.25, "input_length": 20, "output_length": 3}
{"session_id": "a", "pause_ms": 500, "input_length": 80, "output_length": 10}
{"session_id": "b", "timestamp": 2.0, "input_length": 28, "output_length": 3}
{"timestamp": 1.75, "input_length": 7, "output_length": 1}
"""


def test_rows_of_one_session_are_the_turns_of_a_conversation(tmp_path: Path) -> None:
    talks = recorded_conversations(read_trace(written(tmp_path, TALKS)), 1)
    assert talks.starts_ns.tolist() == [0, NS // 4, NS * 3 // 4]
    first, second, alone = talks.turns
    # What is new is what the input has more than the input and the answer before it: 80 - 40 - 10 words.
    assert [len(turn.text.split()) for turn in first] == [40, 30]
    assert [turn.output_tokens for turn in first] == [10, 10]
    assert [turn.pause_ns for turn in first] == [-1, NS // 2]
    assert [(len(turn.text.split()), turn.pause_ns, turn.at_ns) for turn in second] == [
        (20, -1, 0),
        (5, -1, NS * 3 // 4),
    ]
    assert [turn.output_tokens for turn in alone] == [1]


def test_sessions_of_one_request_each_are_no_conversations(tmp_path: Path) -> None:
    trace = read_trace(written(tmp_path, "time,session,input_length\n0,a,5\n1,b,5\n"))
    assert trace.session is None
    assert [stage.label for stage in trace.stages()] == ["replay"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"session_id": "a", "pause": -1, "input_length": 5}', "pause is no pause: -1"),
        ('{"session_id": "a", "pause": "soon", "input_length": 5}', "pause is no pause: 'soon'"),
        (
            '{"session_id": "a", "timestamp": 0.5, "input_length": 5}',
            "this turn of 'a' comes before the one above it",
        ),
        ('{"session_id": "z", "pause": 1, "input_length": 5}', "timestamp is no time: None"),
    ],
)
def test_a_turn_that_cannot_be_names_its_line(tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(SpecError, match=message) as caught:
        read_trace(written(tmp_path, TALKS + row + "\n", "talks.jsonl"))
    assert str(caught.value.where).endswith("talks.jsonl:6")


def test_a_faster_replay_has_shorter_pauses(tmp_path: Path) -> None:
    faster = read_trace(written(tmp_path, TALKS)).faster(2.0)
    assert faster.pause_ns is not None
    assert sorted(faster.pause_ns.tolist()) == [-1, -1, -1, -1, NS // 4]
    assert recorded_conversations(faster.first(2), 1).starts_ns.tolist() == [0, NS // 8]
