from __future__ import annotations

import json
from itertools import pairwise

import pytest

from agentdyno.load.client.decode import CHAT, Decoded, ExactDecoder, Result
from agentdyno.load.client.hot import ExchangeEnding, Read
from agentdyno.load.client.stream_decode import StreamDecoder
from agentdyno.load.windows.records import OUTCOME_CODES, OUTCOMES, TOKEN_SOURCE_CODES, UNKNOWN_SOURCE
from agentdyno.model.load import Dialect, Outcome, TokenSource
from tests.load.streams import DONE, HEAD, LAST, chat, chunk, chunked, delta, event, ollama, tokens, usage, whole

WORDS = ("a", "ö", '"\n')


def split(raw: bytes, *places: int) -> list[Read]:
    """The bytes in pieces that end at ``places``, which arrive at 100, 200, 300…"""
    edges = [0, *places, len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(edges)]
    return [(100 * (n + 1), piece) for n, piece in enumerate(pieces) if piece]


def plain(found: Result) -> tuple[object, ...]:
    return (*found[:5], list(found[5]), *found[6:])


def decode(
    raw: bytes, ending: ExchangeEnding = ExchangeEnding.COMPLETE, dialect: Dialect = Dialect.OPENAI
) -> Decoded:
    reads = split(raw)
    exact = ExactDecoder(CHAT.get(dialect)).decode(reads, ending, 900)
    assert plain(StreamDecoder(CHAT.get(dialect)).decode(reads, ending, 900)) == plain(exact)
    return exact


def outcome(
    raw: bytes, ending: ExchangeEnding = ExchangeEnding.COMPLETE, dialect: Dialect = Dialect.OPENAI
) -> Outcome:
    return OUTCOMES[decode(raw, ending, dialect).outcome]


