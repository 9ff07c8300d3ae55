"""Recorded traffic."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
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
