from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.agents.commands.agent import CommandAgent
from agentdyno.agents.endpoints.http_json import HttpJson
from agentdyno.agents.endpoints.ollama_chat import OllamaChat
from agentdyno.agents.endpoints.openai_chat import OpenAIChat
from agentdyno.agents.hosting.agent import HostedAgent
from agentdyno.agents.hosting.callable_agent import CallableAgent
from agentdyno.agents.references import label_of
from agentdyno.agents.resolve import make_agent, parse_agent
from agentdyno.contracts import Agent
from agentdyno.errors import PluginError, SpecError
from agentdyno.model.case import Case
from agentdyno.model.suite import AgentUse
from agentdyno.registry import names
from agentdyno.registry.local import load_file
from tests.agents.place import Place


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers, imports or puts on the path is gone after it."""
    monkeypatch.setattr(names, "_registered", {})
    monkeypatch.setattr(sys, "path", list(sys.path))


def use(uses: str, place: Place | None = None, **config: object) -> AgentUse:
    return AgentUse("subject", uses, config=config, base_dir=str(place.folder) if place else ".")


def ask(agent: Agent, text: object = "hello") -> object:
    async def whole() -> object:
        await agent.start()
        try:
            return (await agent.run(Case("c", text))).output
        finally:
            await agent.close()

    return asyncio.run(whole())


class TestMaking:
    @pytest.mark.parametrize(
        ("uses", "kind", "paid"),
        [
            ("openai:gpt-5-mini", OpenAIChat, True),
            ("ollama:gemma3:4b", OllamaChat, False),
            ("https://example.com/answer", HttpJson, True),
            ("http://127.0.0.1:9/answer", HttpJson, False),
            ("cmd:cat -", CommandAgent, False),
        ],
    )
    def test_schemes_make_their_adapters(self, uses: str, kind: type, paid: bool) -> None:
        agent = make_agent(use(uses))
        assert isinstance(agent, kind)
        assert (agent.name, agent.paid) == ("subject", paid)
        assert len(agent.version) == 12

    def test_the_name_after_the_scheme_is_the_model_unless_the_configuration_names_one(self) -> None:
        assert make_agent(use("ollama:gemma3:4b")).config["model"] == "gemma3:4b"
        assert make_agent(use("openai:gpt-5", model="gpt-5-nano")).config["model"] == "gpt-5-nano"
        with pytest.raises(SpecError, match="no model is named"):
            make_agent(use("openai:"))

    def test_options_of_a_model_may_stand_beside_the_other_keys(self) -> None:
        agent = make_agent(use("openai:m", temperature=0, system="Be brief.", options={"seed": 1}))
        assert agent.config["options"] == {"temperature": 0, "seed": 1}
        assert agent.config["system"] == "Be brief."

    @pytest.mark.parametrize(("uses", "paid"), [("openai:m", False), ("cmd:cat", True)])
    def test_what_it_costs_can_be_declared(self, uses: str, paid: bool) -> None:
        assert make_agent(use(uses, paid=paid)).paid is paid

    def test_files_run_in_a_process_of_their_own_or_in_this_one(self, place: Place) -> None:
        place.write("bot.py", "import os\ndef answer(text, mark='!'):\n    return [text + mark, os.getpid()]\n")
        hosted = make_agent(use("bot.py@answer", place, mark="?"), environ=place.environ)
        inline = make_agent(use("bot.py@answer", place, mark="?"), inline=True)
        assert isinstance(hosted, HostedAgent)
        assert isinstance(inline, CallableAgent)
        there, here = ask(hosted), ask(inline)
        assert isinstance(there, list)
        assert isinstance(here, list)
        assert there[0] == here[0] == "hello?"
        assert there[1] != here[1]
        assert hosted.version == inline.version != ""

    def test_modules_are_found_from_the_base_folder(self, place: Place) -> None:
        place.write("bot_module_of_resolve.py", "def answer(text):\n    return text * 2\n")
        reference = use("bot_module_of_resolve:answer", place)
        assert ask(make_agent(reference, environ=place.environ)) == "hellohello"
        assert ask(make_agent(reference, inline=True)) == "hellohello"

    def test_commands_run_in_the_base_folder_with_limits_and_their_own_configuration(self, place: Place) -> None:
        (place.folder / "inner").mkdir()
        config = {"cwd": "inner", "cpu_limit_s": 5, "input": "argv", "output_limit_mb": 0.001, "depth": 3}
        agent = make_agent(use("cmd:sh -c 'pwd; echo $DYNO_CONFIG'", place, **config), environ=place.environ)
        assert ask(agent) == f'{(place.folder / "inner").resolve()}\n{{"depth": 3}}'
        assert agent.config == {"depth": 3}

    def test_a_declared_version_is_kept(self) -> None:
        assert make_agent(replace(use("cmd:cat"), version="2.1")).version == "2.1"

    @pytest.mark.parametrize(
        ("uses", "config", "message"),
        [
            ("openai:m", {"temprature": 1}, "unknown key 'temprature'"),
            ("openai:m", {"base_ur": "x"}, "Did you mean base_url?"),
            ("ollama:m", {"keepalive": 1}, "Did you mean keep_alive?"),
            ("http://localhost/x", {"header": {}}, "Did you mean headers?"),
            ("openai:m", {"options": 3}, "options is int"),
            ("openai:m", {"few_shot": 3}, "configuration is refused"),
            ("cmd:cat", {"cpu_limit": 3}, "Did you mean cpu_limit_s"),
            ("cmd:cat", {"cpu_limit_s": 0}, "above 0"),
            ("cmd:cat", {"output_limit_mb": "much"}, "above 0"),
            ("cmd:cat", {"input": "file"}, "Say stdin or argv"),
            ("cmd:", {}, "no command"),
            ("cmd:cat", {"paid": "no"}, "Say true or false"),
            ("openai:m", {"prompt": "nothing"}, "config of subject, prompt"),
        ],
    )
    def test_a_configuration_that_does_not_fit_is_refused(
        self, uses: str, config: dict[str, object], message: str
    ) -> None:
        with pytest.raises(SpecError) as caught:
            make_agent(AgentUse("subject", uses, config=config))
        assert message in str(caught.value)

    def test_the_keys_that_are_known_are_listed(self) -> None:
        with pytest.raises(SpecError, match=r"Known: api_key_env, base_url, few_shot"):
            make_agent(use("openai:m", zzz=1))

    @pytest.mark.parametrize(
        ("uses", "message"),
        [
            ("opnai:gpt-5", "Did you mean openai?"),
            ("no_such_name", "unknown agent"),
            ("missing.py@answer", "no file missing.py"),
        ],
    )
    def test_what_cannot_be_found_is_refused(self, place: Place, uses: str, message: str) -> None:
        with pytest.raises(PluginError) as caught:
            make_agent(use(uses, place))
        assert message in str(caught.value)


class TestNames:
    def test_a_preset_is_made_with_the_users_configuration_over_its_own(self) -> None:
        preset = AgentUse("p", "openai:m", version="3", config={"system": "a", "prompt": "b {input}"}, env=("KEY",))
        names.register("agents", "preset", preset)
        agent = make_agent(use("preset", prompt="c {input}"))
        assert isinstance(agent, OpenAIChat)
        assert (agent.name, agent.version) == ("subject", "3")
        assert (agent.config["system"], agent.config["prompt"]) == ("a", "c {input}")

    def test_presets_in_a_circle_are_refused(self) -> None:
        names.register("agents", "a", AgentUse("a", "a"))
        with pytest.raises(PluginError, match="without end"):
            make_agent(use("a"))

    def test_what_a_file_registers_runs_in_a_process_of_its_own(self, place: Place) -> None:
        text = (
            "from agentdyno.registry import register_agent\n@register_agent('bot')\ndef _(text):\n    return 'bot'\n"
        )
        load_file(place.write("bots_of_resolve.py", text))
        agent = make_agent(use("bot", place), environ=place.environ)
        assert isinstance(agent, HostedAgent)
        assert ask(agent) == "bot"

    def test_what_only_this_process_has_runs_here(self) -> None:
        names.register("agents", "local", lambda text: text[::-1])
        agent = make_agent(use("local"))
        assert isinstance(agent, CallableAgent)
        assert ask(agent) == "olleh"


class TestParsing:
    registered: Mapping[str, AgentUse] = {
        "my-agent": AgentUse("my-agent", "agent.py@answer", version="1.2"),
        "other": AgentUse("other", "openai:m"),
    }

    def parse(self, reference: str, folder: Path | str = ".") -> AgentUse:
        return parse_agent(reference, self.registered, folder)

    def test_a_registered_name_is_what_was_registered(self) -> None:
        assert self.parse("my-agent") is self.registered["my-agent"]
        assert self.parse("my-agent@1.2") is self.registered["my-agent"]

    def test_another_version_than_the_registered_one_is_refused(self) -> None:
        with pytest.raises(SpecError, match=r"my-agent is registered at version 1\.2, not 2"):
            self.parse("my-agent@2")

    def test_the_hash_counts_where_no_version_is_declared(self) -> None:
        version = make_agent(self.registered["other"]).version
        assert self.parse(f"other@{version}") is self.registered["other"]

    @pytest.mark.parametrize(
        ("reference", "name"),
        [
            ("openai:gpt-5-mini", "gpt-5-mini"),
            ("ollama:gemma3:4b", "gemma3:4b"),
            ("http://user:secret@localhost:8000/answer/", "localhost:8000/answer"),
            ("cmd:python3 -u bots/answer.py --fast", "answer"),
            ("cmd:./bot.sh x", "bot"),
            ("cmd:sh -c 'echo x'", "sh"),
            ("json:dumps", "dumps"),
        ],
    )
    def test_references_get_a_short_name(self, reference: str, name: str) -> None:
        parsed = self.parse(reference)
        assert (parsed.name, parsed.uses) == (name, reference)
        assert label_of(reference) == name

    def test_a_file_is_looked_for_at_once(self, tmp_path: Path) -> None:
        (tmp_path / "agent.py").write_text("def answer(text): ...\nclass Bot: ...\ndef _hidden(): ...\n")
        parsed = self.parse("agent.py@answer", tmp_path)
        assert (parsed.name, parsed.base_dir) == ("answer", str(tmp_path))
        with pytest.raises(PluginError, match=r"Did you mean agent\.py"):
            self.parse("agnt.py@answer", tmp_path)
        with pytest.raises(PluginError, match=r"Say agent\.py@answer or agent\.py@Bot\."):
            self.parse("agent.py", tmp_path)
        with pytest.raises(PluginError, match=r"no such file.*agent\.py"):
            self.parse("agen.py", tmp_path)

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            ("my-agnt", "Did you mean my-agent?"),
            ("my-agnt@1", "Did you mean my-agent?"),
            ("opnai:gpt", "Did you mean openai?"),
            ("cmd:", "no command"),
        ],
    )
    def test_what_nobody_knows_is_refused_with_the_nearest_names(self, reference: str, message: str) -> None:
        with pytest.raises((PluginError, SpecError)) as caught:
            self.parse(reference)
        assert message in str(caught.value)

    def test_a_name_may_carry_the_version_that_it_has_and_no_other(self) -> None:
        names.register("agents", "local", AgentUse("local", "cmd:cat", version="7"))
        parsed = self.parse("local@7")
        assert (parsed.name, parsed.uses) == ("local", "local")
        with pytest.raises(SpecError, match="local is registered at version 7, not 8"):
            self.parse("local@8")


def test_making_an_agent_loads_its_own_adapter_only() -> None:
    program = (
        "import sys; from agentdyno.agents.resolve import make_agent; from agentdyno.model.suite import AgentUse;"
        "make_agent(AgentUse('a', 'cmd:cat'));"
        "print({'openai_chat', 'http_json', 'hosted'} & {name.rpartition('.')[2] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
