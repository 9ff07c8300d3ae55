from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.load.client.decode import Decoded, ExactDecoder, Result
from agentdyno.load.client.fast_decode import FastDecoder
from agentdyno.load.client.hot import ExchangeEnding, Read
from agentdyno.load.client.repeats import Repeats
from agentdyno.load.windows.records import OUTCOME_CODES, OUTCOMES, TOKEN_SOURCE_CODES, UNKNOWN_SOURCE
from agentdyno.model.load import Dialect, Outcome, TokenSource
from tests.load.streams import DONE, HEAD, LAST, chat, chunk, chunked, delta, event, ollama, tokens, usage, whole

from ...properties import examples

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
    exact = ExactDecoder(dialect).decode(reads, ending, 900)
    assert plain(FastDecoder(dialect).decode(reads, ending, 900)) == plain(exact)
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
    fast, exact = FastDecoder(dialect), ExactDecoder(dialect)
    for place in range(1, len(raw)):
        reads = split(raw, place)
        expected = exact.decode(reads, ExchangeEnding.COMPLETE, 900)
        found = fast.decode(reads, ExchangeEnding.COMPLETE, 900)
        assert plain(found) == plain(expected)


@pytest.mark.parametrize("ending", [ExchangeEnding.CLOSED, ExchangeEnding.LOST, ExchangeEnding.TIMEOUT])
def test_both_decoders_agree_on_an_answer_that_is_cut_off_anywhere(ending: ExchangeEnding) -> None:
    raw = chunked(chat("a", "b", counted=2))
    fast, exact = FastDecoder(Dialect.OPENAI), ExactDecoder(Dialect.OPENAI)
    for place in range(len(raw)):
        reads = split(raw[:place])
        assert plain(fast.decode(reads, ending, 900)) == plain(exact.decode(reads, ending, 900))


@examples(60)
@given(st.lists(st.text(max_size=6), min_size=1, max_size=8), st.data())
def test_both_decoders_agree_on_any_tokens_in_any_pieces(texts: list[str], data: st.DataObject) -> None:
    raw = chunked(chat(*texts, counted=data.draw(st.sampled_from([None, 0, len(texts)]))))
    places = data.draw(st.lists(st.integers(1, len(raw) - 1), max_size=12, unique=True))
    reads = split(raw, *sorted(places))
    found = FastDecoder(Dialect.OPENAI).decode(reads, ExchangeEnding.COMPLETE, 900)
    expected = ExactDecoder(Dialect.OPENAI).decode(reads, ExchangeEnding.COMPLETE, 900)
    assert plain(found) == plain(expected)


@examples(150)
@given(st.integers(0, 5000), st.binary(min_size=1, max_size=3))
def test_both_decoders_agree_on_an_answer_with_wrong_bytes_in_it(place: int, wrong: bytes) -> None:
    raw = chunked(chat("a", "b", "c", "d", counted=4))
    place %= len(raw)
    damaged = raw[:place] + wrong + raw[place + len(wrong) :]
    fast = FastDecoder(Dialect.OPENAI)
    fast.decode(split(raw), ExchangeEnding.COMPLETE, 900)  # what it has learnt from a good answer must not mislead it
    found = fast.decode(split(damaged), ExchangeEnding.COMPLETE, 900)
    expected = ExactDecoder(Dialect.OPENAI).decode(split(damaged), ExchangeEnding.COMPLETE, 900)
    assert plain(found) == plain(expected)


def test_the_usual_answer_is_decoded_fast_whatever_its_id_is() -> None:
    fast = FastDecoder(Dialect.OPENAI)
    for ident in ("chatcmpl-1", "chatcmpl-2", "chatcmpl-1000", "x"):
        fast.decode(split(chunked(chat(*WORDS, ident=ident, counted=3))), ExchangeEnding.COMPLETE, 900)
    assert (fast.certain, fast.handed_over) == (4, 0)


def test_something_else_in_the_place_of_the_id_is_not_taken_for_one() -> None:
    fast, exact = FastDecoder(Dialect.OPENAI), ExactDecoder(Dialect.OPENAI)
    good = chunked(chat(*WORDS, ident="abcdefgh", counted=3))
    fast.decode(split(good), ExchangeEnding.COMPLETE, 900)
    bad = good.replace(b'"id":"abcdefgh"', b'"error":"abcde"')
    assert fast.decode(split(bad), ExchangeEnding.COMPLETE, 900) == exact.decode(
        split(bad), ExchangeEnding.COMPLETE, 900
    )
    assert OUTCOMES[exact.decode(split(bad), ExchangeEnding.COMPLETE, 900).outcome] is Outcome.STREAM_ERROR


def test_times_are_those_of_the_bytes_that_complete_the_first_and_the_last_event_with_content() -> None:
    events = chat("a", "b", "c", counted=3)
    raw = chunked(events)
    ends = [len(HEAD)]
    for data in events:
        ends.append(ends[-1] + len(chunk(data)))
    # The head and the role arrive at 100, "a" at 200, "b" without its last newline at 300, that and "c" at 400.
    reads = split(raw, ends[1], ends[2], ends[3] - 3, ends[4])
    for decoder in (ExactDecoder(Dialect.OPENAI), FastDecoder(Dialect.OPENAI)):
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


def test_an_answer_that_comes_again_is_known_by_its_bytes_and_only_by_them() -> None:
    fast, exact = FastDecoder(Dialect.OPENAI), ExactDecoder(Dialect.OPENAI)
    for number in range(4):
        raw = chunked(chat(*WORDS, ident=f"chatcmpl-{number}", counted=3))
        assert plain(fast.decode(split(raw), ExchangeEnding.COMPLETE, 900)) == plain(
            exact.decode(split(raw), ExchangeEnding.COMPLETE, 900)
        )
    raw = chunked(chat(*WORDS, ident="chatcmpl-9", counted=3))
    for place in range(len(raw)):
        damaged = raw[:place] + b"?" + raw[place + 1 :]
        found, expected = (decoder.decode(split(damaged), ExchangeEnding.COMPLETE, 900) for decoder in (fast, exact))
        assert plain(found) == plain(expected), place


def test_answers_that_have_more_than_their_id_of_their_own_are_not_kept_for_ever() -> None:
    repeats = Repeats()
    tokens = [b"a"]
    result = ExactDecoder(Dialect.OPENAI).decode(split(chunked(chat("a", counted=1))), ExchangeEnding.COMPLETE, 900)
    for number in range(200):
        raw = b'x-request: %03d "id":"a" "id":"a"' % number
        assert repeats.find(raw, 1) is None
        repeats.learn(raw, b'"id":"a"', tokens, result)
    assert repeats._kept == {}
