"""The decoder of the load client says what the exact one says, on every stream and wherever it is cut."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.load.client.decode import Decoded, ExactDecoder, Result
from agentdyno.load.client.hot import ExchangeEnding, Read
from agentdyno.load.client.stream_decode import StreamDecoder
from agentdyno.load.client.stream_reader import compiled_read
from agentdyno.load.windows.records import OUTCOMES
from agentdyno.model.load import Outcome
from tests.load.server_streams import SERVERS, ServerStream
from tests.load.streams import HEAD, LAST, NDJSON, chunk

from ...properties import examples

COMPLETE = ExchangeEnding.COMPLETE


def split(raw: bytes, *places: int) -> list[Read]:
    """The bytes in pieces that end at ``places``, which arrive at 100, 200, 300…"""
    edges = [0, *places, len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(edges)]
    return [(100 * (n + 1), piece) for n, piece in enumerate(pieces) if piece]


def plain(found: Result) -> tuple[object, ...]:
    return (*found[:5], list(found[5]), *found[6:])


class BothDecoders:
    """Asks the exact decoder and the fast one, with its compiled reader (where it was built) and without, and tells
    whether the fast one was certain by itself."""

    def __init__(self, stream: ServerStream) -> None:
        self._exact = ExactDecoder(stream.answers)
        self._compiled, self._python = (
            StreamDecoder(stream.answers, compiled=compiled) for compiled in (True, False)
        )

    def agree(self, reads: list[Read], ending: ExchangeEnding = COMPLETE) -> Decoded:
        expected = self._exact.decode(reads, ending, 900)
        for fast in (self._compiled, self._python):
            assert plain(fast.decode(reads, ending, 900)) == plain(expected)
        if OUTCOMES[expected.outcome] is Outcome.OK:
            assert self._python.text(reads) == self._exact.text(reads)
        return expected

    @property
    def handed_over(self) -> int:
        return max(self._compiled.handed_over, self._python.handed_over)

    @property
    def left(self) -> int:
        """By the compiled reader; 0 where it was not built."""
        return 0 if compiled_read() is None else self._compiled.not_compiled


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_s_stream_is_decoded_without_the_exact_decoder_and_alike_wherever_it_is_cut(name: str) -> None:
    stream = SERVERS[name]()
    both = BothDecoders(stream)
    raw = stream.raw
    found = both.agree(split(raw))
    assert OUTCOMES[found.outcome] is Outcome.OK
    assert found.chunks >= 4
    for place in range(1, len(raw)):
        both.agree(split(raw, place))
    assert both.handed_over == both.left == 0


@pytest.mark.parametrize("name", SERVERS)
def test_each_event_has_the_time_of_the_read_that_completes_it(name: str) -> None:
    stream = SERVERS[name]()
    ends = [len(stream.head), *(len(chunk(piece)) for piece in stream.pieces)]
    both = BothDecoders(stream)
    found = both.agree(split(stream.raw, *accumulate(ends)))
    assert sum(found.gaps) == found.last_ns - found.first_ns > 0
    assert both.handed_over == both.left == 0


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("ending", [ExchangeEnding.CLOSED, ExchangeEnding.LOST, COMPLETE])
def test_an_answer_that_is_cut_off_at_any_byte_is_what_the_exact_decoder_says(
    name: str, ending: ExchangeEnding
) -> None:
    stream = SERVERS[name](("a", "ö"))
    both = BothDecoders(stream)
    for place in range(0, len(stream.raw), 1 if ending is COMPLETE else 7):
        both.agree(split(stream.raw[:place]) or [(100, b"")], ending)


@pytest.mark.parametrize("name", SERVERS)
def test_framing_makes_no_difference(name: str) -> None:
    stream = SERVERS[name]()
    body = b"".join(stream.pieces)
    sized = stream.head.lower().replace(b"transfer-encoding: chunked", b"content-length: %d" % len(body)) + body
    sized = sized.replace(b"http/1.1 200 ok", b"HTTP/1.1 200 OK", 1)
    together = stream.head + chunk(body) + LAST
    cut = stream.head + b"".join(chunk(body[at : at + 37]) for at in range(0, len(body), 37)) + LAST
    both = BothDecoders(stream)
    expected = plain(both.agree(split(stream.raw)))
    for raw in (sized, together, cut):
        assert plain(both.agree(split(raw))) == expected
        for place in range(1, len(raw), 5):
            both.agree(split(raw, place))
    assert both.handed_over == both.left == 0


ERRORS = {
    "OpenAI": b'data: {"error":{"message":"out of memory"}}\n\n',
    "vLLM": b'data: {"object":"error","message":"gone"}\n\n',
    "llama.cpp": b'error: {"code":500,"message":"slot lost"}\n\n',
    "TGI": b'event: error\ndata: {"message":"overloaded"}\n\n',
    "Anthropic messages": b'event: error\ndata: {"type":"error","error":{"message":"overloaded"}}\n\n',
    "Ollama chat": b'{"error":"model gone"}\n',
    "Ollama generate": b'{"error":"model gone"}\n',
    "text completions": b'data: {"error":"no"}\n\n',
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_seen_wherever_it_stands_in_the_stream(name: str) -> None:
    stream = SERVERS[name]()
    both = BothDecoders(stream)
    for place in range(len(stream.pieces) + 1):
        pieces = [*stream.pieces[:place], ERRORS[name], *stream.pieces[place:]]
        found = both.agree(split(ServerStream(stream.answers, tuple(pieces), stream.head).raw))
        assert OUTCOMES[found.outcome] is Outcome.STREAM_ERROR


@examples(120)
@given(
    st.sampled_from(sorted(SERVERS)),
    st.lists(st.text(max_size=6), min_size=1, max_size=6),
    st.lists(st.integers(1, 10_000), max_size=12),
)
def test_any_words_in_any_reads_are_decoded_alike(name: str, words: list[str], places: list[int]) -> None:
    stream = SERVERS[name](tuple(words))
    raw = stream.raw
    both = BothDecoders(stream)
    both.agree(split(raw, *sorted({place % len(raw) for place in places} - {0})))
    assert both.handed_over == both.left == 0


@examples(250)
@given(st.sampled_from(sorted(SERVERS)), st.integers(0, 10_000), st.binary(min_size=1, max_size=3), st.booleans())
def test_damaged_bytes_are_judged_alike(name: str, place: int, wrong: bytes, instead: bool) -> None:
    stream = SERVERS[name]()
    raw = stream.raw
    place %= len(raw)
    both = BothDecoders(stream)
    both.agree(split(raw))
    both.agree(split(raw[:place] + wrong + raw[place + (len(wrong) if instead else 0) :]))


@examples(150)
@given(st.sampled_from(sorted(SERVERS)), st.data())
def test_pieces_that_are_lost_doubled_or_in_another_order_are_judged_alike(name: str, data: st.DataObject) -> None:
    stream = SERVERS[name]()
    pieces = data.draw(st.lists(st.sampled_from(stream.pieces), max_size=8))
    BothDecoders(stream).agree(split(ServerStream(stream.answers, tuple(pieces), stream.head).raw))


LINES = (b"id: 7", b": ping", b":", b"event: message", b"event: error", b"retry: 9", b" data: x", b"other", b"")


@examples(200)
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(LINES), max_size=2), st.booleans(), st.sampled_from((*LINES[:6], None))),
        max_size=6,
    ),
    st.sampled_from((b"\n", b"\r\n", b"\r", None)),
    st.integers(1, 60),
    st.lists(st.integers(1, 10_000), max_size=6),
)
def test_lines_of_any_kind_around_the_data_are_judged_alike(
    blocks: list[tuple[list[bytes], bool, bytes | None]], line_end: bytes | None, size: int, places: list[int]
) -> None:
    """``line_end`` is ``None`` where they take turns."""
    stream = SERVERS["OpenAI"]()
    data = [piece.strip() for piece in stream.pieces]
    lines: list[bytes] = []
    for number, (before, spoken, after) in enumerate(blocks):
        lines += [*before, *([data[number % 4]] if spoken else []), *([] if after is None else [after]), b""]
    for piece in data:
        lines += [piece, b""]
    ends = (b"\n", b"\r\n", b"\r") if line_end is None else (line_end,)
    body = b"".join(line + ends[number % len(ends)] for number, line in enumerate(lines))
    pieces = tuple(body[at : at + size * 20] for at in range(0, len(body), size * 20))
    raw = ServerStream(stream.answers, pieces).raw
    BothDecoders(stream).agree(split(raw, *sorted({place % len(raw) for place in places} - {0})))


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"choices":[1\n\ndata: 2]}\n\n',
        b'data: {"choices":[]\ndata: }\n\n',
        b'data: {"choices":[]},{"choices":[]}\n\n',
        b'data: {"choices":[{"index":-1,"delta":{"content":"a"}}]}\n\n',
        b'data: {"choices":[{"index":1,"delta":{"content":"a"}},{"index":0,"delta":{"content":"b"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":["a"]}}]}\n\n',
        b'data: {"choices":null,"usage":{}}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ud800"}}]}\n\n',
        b'data: {"choices":[{"index":0,"delta":{"content":"\xff"}}]}\n\n',
        b'data: {"usage":{"prompt_tokens":true,"completion_tokens":1.5}}\n\n',
        b"data: []\n\n",
        b"data: null\n\n",
        b"data:\n\n",
        b"data\n\n",
        b"data: [DONE]\n\n",
        b'data: {"id":NaN}\n\n',
        b'data: {"a":1}\r\n\r\n',
        b'data: {"a":1}\r\r',
        b'data:\r{"choices":[{"delta":{"content":"a"}}]}\n\n',
        b'data: {"choices":\r[{"delta":{"content":"a"}}]}\n\n',
        b"id: 7\n\n",
        b"unknown: 7\n\n",
        b"\n\n\n",
        b"\xef\xbb\xbf",
        b"data: " + b"[" * 3000 + b"]" * 3000 + b"\n\n",
    ],
)
def test_unusual_events_are_judged_alike(event: bytes) -> None:
    stream = SERVERS["OpenAI"]()
    both = BothDecoders(stream)
    for place in (0, 2, len(stream.pieces)):
        pieces = (*stream.pieces[:place], event, *stream.pieces[place:])
        both.agree(split(ServerStream(stream.answers, pieces).raw))


@pytest.mark.parametrize("name", SERVERS)
def test_the_size_of_a_chunk_that_does_not_end_its_line_is_judged_alike(name: str) -> None:
    stream = SERVERS[name]()
    both = BothDecoders(stream)
    raw = stream.raw
    for place in range(len(stream.pieces)):
        at = len(stream.head) + sum(len(chunk(piece)) for piece in stream.pieces[:place])
        at = raw.index(b"\r\n", at) + 1
        found = both.agree(split(raw[:at] + b"," + raw[at + 1 :]))
        assert OUTCOMES[found.outcome] is Outcome.STREAM_ERROR


@pytest.mark.parametrize("name", ["Ollama chat", "Ollama generate"])
@pytest.mark.parametrize("last", [b"\n", b"\r\n", b" \n"])
def test_an_empty_line_does_not_end_an_answer(name: str, last: bytes) -> None:
    stream = SERVERS[name]()
    for kept in (stream.pieces[:-1], ()):
        pieces = (*kept, last)
        found = BothDecoders(stream).agree(split(ServerStream(stream.answers, pieces, stream.head).raw))
        assert OUTCOMES[found.outcome] is Outcome.TRUNCATED


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace(b"200 OK", b"200 OK\r\nDate: Mon, 16 Nov 2026 11:00:00 GMT\r\nX-Request-Id: 4711"),
        HEAD.replace(b"transfer-encoding: chunked", b"Transfer-Encoding:chunked\r\nConnection: keep-alive"),
        HEAD.replace(b"200 OK", b"201 Created"),
        HEAD.replace(b"content-type", b"Content-Type"),
        HEAD.replace(b"content-type", b"bad header"),
        HEAD.replace(b"HTTP/1.1", b"HTTP/1.0"),
        HEAD.replace(b"text/event-stream", b"text/plain"),
        HEAD.replace(b"chunked", b"gzip, chunked"),
        HEAD.replace(b"200 OK", b"200 OK\r\ncontent-encoding: gzip"),
        HEAD.replace(b"200 OK", b"200 OK\r\ncontent-length: 3"),
        HEAD.replace(b"\r\ntransfer", b"\r\n more\r\ntransfer"),
        HEAD.replace(b"200 OK", b"429 Too Many Requests"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD,
        HEAD.replace(b"\r\n", b"\n"),
        NDJSON,
    ],
)
def test_heads_of_any_kind_are_judged_alike(head: bytes) -> None:
    stream = SERVERS["OpenAI"]()
    BothDecoders(stream).agree(split(ServerStream(stream.answers, stream.pieces, head).raw))


def test_answers_with_a_head_of_their_own_each_are_not_handed_over() -> None:
    stream = SERVERS["OpenAI"]()
    both = BothDecoders(stream)
    for number in range(3):
        head = HEAD.replace(b"200 OK", b"200 OK\r\nX-Request-Id: %d\r\nConnection: keep-alive" % number)
        both.agree(split(ServerStream(stream.answers, stream.pieces, head).raw))
    assert both.handed_over == both.left == 0


def test_tokens_of_a_kept_prompt_are_told_where_the_server_tells_them() -> None:
    for name, cached in (("OpenAI", 6), ("Anthropic messages", 3), ("vLLM", 0), ("Ollama chat", 0)):
        stream = SERVERS[name]()
        assert BothDecoders(stream).agree(split(stream.raw)).cached_tokens == cached
