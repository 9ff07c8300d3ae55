"""The compiled reader: it was built wherever it can be, it is generic, and it leaves what it is not certain of."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hatch_build import NotCompiled, compile_reader
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.load.client.shapes import SHAPES
from agentdyno.load.client.stream_decode import StreamDecoder
from agentdyno.load.client.stream_reader import COMPILED, PYTHON, SETTING, compiled_read
from agentdyno.load.windows.records import OUTCOMES
from agentdyno.model.load import Outcome
from agentdyno.wire.openai import OPENAI
from tests.compiled import can_compile
from tests.load.server_streams import SERVERS, ServerStream
from tests.load.streams import DONE, HEAD, NDJSON, chunk, chunked

from ...properties import examples
from .test_stream_decode import COMPLETE, BothDecoders, plain, split

ROOT = Path(__file__).parents[3]


def test_the_reader_was_built_wherever_there_is_a_compiler(tmp_path: Path) -> None:
    """So that nothing is tested without it unnoticed: ``scripts/install.sh`` builds it."""
    if can_compile():
        assert compile_reader(ROOT, tmp_path, ["-Wextra", "-Werror", "-Wno-unused-parameter"]).exists()
        assert compiled_read() is not None
    else:
        assert compiled_read() is None


def test_a_build_without_a_compiler_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(NotCompiled, match="no C compiler"):
        compile_reader(ROOT, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("wanted", "expected"), [("python", PYTHON), ("", COMPILED if compiled_read() else PYTHON)])
def test_a_setting_leaves_the_compiled_reader_out(wanted: str, expected: str) -> None:
    code = "from agentdyno.load.client.stream_reader import decoder_name; print(decoder_name())"
    environ = {**os.environ, SETTING: wanted}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KNOWN = st.sampled_from(["content", "usage", "done", "type", "error", "choices", "delta", "index", "text"])


def disordered(value: object, draw: random.Random, more: list[tuple[str, object]], depth: int = 0) -> object:
    """The same with its keys in another order and further ones that have no meaning there."""
    if isinstance(value, list):
        return [disordered(item, draw, more, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    items = [(key, disordered(item, draw, more, depth + 1)) for key, item in value.items()]
    items += [(f"x-{key}", item) for key, item in more if "\\" not in json.dumps(key)]
    draw.shuffle(items)
    return dict(items)


@examples(200)
@given(
    st.sampled_from(sorted(SERVERS)),
    st.lists(st.tuples(st.text(max_size=5) | KNOWN, JSON), max_size=3),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "  : ")]),
    st.booleans(),
    st.integers(0, 1000),
    st.lists(st.integers(1, 10_000), max_size=5),
)
def test_order_blanks_and_further_fields_make_no_difference(
    name: str,
    more: list[tuple[str, object]],
    separators: tuple[str, str],
    ascii_only: bool,
    seed: int,
    places: list[int],
) -> None:
    stream = SERVERS[name]()
    draw = random.Random(seed)
    pieces = []
    for piece in stream.pieces:
        start, end = piece.find(b"{"), piece.rfind(b"}") + 1
        if start >= 0:
            value = disordered(json.loads(piece[start:end]), draw, more)
            piece = (
                piece[:start]
                + json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode("utf-8", "replace")
                + piece[end:]
            )
        pieces.append(piece)
    raw = ServerStream(stream.answers, tuple(pieces), stream.head).raw
    both = BothDecoders(stream)
    found = both.agree(split(raw, *sorted({place % len(raw) for place in places} - {0})))
    assert plain(found)[4] == plain(BothDecoders(stream).agree(split(stream.raw)))[4]
    if not any("\\ud" in json.dumps(item) for item in more):  # halves of pairs are left
        assert both.left == 0


@pytest.mark.parametrize("digits", [64, 65, 4300, 4301, 9000])
def test_a_number_of_any_length_in_a_field_that_does_not_count_is_no_fault(digits: int) -> None:
    event = b'data: {"created":' + b"9" * digits + b',"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    good = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
    found = BothDecoders(ServerStream(OPENAI, ())).agree(split(ServerStream(OPENAI, (event, good, DONE)).raw))
    assert (OUTCOMES[found.outcome], found.chunks) == (Outcome.OK, 2)


def left_by_the_reader(*events: bytes) -> bool:
    """Whether the compiled reader leaves an answer with these events to Python; both say the same of it."""
    good = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
    stream = ServerStream(OPENAI, (*events, good, DONE))
    both = BothDecoders(stream)
    both.agree(split(stream.raw))
    return both.left > 0 or compiled_read() is None


def choice(inside: str) -> bytes:
    return b'data: {"choices":[{"delta":{"content":"b"},%b}]}\n\n' % inside.encode()


@pytest.mark.parametrize(
    "event",
    [
        choice('"index":1'),
        choice('"index":0.5'),
        choice('"index":1e1'),
        choice('"index":"0"'),
        choice('"index":01'),
        choice('"index":-1'),
        choice('"index":99999999999999999999'),
        choice('"finish_reason":1'),
        choice('"finish_reason":null,"finish_reason":"stop"'),
        choice('"finish_reas\\u006fn":"stop"'),
        b'data: {"choices":[{"delta":{"content":"b"}},{"delta":{"content":"c"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"b"},}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"b"}},]}\n\n',
        b'data: {"choices":[null]}\n\n',
        b'data: {"choices":{}}\n\n',
        b'data: {"choices":[],"usage":[]}\n\n',
        b'data: {"choices":[],"usage":{"completion_tokens":4000000000}}\n\n',
        b'data: {"object":"error","message":"gone"}\n\n',
        b'data: {"object":"\\u0065rror","message":"gone"}\n\n',
        b'data: {"error":"gone"}\n\n',
        b'data: {"error":false}\n\n',
        b'data: {"id":1} {"id":2}\n\n',
        b'data: {"id":tru}\n\n',
        b'data: {"id":truefalse}\n\n',
        b'data: {"id":Infinity}\n\n',
        b'data: {"id":-}\n\n',
        b'data: {"id":1.}\n\n',
        b'data: {"id":.5}\n\n',
        b'data: {"id":1e}\n\n',
        b'data: {"id":00}\n\n',
        b'data: {"id":"\x01"}\n\n',
        b'data: {"id":"\x00"}\n\n',
        b'data: {"id":"\\x"}\n\n',
        b'data: {"id":"\\u12g4"}\n\n',
        b'data: {"id":"\\udc00"}\n\n',
        b'data: {"id":"\\ud834x"}\n\n',
        b'data: {"id":"\\ud834\\u0041"}\n\n',
        b'data: {"id":"\xff"}\n\n',
        b'data: {"id":"\xc0\x80"}\n\n',
        b'data: {"id":"\xe0\x9f\xbf"}\n\n',
        b'data: {"id":"\xed\xa0\x80"}\n\n',
        b'data: {"id":"\xf0\x8f\xbf\xbf"}\n\n',
        b'data: {"id":"\xf4\x90\x80\x80"}\n\n',
        b'data: {"id":"\xf5\x80\x80\x80"}\n\n',
        b'data: {"id":"\xc3"}\n\n',
        b'data: {"id":' + b"[" * 65 + b"]" * 65 + b"}\n\n",
        b'data: {"id":' + b"9" * 65 + b"}\n\n",
        b"data: {}\ndata: {}\n\n",
        b"data: {}\r\r",
        b": a\rb\n\ndata: {}\n\n",
        b"event: error\ndata: {}\n\n",
        b"event:error\n\n",
        b"error: {}\n\n",
        b"data\n\n",
        b"data: [DONE]\n\n",
        b"data: [DONE] x\n\n",
        b"data: 7\n\n",
    ],
)
def test_what_is_not_certain_is_left_to_python(event: bytes) -> None:
    assert left_by_the_reader(event)


@pytest.mark.parametrize(
    "event",
    [
        choice('"index":0'),
        choice('"index":null'),
        b"data: {}\n\n",
        b"data:\t {} \t\n\n",
        b"data: {}\r\n\r\n",
        b'data: {"choices":null,"usage":null,"error":null,"object":null}\n\n',
        b'data: {"id":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud834\\udd1e"}\n\n',
        'data: {"id":"aé€𝄞\x7f"}\n\n'.encode(),
        b'data: {"id":[0,-0,0.5,-1.25e+10,1E-3,99999999999999999999]}\n\n',
        b'data: {"id":' + b"[" * 64 + b"]" * 64 + b"}\n\n",
        b'data: {"a":{"choices":1,"choices":2,"cont\\u0065nt":3},"b":[{"error":1}]}\n\n',
        b"id\n\n".replace(b"id", b"id: 7\nretry: 3\nevent: message\n: ping") + b"\n",
    ],
)
def test_what_is_usual_is_read(event: bytes) -> None:
    assert left_by_the_reader(event) is (compiled_read() is None)


BODY = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'


@pytest.mark.parametrize(
    "raw",
    [
        HEAD + chunk(BODY) + b"0\r\nx: y\r\n\r\n",
        HEAD + chunk(BODY) + b"0\r\n\r\n0\r\n\r\n",
        HEAD + chunk(BODY) + b"0;last\r\n\r\n",
        HEAD + chunk(BODY).replace(b"\r\n", b" \r\n", 1) + b"0\r\n\r\n",
        HEAD + chunk(BODY).replace(b"\r\n", b"\n", 1) + b"0\r\n\r\n",
        HEAD + b"fffffffffffffff\r\n" + BODY + b"\r\n0\r\n\r\n",
        HEAD + b"\r\n" + BODY + b"\r\n0\r\n\r\n",
        HEAD + chunk(BODY) + b"0\r\n\r",
        HEAD + chunk(BODY),
        HEAD + chunk(BODY[:-1]) + b"0\r\n\r\n",
        NDJSON + chunk(b'{"done":true}') + b"0\r\n\r\n",
        HEAD.replace(b"transfer-encoding: chunked", b"content-length: %d" % len(BODY)) + BODY + b"x",
        HEAD.replace(b"transfer-encoding: chunked", b"content-length: %d" % len(BODY)) + BODY[:-1],
        HEAD[:-2],
        b"",
    ],
)
def test_a_body_that_is_not_just_as_long_as_it_says_is_left_to_python(raw: bytes) -> None:
    both = BothDecoders(ServerStream(OPENAI, ()))
    both.agree([(100, raw)])
    assert both.left == (0 if compiled_read() is None else 1)


def test_an_answer_that_is_larger_than_allowed_is_left() -> None:
    raw = chunked([BODY])
    for room in (0, -1):
        decoder = StreamDecoder(OPENAI, max_bytes=len(raw) + room)
        decoder.decode([(100, raw)], COMPLETE, 900)
        assert decoder.not_compiled == (room < 0 or compiled_read() is None)


def test_times_are_those_of_the_reads_and_gaps_between_them() -> None:
    pieces = [BODY.replace(b"stop", b"")] * 3 + [BODY]
    reads = [(10**18 + 7 * n * n, chunk(piece)) for n, piece in enumerate(pieces)]
    found = StreamDecoder(OPENAI).decode([(5, HEAD), *reads, (10**18 + 100, b"0\r\n\r\n")], COMPLETE, 2 * 10**18)
    assert plain(found)[2:6] == (10**18, 10**18 + 63, 4, [7, 21, 35])


def test_what_is_no_list_of_reads_is_refused() -> None:
    read = compiled_read()
    if read is None:
        return
    good = [(100, chunked([BODY]))]
    assert read(good, 0, 1 << 30) is not None
    wrong: list[object] = [None, (100, b""), [100], [(100,)], [(b"", 100)], [(100, "")], [(100.0, b"")]]
    for reads in wrong:
        with pytest.raises(TypeError):
            read(reads, 0, 1 << 30)  # type: ignore[arg-type]
    for code in (-1, len(SHAPES)):
        with pytest.raises(ValueError, match="no such dialect"):
            read(good, code, 1 << 30)
    with pytest.raises(OverflowError):
        read([(1 << 70, b"")], 0, 1 << 30)
    with pytest.raises(TypeError):
        read(good, 0)  # type: ignore[call-arg]
    assert read([], 0, 1 << 30) is None
    raw = good[0][1]
    for size in range(len(raw)):  # a head, or a body, that is not all there
        assert read([(100, raw[:size])], 0, 1 << 30) is None


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace(b"HTTP/1.1 200", b"HTTP/1.1 204"),
        HEAD.replace(b"HTTP/1.1 200", b"HTTP/1.1 404"),
        HEAD.replace(b"HTTP/1.1 200", b"HTTP/1.1 2a0"),
        HEAD.replace(b"HTTP/1.1 200", b"HTTP/1.1 2000"),
        HEAD.replace(b"HTTP/1.1 200", b"HTTP/1.1 20"),
        HEAD.replace(b"HTTP/1.1", b"HTTP/1.0"),
        HEAD.replace(b"200 OK", b"200 O\nK"),
        HEAD.replace(b"text/event-stream", b"application/json"),
        HEAD.replace(b"content-type", b"content-kind"),
        HEAD.replace(b"content-type", b"content type"),
        HEAD.replace(b"content-type", b"\xe4"),
        HEAD.replace(b"content-type: ", b": "),
        HEAD.replace(b"content-type", b"content-type: text/event-stream\r\ncontent-type"),
        HEAD.replace(b"chunked", b"chunked\r\ntransfer-encoding: chunked"),
        HEAD.replace(b"chunked", b"chunked\r\ncontent-length: 7"),
        HEAD.replace(b"chunked", b"gzip, chunked"),
        HEAD.replace(b"chunked", b"chunked\r\ncontent-encoding: gzip"),
        HEAD.replace(b"transfer-encoding: chunked", b"content-length: 1x"),
        HEAD.replace(b"transfer-encoding: chunked", b"content-length:"),
        HEAD.replace(b"transfer-encoding: chunked", b"content-length: 9999999999"),
        HEAD.replace(b"transfer-encoding: chunked", b"x: y"),
    ],
)
def test_heads_that_are_not_usual_are_left_to_python(head: bytes) -> None:
    both = BothDecoders(ServerStream(OPENAI, (), head))
    both.agree(split(head + chunk(BODY) + b"0\r\n\r\n"))
    assert both.left == (0 if compiled_read() is None else 1)


def test_case_blanks_and_other_headers_make_no_difference() -> None:
    head = b"HTTP/1.1 201\r\nX-Request-Id: {7}\r\nCONTENT-Type:\tText/Event-Stream ; charset=x\r\nx:\r\n"
    head += b"Transfer-Encoding:Chunked \r\n\r\n"
    both = BothDecoders(ServerStream(OPENAI, (), head))
    both.agree(split(head + chunk(BODY) + b"0\r\n\r\n"))
    assert both.left == 0
