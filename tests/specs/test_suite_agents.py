"""Agents of a suite: references, sweeps, and secrets that are refused."""

from __future__ import annotations

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import AgentUse
from agentdyno.specs import agent_use, parse_suite


def agents(*entries: object, **more: object) -> tuple[AgentUse, ...]:
    return parse_suite({"dataset": ["a"], "agents": list(entries), **more}).suite.agents


def refused(*entries: object, **more: object) -> SpecError:
    with pytest.raises(SpecError) as caught:
        agents(*entries, **more)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("reference", "name", "uses", "version"),
    [
        ("bots/agent.py@answer", "answer", "bots/agent.py@answer", None),
        ("package.module:Bot", "Bot", "package.module:Bot", None),
        ("openai:gpt-5-mini", "gpt-5-mini", "openai:gpt-5-mini", None),
        ("ollama:gemma3:4b", "gemma3:4b", "ollama:gemma3:4b", None),
        ("https://bot.example/v1/ask?x=1", "bot.example/v1/ask", "https://bot.example/v1/ask?x=1", None),
        ("cmd:./bot --plain", "bot", "cmd:./bot --plain", None),
        ("cmd:python3 -u bots/agent.py", "agent", "cmd:python3 -u bots/agent.py", None),
        ("my-agent", "my-agent", "my-agent", None),
        ("my-agent@1.2", "my-agent", "my-agent@1.2", "1.2"),
    ],
)
def test_a_reference_is_called_by_its_last_part(reference: str, name: str, uses: str, version: str | None) -> None:
    use = agent_use(reference)
    assert (use.name, use.uses, use.version) == (name, uses, version)
    (same,) = agents(reference)
    assert (same.name, same.uses, same.version) == (name, uses, version)


def test_an_agent_is_described_with_every_key() -> None:
    (use,) = agents(
        {
            "uses": "openai:m",
            "name": "small",
            "version": "3",
            "config": {"stop": ["a", "b"]},
            "env": ["KEY", "KEY"],
            "description": "text",
        },
    )
    assert use.config == {"stop": ["a", "b"]}
    assert (use.name, use.uses, use.version, use.env, use.description) == ("small", "openai:m", "3", ("KEY",), "text")


def test_each_combination_of_a_sweep_is_an_agent_with_a_readable_name() -> None:
    found = agents({"use": "a.py@f", "config": {"x": 1}, "sweep": {"model": ["s", "l"], "temperature": [0, 0.5]}})
    assert [use.name for use in found] == [
        "f model=s temperature=0",
        "f model=s temperature=0.5",
        "f model=l temperature=0",
        "f model=l temperature=0.5",
    ]
    assert found[1].config == {"x": 1, "model": "s", "temperature": 0.5}
    assert {use.uses for use in found} == {"a.py@f"}


def test_long_values_of_a_sweep_keep_their_names_apart() -> None:
    found = agents({"use": "a.py@f", "sweep": {"prompt": ["x" * 50 + "a", "x" * 50 + "b"]}})
    assert len({use.name for use in found}) == 2


def test_quick_may_name_a_swept_agent() -> None:
    document = {
        "dataset": ["a"],
        "agents": ["other", {"use": "a.py@f", "sweep": {"n": [1, 2]}}],
        "quick": {"agents": ["f", "third"]},
    }
    found = parse_suite(document, quick=True).suite.agents
    assert [use.name for use in found] == ["f n=1", "f n=2", "third"]


@pytest.mark.parametrize(
    ("entry", "key", "message"),
    [
        ({"use": "a", "uses": "b"}, "agents[0].uses", "got both"),
        ({"config": {}}, "agents[0].use", "expected what to use"),
        ({"use": "a", "name": "two words"}, "agents[0].name", "without blanks"),
        ({"use": "a", "sweep": {"m": []}}, "agents[0].sweep.m", "at least one"),
        ({"use": "a", "sweep": {"m": [1, 1]}}, "agents[0].sweep.m", "twice"),
        ({"use": "a", "sweep": {"m": [1]}, "config": {"m": 2}}, "agents[0].sweep.m", "got both"),
        (
            {"use": "a", "sweep": {"m": list(range(20)), "n": list(range(20))}},
            "agents[0].sweep",
            "at most 200 combinations",
        ),
        ({"use": "a", "env": {"KEY": "v"}}, "agents[0].env", "expected a list of names"),
        ({"use": "a", "env": ["KEY=hidden"]}, "agents[0].env[0]", "'KEY' with a value"),
        ({"use": "a", "version": 1.2}, "agents[0].version", "expected text"),
        ({"use": "a", "cfg": {}}, "agents[0].cfg", "unknown key"),
        (5, "agents[0]", "expected an agent's name"),
    ],
)
def test_a_mistake_in_an_agent_is_named(entry: object, key: str, message: str) -> None:
    error = refused(entry)
    assert error.where == f"suite: {key}"
    assert message in error.message
    assert "hidden" not in str(error)