CUT = b"".join(chat(*WORDS))
SHAPES = {
    "one event a chunk": (Dialect.OPENAI, chunked(chat(*WORDS, counted=3))),
    "no usage": (Dialect.OPENAI, chunked(chat(*WORDS))),
    "an empty token": (Dialect.OPENAI, chunked(chat("a", "", "b", counted=3))),
    "no content at all": (Dialect.OPENAI, chunked(chat(counted=0))),
    "two events a chunk": (Dialect.OPENAI, HEAD + chunk(CUT) + LAST),
    "events cut by chunks": (
        Dialect.OPENAI,
        HEAD + b"".join(chunk(CUT[at : at + 90]) for at in range(0, len(CUT), 90)) + LAST,
    ),
    "lines that end in crlf": (Dialect.OPENAI, chunked([data.replace(b"\n", b"\r\n") for data in chat(*WORDS)])),
    "comments between": (Dialect.OPENAI, chunked([b": ping\n\n", *chat(*WORDS), b": ping\n\n"])),
    "reasoning first": (
        Dialect.OPENAI,
        chunked([delta({"reasoning_content": "hm"}), delta({"reasoning_content": "so"}), *chat("a", "b")]),
    ),
    "content beside reasoning": (
        Dialect.OPENAI,
        chunked([*(delta({"reasoning": "r", "content": text}) for text in ("a", "", "b")), DONE]),
    ),
    "a tool call": (
        Dialect.OPENAI,
        chunked(
            [
                delta({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{"}}]}),
                delta({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
                delta({}, "tool_calls"),
                DONE,
            ]
        ),
    ),
    "trailers": (Dialect.OPENAI, chunked(chat(*WORDS))[:-2] + b"x-took: 3\r\n\r\n"),
    "chunk extensions": (
        Dialect.OPENAI,
        chunked(chat("a", "b", "c")).replace(b"e\r\ndata: [D", b"e;x=1\r\ndata: [D"),
    ),
    "an error in the stream": (
        Dialect.OPENAI,
        chunked([*tokens("a", "b"), event({"error": {"message": "out of memory"}})]),
    ),
    "not json": (Dialect.OPENAI, chunked([*tokens("a", "b", "c"), b"data: {nope\n\n"])),
    "whole": (
        Dialect.OPENAI,
        whole(json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).encode()),
    ),
    "ollama": (Dialect.OLLAMA, ollama("a", "b", "", "c")),
    "ollama without counts": (Dialect.OLLAMA, ollama("a", "b", counted=None)),
    "plain": (Dialect.HTTP, whole(b"ok")),
    "plain chunked": (Dialect.HTTP, HEAD + chunk(b"a\r\n0\r\n\r\nb") + LAST),
}


@pytest.mark.parametrize("name", SHAPES)
def test_both_decoders_agree_wherever_the_bytes_are_split(name: str) -> None:
    dialect, raw = SHAPES[name]
    fast, exact = StreamDecoder(CHAT.get(dialect)), ExactDecoder(CHAT.get(dialect))
    for place in range(1, len(raw)):
        reads = split(raw, place)
        expected = exact.decode(reads, ExchangeEnding.COMPLETE, 900)
        found = fast.decode(reads, ExchangeEnding.COMPLETE, 900)
        assert plain(found) == plain(expected)


@pytest.mark.parametrize("ending", [ExchangeEnding.CLOSED, ExchangeEnding.LOST, ExchangeEnding.TIMEOUT])
def test_both_decoders_agree_on_an_answer_that_is_cut_off_anywhere(ending: ExchangeEnding) -> None:
    raw = chunked(chat("a", "b", counted=2))
    fast, exact = StreamDecoder(CHAT.get(Dialect.OPENAI)), ExactDecoder(CHAT.get(Dialect.OPENAI))
    for place in range(len(raw)):
        reads = split(raw[:place])
        assert plain(fast.decode(reads, ending, 900)) == plain(exact.decode(reads, ending, 900))


def test_times_are_those_of_the_bytes_that_complete_the_first_and_the_last_event_with_content() -> None:
    events = chat("a", "b", "c", counted=3)
    raw = chunked(events)
    ends = [len(HEAD)]
    for data in events:
        ends.append(ends[-1] + len(chunk(data)))
    # The head and the role arrive at 100, "a" at 200, "b" without its last newline at 300, that and "c" at 400.
    reads = split(raw, ends[1], ends[2], ends[3] - 3, ends[4])
    for decoder in (ExactDecoder(CHAT.get(Dialect.OPENAI)), StreamDecoder(CHAT.get(Dialect.OPENAI))):
        found = Decoded(*decoder.decode(reads, ExchangeEnding.COMPLETE, 500))
        assert (found.first_ns, found.last_ns, found.chunks, list(found.gaps)) == (200, 400, 3, [200, 0])


def test_tokens_come_from_usage_else_from_ollamas_count_else_from_chunks() -> None:
    counted = decode(chunked(chat("a", "b c", counted=9)))
    assert (counted.output_tokens, counted.input_tokens) == (9, 8)
    assert counted.source == TOKEN_SOURCE_CODES[TokenSource.USAGE]
    own = decode(ollama("a", "b", counted=7), dialect=Dialect.OLLAMA)
    assert (own.output_tokens, own.input_tokens, own.source) == (7, 4, TOKEN_SOURCE_CODES[TokenSource.OLLAMA])
    chunks = decode(chunked(chat("a", "b", "c")))
    assert (chunks.output_tokens, chunks.input_tokens) == (3, -1)
    assert chunks.source == TOKEN_SOURCE_CODES[TokenSource.CHUNKS]
    assert decode(chunked(chat())).source == UNKNOWN_SOURCE


def test_an_answer_in_one_piece_has_no_first_token() -> None:
    found = decode(SHAPES["whole"][1])
    assert (OUTCOMES[found.outcome], found.first_ns, found.chunks) == (Outcome.OK, -1, 0)


STATUS = "HTTP/1.1 {}\r\ncontent-type: application/json"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (STATUS.format("500 Oops"), Outcome.HTTP_ERROR),
        (STATUS.format("404 Not Found"), Outcome.HTTP_ERROR),
        (STATUS.format("429 Too Many Requests"), Outcome.RATE_LIMITED),
        (STATUS.format("503 Busy"), Outcome.HTTP_ERROR),
        (STATUS.format("503 Busy") + "\r\nRetry-After: 2", Outcome.RATE_LIMITED),
        (STATUS.format("302 Found") + "\r\nlocation: /", Outcome.HTTP_ERROR),
    ],
)
def test_a_status_other_than_2xx_is_a_refusal_that_says_why(head: str, expected: Outcome) -> None:
    found = decode(whole(b'{"error": {"message": "no such thing"}}', head))
    assert OUTCOMES[found.outcome] is expected
    assert "no such thing" in found.text


@pytest.mark.parametrize(
    ("raw", "ending", "expected"),
    [
        (b"", ExchangeEnding.LOST, Outcome.RESET),
        (b"", ExchangeEnding.CLOSED, Outcome.RESET),
        (b"", ExchangeEnding.NO_CONNECTION, Outcome.HTTP_ERROR),
        (b"", ExchangeEnding.TIMEOUT, Outcome.TIMEOUT),
        (HEAD + chunk(tokens("a")[0]), ExchangeEnding.LOST, Outcome.RESET),
        (HEAD + chunk(tokens("a")[0]), ExchangeEnding.CLOSED, Outcome.TRUNCATED),
        (HEAD + chunk(tokens("a")[0]), ExchangeEnding.TIMEOUT, Outcome.TIMEOUT),
        (HEAD + chunk(tokens("a")[0]), ExchangeEnding.TOO_LARGE, Outcome.STREAM_ERROR),
        (chunked(tokens("a")), ExchangeEnding.COMPLETE, Outcome.TRUNCATED),
        (chunked([*tokens("a"), delta({}, "stop")]), ExchangeEnding.COMPLETE, Outcome.OK),
        (chunked([*tokens("a"), DONE]), ExchangeEnding.COMPLETE, Outcome.OK),
        (chunked([*tokens("a"), usage(1, 1)]), ExchangeEnding.COMPLETE, Outcome.TRUNCATED),
        (chunked([*tokens("a"), event({"error": "no"})]), ExchangeEnding.COMPLETE, Outcome.STREAM_ERROR),
        (HEAD + chunk(event({"error": "no"})), ExchangeEnding.LOST, Outcome.STREAM_ERROR),
        (whole(b"<html>"), ExchangeEnding.COMPLETE, Outcome.STREAM_ERROR),
        (whole(b'{"choices": []}'), ExchangeEnding.COMPLETE, Outcome.STREAM_ERROR),
        (b"SSH-2.0-OpenSSH\r\n", ExchangeEnding.GARBAGE, Outcome.STREAM_ERROR),
        (
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + b"".join(chat("a")),
            ExchangeEnding.CLOSED,
            Outcome.OK,
        ),
    ],
)
def test_how_an_answer_ended_says_what_became_of_it(raw: bytes, ending: ExchangeEnding, expected: Outcome) -> None:
    assert outcome(raw, ending) is expected


def test_a_plain_answer_needs_no_finish_mark() -> None:
    assert outcome(whole(b"<html>"), dialect=Dialect.HTTP) is Outcome.OK
    assert outcome(whole(b"x")[:-1] + b"", ExchangeEnding.CLOSED, Dialect.HTTP) is Outcome.TRUNCATED
    assert decode(whole(b"x"), dialect=Dialect.HTTP).outcome == OUTCOME_CODES[Outcome.OK]
