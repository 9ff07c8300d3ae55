"""What agents are called: the shortest texts that tell them apart, whatever the order they come in."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.model.naming import forms_of, labels

_WORDS = st.sampled_from(["answer", "agent", "triage", "triage_v2", "bots", "a", "b"])
_FILES = st.builds(
    lambda folders, file, name: f"{'/'.join([*folders, file])}.py@{name}",
    st.lists(_WORDS, max_size=2),
    _WORDS,
    _WORDS,
)
_COMMANDS = st.builds(
    lambda program, folders, file, tail: f"cmd:{program}{'/'.join([*folders, file])}{tail}",
    st.sampled_from(["node ", "python3 ", "./", ""]),
    st.lists(_WORDS, max_size=2),
    st.sampled_from(["agent.mjs", "agent.sh", "agent.py", "agent"]),
    st.sampled_from(["", " --fast", " 'two words'"]),
)
_MODELS = st.builds(
    lambda scheme, model, place: f"{scheme}:{model}{place}",
    st.sampled_from(["openai", "ollama"]),
    st.sampled_from(["gpt-5-mini", "qwen3", "org/qwen3"]),
    st.sampled_from(["", " at example.org", " at example.com"]),
)
_MODULES = st.builds(
    lambda parts, name: f"{'.'.join(parts)}:{name}", st.lists(_WORDS, min_size=1, max_size=3), _WORDS
)
_GIVEN = st.one_of(_WORDS, _FILES, _COMMANDS, st.text(max_size=8)).map(lambda name: f"name:{name}")
_IDENTITIES = st.one_of(_FILES, _COMMANDS, _MODELS, _MODULES, _GIVEN, _FILES.map(lambda text: f"workflow:{text}"))


@pytest.mark.parametrize(
    ("identities", "expected"),
    [
        (["triage.py@answer"], ["answer"]),
        (["triage.py@answer", "triage_v2.py@answer"], ["triage.answer", "triage_v2.answer"]),
        (["cmd:node agent.mjs", "cmd:agent.sh"], ["agent.mjs", "agent.sh"]),
        (["a/agent.py@answer", "b/agent.py@answer"], ["a/agent.answer", "b/agent.answer"]),
        (["agent.py@answer", "b/agent.py@answer"], ["agent.py@answer", "b/agent.answer"]),
        (["cmd:agent", "cmd:agent --fast"], ["cmd:agent", "agent --fast"]),
        (["openai:m at one.org", "openai:m at two.org"], ["m at one.org", "m at two.org"]),
        (["openai:m", "ollama:m"], ["openai:m", "ollama:m"]),
        (["openai:small", "openai:large"], ["small", "large"]),
        (["name:answer", "triage.py@answer"], ["answer", "triage.answer"]),
        (["team.bots:answer", "other.bots:answer"], ["team.bots.answer", "other.bots.answer"]),
        (["http://one.org/chat", "https://one.org/chat"], ["http://one.org/chat", "https://one.org/chat"]),
        (["agent.py@answer | t=0", "agent.py@answer | t=1"], ["answer t=0", "answer t=1"]),
        (["workflow:openai:m", "openai:m"], ["workflow:openai:m", "openai:m"]),
    ],
)
def test_a_label_is_the_shortest_text_that_tells(identities: list[str], expected: list[str]) -> None:
    found = labels(identities)
    assert [found[identity] for identity in identities] == expected


@given(st.lists(_IDENTITIES, max_size=12, unique=True), st.randoms(use_true_random=False))
def test_no_two_share_a_label_and_the_order_does_not_matter(identities: list[str], chance: random.Random) -> None:
    found = labels(identities)
    assert len(set(found.values())) == len(identities)
    shuffled = list(identities)
    chance.shuffle(shuffled)
    assert labels(shuffled) == found


@given(st.lists(_IDENTITIES, min_size=1, max_size=12, unique=True))
def test_a_shorter_form_would_name_another_one_too(identities: list[str]) -> None:
    found = labels(identities)
    for identity, label in found.items():
        if identity.startswith("name:"):
            assert label == identity.removeprefix("name:"), "a name that was given stays"
            continue
        forms = forms_of(identity)
        shorter = forms[: forms.index(label)] if label in forms else forms
        others = {form for other in identities if other != identity for form in forms_of(other)}
        assert set(shorter) <= others


@given(_IDENTITIES)
def test_one_alone_is_called_by_its_shortest_form(identity: str) -> None:
    assert labels([identity]) == {identity: forms_of(identity)[0]}
