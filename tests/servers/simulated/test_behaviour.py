"""Settings of a simulated model: what is refused, and how they travel."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from agentdyno.errors import SpecError
from agentdyno.servers.simulated.behaviour import Behaviour, parse_settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ttft_s": -1}, "ttft_s is -1"),
        ({"itl_s": float("nan")}, "itl_s is nan"),
        ({"error_rate": 1.5}, "error_rate is 1.5"),
        ({"error_rate": 0.6, "reset_rate": 0.6}, "add up to more than 1"),
        ({"output_tokens": (5, 2)}, "output_tokens"),
        ({"output_tokens": -1}, "output_tokens"),
        ({"error_status": 200}, "error_status is 200"),
        ({"rate_limit_per_s": 0.0}, "rate_limit_per_s is 0"),
        ({"context_limit": 0}, "context_limit is 0"),
        ({"tool_calls": "sometimes"}, "never, match, always"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        Behaviour(**settings)  # type: ignore[arg-type]


def test_a_behaviour_survives_json() -> None:
    behaviour = Behaviour(
        ttft_s=0.1,
        output_tokens=(3, 9),
        answers=MappingProxyType({"a": "b"}),
        tool_arguments={"x": 1},
        models=("m", "n"),
        api_key="k",
        retry_after_s=2.0,
    )
    assert Behaviour.from_plain(json.loads(json.dumps(behaviour.as_plain()))) == behaviour


def test_texts_are_turned_into_the_type_of_their_field() -> None:
    text = 'ttft_s=0.5; output_tokens=3-9;echo=true ;error_status=503;answers={"a": "b=c"};truncate_clean=0'
    behaviour = Behaviour().overridden(parse_settings(text))
    assert (behaviour.ttft_s, behaviour.output_tokens, behaviour.echo) == (0.5, (3, 9), True)
    assert (behaviour.error_status, dict(behaviour.answers), behaviour.truncate_clean) == (503, {"a": "b=c"}, False)


@pytest.mark.parametrize("text", ["ttft_s", "ttft_s=soon", "output_tokens=few", "echo=maybe", "answers=[1]"])
def test_texts_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(SpecError):
        Behaviour().overridden(parse_settings(text))


def test_an_unknown_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(SpecError, match="ttft_s") as caught:
        Behaviour().overridden({"tftt_s": 1})
    assert "Did you mean" in str(caught.value)
    with pytest.raises(SpecError, match="no setting 'seeed'"):
        Behaviour.from_plain({"seeed": 1})


def test_what_concerns_all_requests_cannot_be_set_by_one() -> None:
    with pytest.raises(SpecError, match="one request cannot set 'rate_limit_per_s'"):
        Behaviour().overridden({"rate_limit_per_s": 5})
