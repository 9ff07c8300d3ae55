"""Which variables a proxy takes the place of, and what else of an environment changes."""

from __future__ import annotations

import pytest

from agentdyno.agents.recording.redirects import Redirect, find_redirects, redirected


def told(environ: dict[str, str], *named: str, asked: bool = False) -> dict[str, str]:
    return {item.variable: item.origin + item.path for item in find_redirects(environ, named, asked=asked)}


def test_an_agent_whose_environment_names_no_model_is_left_alone() -> None:
    assert told({"PATH": "/bin", "HTTP_PROXY": "http://p:1"}) == {}


@pytest.mark.parametrize(
    ("variable", "value", "where"),
    [
        ("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("OPENAI_BASE_URL", "https://api.example.org/v1/", "https://api.example.org/v1"),
        ("OPENAI_API_BASE", "http://gateway/openai", "http://gateway/openai"),
        ("ANTHROPIC_BASE_URL", "https://api.anthropic.com", "https://api.anthropic.com"),
        ("OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434"),
        ("OLLAMA_HOST", "127.0.0.1:9999", "http://127.0.0.1:9999"),
        ("OLLAMA_HOST", "http://box", "http://box"),
        ("OLLAMA_API_BASE", "http://box:1/x", "http://box:1/x"),
    ],
)
def test_a_variable_that_names_a_model_is_redirected(variable: str, value: str, where: str) -> None:
    assert told({variable: value}) == {variable: where}


@pytest.mark.parametrize("value", ["", "  ", "http://", "ftp://x", "http://user:pw@host/v1", "http://a b"])
def test_what_is_no_address_is_left_as_it_is(value: str) -> None:
    assert told({"OPENAI_BASE_URL": value}) == {}


def test_a_key_counts_where_the_agent_names_it_and_not_where_it_happens_to_be_there() -> None:
    environ = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    assert told(environ) == {}
    assert told(environ, "OPENAI_API_KEY") == {"OPENAI_BASE_URL": "https://api.openai.com/v1"}
    assert told({}, "OPENAI_API_KEY") == {}


def test_where_recording_is_asked_for_all_that_clients_look_at_is_redirected() -> None:
    assert told({"OPENAI_BASE_URL": "http://mine/v1"}, asked=True) == {
        "OPENAI_BASE_URL": "http://mine/v1",
        "ANTHROPIC_BASE_URL": "https://api.anthropic.com",
        "OLLAMA_HOST": "http://127.0.0.1:11434",
    }


def test_a_model_behind_another_proxy_is_left_alone_unless_it_is_spared() -> None:
    environ = {"OPENAI_BASE_URL": "https://api.example.org/v1", "HTTPS_PROXY": "http://corp:3128"}
    assert told(environ) == {}
    assert told({**environ, "NO_PROXY": "localhost, .example.org"}) != {}
    assert told({**environ, "no_proxy": "*"}) != {}
    assert told({**environ, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}) != {}


def test_the_environment_changes_in_what_is_redirected_alone() -> None:
    redirects = (Redirect("OPENAI_BASE_URL", "openai", "http://mine", "/v1"),)
    environ = {"PATH": "/bin", "OPENAI_BASE_URL": "http://mine/v1"}
    changed = redirected(environ, redirects, lambda target, path: f"http://proxy/case/1/{target}{path}")
    assert changed == {"PATH": "/bin", "OPENAI_BASE_URL": "http://proxy/case/1/openai/v1"}
    behind = redirected({**environ, "http_proxy": "http://corp", "NO_PROXY": "x"}, redirects, lambda *_: "http://p")
    assert (behind["NO_PROXY"], behind["no_proxy"]) == ("x,127.0.0.1", "127.0.0.1")