def test_two_agents_of_one_name_are_refused_unless_versions_tell_them_apart() -> None:
    error = refused({"name": "f", "use": "a.py@f"}, "b.py@f")
    assert error.where == "suite: agents[1].name"
    assert "f is here twice, as in agents[0]" in error.message
    assert "f is here twice" in refused("b.py@f", {"name": "f", "use": "a.py@g"}).message
    assert "f is here twice" in refused("a.py@f", {"use": "a.py@f", "config": {"x": 1}}).message
    assert "x@1 is here twice" in refused({"use": "x", "version": "1"}, "x@1").message
    assert len(agents({"use": "x", "version": "1"}, {"use": "x", "version": "2"})) == 2
    assert [use.uses for use in agents("x@1", "x@2")] == ["x@1", "x@2"]


def test_agents_that_nobody_named_are_told_apart_by_where_they_come_from() -> None:
    assert [use.uses for use in agents("a.py@f", "b.py@f", "c.py@f")] == ["a.py@f", "b.py@f", "c.py@f"]
    ports = [{"use": "openai:m", "config": {"base_url": f"http://127.0.0.1:{port}/v1"}} for port in (8001, 8002)]
    assert [use.name for use in agents(*ports)] == ["m", "m"]
    assert "m is here twice, as in agents[1]" in refused(*ports, ports[1]).message


SECRETS = [
    {"api_key": "abc"},
    {"openai_api_key": "abcdef"},
    {"headers": {"Authorization": "Bearer abcdef123"}},
    {"password": "hunter2"},
    {"token": "abcdef123456"},
    {"note": "use sk-abcdefghijklmnop1234 for it"},
    {"list": ["x", {"deep": "ghp_" + "a" * 36}]},
    {"base_url": "https://user:hunter2@host/v1"},
    {"base_url": "https://host/v1?api_key=abcdef123"},
]


@pytest.mark.parametrize("config", SECRETS)
def test_a_pasted_secret_is_refused_and_never_shown(config: dict[str, object]) -> None:
    for error in (
        refused({"use": "a", "config": config}),
        refused("x", quick={"agents": [{"use": "a", "config": config}]}),
    ):
        assert "agents[0].config" in (error.where or "")
        assert "environment variable" in (error.remedy or "")
        for hidden in ("abcdef", "hunter2", "ghp_a", "sk-a"):
            assert hidden not in str(error)


@pytest.mark.parametrize(
    "config",
    [
        {"api_key_env": "OPENAI_API_KEY"},
        {"api_key": "$OPENAI_API_KEY"},
        {"api_key": "OPENAI_API_KEY"},
        {"headers": {"Authorization": "Bearer ${TOKEN}"}},
        {"max_tokens": 200, "token_limit": 5},
        {"stop_token": "<|end|>"},
        {"token": "\n"},
        {"base_url": "http://127.0.0.1:8080/v1"},
        {"prompt": "Ask sk-ippers; the password is secret."},
    ],
)
def test_names_of_variables_and_ordinary_values_are_no_secrets(config: dict[str, object]) -> None:
    assert agents({"use": "a", "config": config})[0].config == config


def test_secrets_in_a_sweep_and_in_a_reference_are_refused() -> None:
    assert refused({"use": "a", "sweep": {"api_key": ["abc", "def"]}}).where == "suite: agents[0].sweep.api_key[0]"
    assert refused("cmd:bot --key sk-abcdefghijklmnop1234").where == "suite: agents[0].use"
