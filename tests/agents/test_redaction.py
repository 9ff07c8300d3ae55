from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.agents.redaction import HIDDEN, Redactor, redactor_for, secret_names
from agentdyno.model.suite import AgentUse

KEY = 'sk-prøj/4+"x y"=&\\1234'


def hidden(text: str) -> str:
    return Redactor({"MY_KEY": KEY}).text(text)


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY, safe=""),
        quote(KEY),
        quote_plus(KEY).lower(),
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
    ],
)
def test_every_spelling_of_a_secret_is_replaced_by_its_name(form: str) -> None:
    assert hidden(f"before {form} after {form}") == "before [MY_KEY] after [MY_KEY]"


@pytest.mark.parametrize("before", ["", "u", "us", "user:", "someone:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_found_wherever_the_secret_lies_in_it(before: str, encode: object) -> None:
    assert callable(encode)
    text = encode(f"{before}{KEY}".encode()).decode()
    told = hidden(text)
    assert "[MY_KEY]" in told
    assert len(told.replace("[MY_KEY]", "")) <= len(before) * 4 // 3 + 8


def test_nested_values_are_searched_keys_included() -> None:
    value = {"a": [KEY, {"b": (f"x{KEY}", 3, None)}], KEY: True}
    assert Redactor({"MY_KEY": KEY}).value(value) == {
        "a": ["[MY_KEY]", {"b": ["x[MY_KEY]", 3, None]}],
        "[MY_KEY]": True,
    }


def test_headers_that_carry_keys_are_hidden_whether_known_or_not() -> None:
    redactor = Redactor({})
    assert redactor.text("Authorization: Bearer abcdef1234567890") == f"Authorization: Bearer {HIDDEN}"
    assert redactor.value({"X-Api-Key": "abc", "api_key": "env:NAME"}) == {"X-Api-Key": HIDDEN, "api_key": "env:NAME"}


@pytest.mark.parametrize(
    "text", ["the bearer certificate", "Bearer of bad news", "basic arithmetic", "Basic understanding"]
)
def test_ordinary_words_stay(text: str) -> None:
    assert Redactor({}).text(text) == text


def test_short_values_are_no_secrets() -> None:
    assert Redactor({"A_KEY": "short"}).text("short") == "short"


def test_a_secret_inside_another_does_not_uncover_it() -> None:
    assert Redactor({"A": "secret", "B": "secret-longer"}).text("secret-longer secret") == "[B] [A]"


@given(st.text(min_size=6, max_size=30).filter(lambda text: len(text.strip()) >= 6), st.text(max_size=20))
def test_no_secret_survives(secret: str, around: str) -> None:
    told = Redactor({"N": secret}).text(f"{around}{secret}{around}")
    assert secret.strip() not in told.replace("[N]", "") or secret.strip() in around or secret.strip() in "[N]"


def test_names_come_from_agents_and_from_what_looks_secret() -> None:
    uses = [
        AgentUse("a", "openai:m", config={"api_key_env": "GATEWAY"}, env=("PLAIN",)),
        AgentUse("b", "http://x", config={"headers": {"Auth": "env:HEADER_VALUE", "n": ["x env:OTHER"]}}),
    ]
    environ = dict.fromkeys(
        [
            *("GATEWAY", "PLAIN", "HEADER_VALUE", "OTHER", "PATH", "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "HOME"),
            *("OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "client_secret", "AWS_SECRET_ACCESS_KEY"),
        ],
        "value-of-it",
    )
    assert set(secret_names(uses, environ)) == {
        *("GATEWAY", "PLAIN", "HEADER_VALUE", "OTHER"),
        *("OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "client_secret", "AWS_SECRET_ACCESS_KEY"),
    }
    assert redactor_for(uses, {"GATEWAY": "abcdefgh"}).text("abcdefgh") == "[GATEWAY]"
