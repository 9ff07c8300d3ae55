"""Prompts and the requests that hold them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.load.plan.prompts import check_lengths, prompt_lengths, prompt_texts
from agentdyno.load.plan.requests import Lengths, RequestEncoder, RequestSet, build_requests
from agentdyno.load.plan.schedule import build_schedule
from agentdyno.load.plan.sessions import build_session_requests, check_sessions, plan_sessions
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, PromptLengths, Sessions, Stage, Step
from agentdyno.servers.simulated.chat_request import read_ollama, read_openai
from agentdyno.wire.errors import Unsendable

from ...properties import examples

OPENAI = LoadTarget("o", Dialect.OPENAI, "http://127.0.0.1:8000/v1", "m")
OLLAMA = LoadTarget("o", Dialect.OLLAMA, "http://127.0.0.1:11434", "m")
PLAIN = LoadTarget("h", Dialect.HTTP, "http://127.0.0.1:80/ask")


def taken_apart(wire: bytes) -> tuple[str, dict[str, str], bytes]:
    head, _, body = wire.partition(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
    assert int(headers.get("content-length", "0")) == len(body)
    return line, headers, body


def body_of(requests: RequestSet, number: int = 0) -> Any:
    return json.loads(taken_apart(requests.wire[number])[2])


@examples(60)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(-3, 2**65), st.integers(0, 70))
def test_prompts_have_exactly_their_words_and_differ_right_after_what_is_shared(
    words: list[int], seed: int, shared: int
) -> None:
    texts = prompt_texts(words, seed, shared=shared)
    assert [len(text.split()) for text in texts] == words
    assert texts == prompt_texts(words, seed, shared=shared)
    own = [text.split()[shared] for text in texts if len(text.split()) > shared]
    assert len(set(own)) == len(own)
    beginnings = {tuple(text.split()[:shared]) for text in texts if len(text.split()) >= shared}
    assert len(beginnings) <= 1


def test_prompts_of_another_seed_share_nothing() -> None:
    first, second = prompt_texts([20] * 50, 1), prompt_texts([20] * 50, 2)
    assert not {text.split()[0] for text in first} & {text.split()[0] for text in second}


def test_lengths_follow_their_distribution() -> None:
    assert prompt_lengths(PromptLengths("fixed", mean=12.4), 3, 0) == (12, 12, 12)
    uniform = prompt_lengths(PromptLengths("uniform", low=5, high=9), 5000, 1)
    assert set(uniform) == {5, 6, 7, 8, 9}
    assert np.mean(uniform) == pytest.approx(7.0, abs=0.1)
    lognormal = np.array(prompt_lengths(PromptLengths("lognormal", mean=500.0, sigma=0.6, high=100_000), 20_000, 1))
    assert lognormal.mean() == pytest.approx(500.0, rel=0.02)
    assert np.log(lognormal).std() == pytest.approx(0.6, rel=0.02)
    cut = prompt_lengths(PromptLengths("lognormal", mean=100.0, sigma=2.0, low=50, high=150), 2000, 1)
    assert (min(cut), max(cut)) == (50, 150)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        (PromptLengths("unifrom"), "Did you mean uniform"),
        (PromptLengths("uniform", low=9, high=5), "9 to 5 words"),
        (PromptLengths("uniform", low=0), "0 to 4096 words"),
        (PromptLengths(mean=float("nan")), "cannot be"),
        (PromptLengths(mean=0.0), "cannot be"),
        (PromptLengths("lognormal", sigma=-1.0), "between 0 and 5"),
        (PromptLengths(shared=-1), "0 or more"),
    ],
)
def test_lengths_that_cannot_be_drawn_are_refused(lengths: PromptLengths, message: str) -> None:
    with pytest.raises(SpecError) as raised:
        check_lengths(lengths)
    assert message in str(raised.value)


def test_an_openai_request_streams_with_usage_and_a_limit() -> None:
    requests = build_requests(OPENAI, LoadOptions(output_tokens=16), 3, key="secret")
    line, headers, body = taken_apart(requests.wire[0])
    assert line == "POST /v1/chat/completions HTTP/1.1"
    assert headers["authorization"] == "Bearer secret"
    asked = read_openai(body)
    assert (asked.model, asked.stream, asked.include_usage, asked.max_tokens) == ("m", True, True, 16)
    assert len(asked.prompt.split()) == 32 == requests.input_words[0]
    assert asked.prompt == requests.texts[0]
    assert (requests.streams, requests.dialect, len(requests)) == (True, Dialect.OPENAI, 512)
    assert len(set(requests.wire)) == 512


def test_the_limit_has_the_name_that_the_server_knows() -> None:
    options = LoadOptions(output_tokens=16, prompt="hi")
    theirs = LoadTarget("o", Dialect.OPENAI, "https://api.openai.com/v1", "m")
    assert body_of(build_requests(theirs, options, 0))["max_completion_tokens"] == 16
    own = LoadTarget("o", Dialect.OPENAI, OPENAI.url, "m", options={"max_completion_tokens": 5, "ignore_eos": True})
    body = body_of(build_requests(own, options, 0))
    assert (body["max_completion_tokens"], body["ignore_eos"], "max_tokens" in body) == (5, True, False)


def test_an_ollama_request_has_its_options_where_they_belong() -> None:
    target = LoadTarget("o", Dialect.OLLAMA, OLLAMA.url, "m", options={"num_ctx": 512, "keep_alive": 0})
    requests = build_requests(target, LoadOptions(output_tokens=8), 1)
    line, _, body = taken_apart(requests.wire[0])
    assert line == "POST /api/chat HTTP/1.1"
    assert (read_ollama(body).stream, read_ollama(body).max_tokens) == (True, 8)
    value = json.loads(body)
    assert (value["options"], value["keep_alive"]) == ({"num_ctx": 512, "num_predict": 8}, 0)


def test_an_answer_in_one_piece_can_be_asked_for() -> None:
    target = LoadTarget("o", Dialect.OPENAI, OPENAI.url + "/chat/completions", "m", options={"stream": False})
    requests = build_requests(target, LoadOptions(prompt="hi"), 1)
    line, _, _ = taken_apart(requests.wire[0])
    assert line == "POST /v1/chat/completions HTTP/1.1"
    assert body_of(requests)["stream"] is False
    assert not requests.streams


def test_a_plain_request_is_what_it_is_told_to_be() -> None:
    options = LoadOptions(prompt="what?")
    body = {"question": "Q: {prompt}", "n": [1, "{prompt}"]}
    target = LoadTarget("h", Dialect.HTTP, "http://h/a/?x=1", method="put", headers={"X-Y": "z"}, body=body)
    line, headers, _ = taken_apart(build_requests(target, options, 0).wire[0])
    assert (line, headers["x-y"], headers["host"]) == ("PUT /a/?x=1 HTTP/1.1", "z", "h")
    assert body_of(build_requests(target, options, 0)) == {"question": "Q: what?", "n": [1, "what?"]}
    assert body_of(build_requests(PLAIN, options, 0)) == {"input": "what?"}
    get = build_requests(LoadTarget("h", Dialect.HTTP, "http://h/", method="GET"), options, 0)
    line, headers, sent = taken_apart(get.wire[0])
    assert (line, sent, "content-length" in headers) == ("GET / HTTP/1.1", b"", False)
    assert not get.streams


def test_a_header_of_the_users_own_stands_before_the_key() -> None:
    target = LoadTarget("h", Dialect.HTTP, "http://h/", headers={"authorization": "Basic x"})
    _, headers, _ = taken_apart(build_requests(target, LoadOptions(), 0, key="k").wire[0])
    assert headers["authorization"] == "Basic x"


def test_a_length_for_all_overrides_the_distribution_and_stays_within_memory() -> None:
    options = LoadOptions(prompts=PromptLengths("uniform", low=1, high=9), prompt="ignored")
    assert set(build_requests(OPENAI, options, 0, words=100).input_words) == {100}
    large = build_requests(OPENAI, options, 0, words=600_000)
    assert set(large.input_words) == {600_000}
    assert len(large) == 4


def test_a_trace_gives_each_request_its_own_lengths() -> None:
    requests = build_requests(OPENAI, LoadOptions(output_tokens=99), 0, lengths=Lengths((3, 5), (7, None)))
    assert requests.input_words == (3, 5)
    assert [body_of(requests, number)["max_tokens"] for number in (0, 1)] == [7, 99]
    with pytest.raises(SpecError, match="fits into memory"):
        build_requests(OPENAI, LoadOptions(), 0, lengths=Lengths([10_000_000] * 100, [None] * 100))


@pytest.mark.parametrize("words", [0, -1, 5_000_000])
def test_a_length_that_cannot_be_made_is_refused(words: int) -> None:
    with pytest.raises(SpecError, match="cannot be made"):
        build_requests(OPENAI, LoadOptions(), 0, words=words)


def test_targets_that_cannot_be_sent_to_are_refused() -> None:
    with pytest.raises(SpecError, match="is called, not sent bytes"):
        build_requests(LoadTarget("a", Dialect.AGENT), LoadOptions(), 0)
    with pytest.raises(Unsendable):
        build_requests(LoadTarget("a", Dialect.HTTP, "ftp://h"), LoadOptions(), 0)
    with pytest.raises(Unsendable, match="header"):
        build_requests(PLAIN, LoadOptions(), 0, key="a\r\nb")


def test_a_conversation_holds_what_was_said_and_thinks_before_it_goes_on() -> None:
    plan = plan_sessions(Sessions(turns=3, think_s=2.0), PromptLengths(mean=5.0), 4, count=10)
    talk = plan.open(13)
    assert talk.texts == plan.texts[3]
    encoder = RequestEncoder(OPENAI, LoadOptions())
    first = json.loads(taken_apart(encoder.encode_messages(talk.ask()))[2])["messages"]
    assert first == [{"role": "user", "content": talk.texts[0]}]
    assert talk.answered("one", 1000) == 1000 + plan.think_ns[3, 1]
    second = json.loads(taken_apart(encoder.encode_messages(talk.ask()))[2])["messages"]
    assert second == [*first, {"role": "assistant", "content": "one"}, {"role": "user", "content": talk.texts[1]}]
    over = [talk.over]
    talk.answered("two", 2000)
    assert len(talk.ask()) == 5
    over.append(talk.over)
    assert over == [False, True]
    assert talk.answered("three", 3000) is None


def test_conversations_encoded_beforehand_hold_answers_of_the_length_asked_for() -> None:
    options = LoadOptions(output_tokens=6, sessions=Sessions(turns=3, think_s=1.0), prompts=PromptLengths(mean=4.0))
    made = build_session_requests(OPENAI, options, 5, count=8)
    assert (len(made.requests), made.turns, made.think_ns.size) == (24, 3, 24)
    turns = [body_of(made.requests, number)["messages"] for number in (6, 7, 8)]
    assert [[len(message["content"].split()) for message in messages] for messages in turns] == [
        [4],
        [4, 6, 4],
        [4, 6, 4, 6, 4],
    ]
    assert turns[2][:3] == turns[1]
    assert not made.think_ns[::3].any()
    step = Step("step", (Stage("steady", 1.0, 20.0),), Arrivals.CONSTANT)
    schedule = made.opening(build_schedule(step, 8))
    assert set(schedule.request.tolist()) == {0, 3, 6, 9, 12, 15, 18, 21}
    assert schedule.session is not None
    assert schedule.session.tolist() == list(range(20))


def test_times_to_think_are_exponential_around_their_mean() -> None:
    plan = plan_sessions(Sessions(turns=5, think_s=2.0), PromptLengths(mean=1.0), 4, count=2000)
    assert not plan.think_ns[:, 0].any()
    think_s = plan.think_ns[:, 1:] / 1e9
    assert think_s.mean() == pytest.approx(2.0, rel=0.03)
    assert think_s.std() == pytest.approx(2.0, rel=0.04)
    again = plan_sessions(Sessions(turns=5, think_s=2.0), PromptLengths(mean=1.0), 4, count=2000)
    assert (again.think_ns == plan.think_ns).all()
    assert again.texts == plan.texts


@pytest.mark.parametrize("sessions", [Sessions(0), Sessions(1001), Sessions(2, -1.0), Sessions(2, float("inf"))])
def test_sessions_that_cannot_be_held_are_refused(sessions: Sessions) -> None:
    with pytest.raises(SpecError):
        check_sessions(sessions)
