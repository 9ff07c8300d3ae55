"""dyno.yaml: found upward, read with care."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.figures.dimensions import WEIGHTS
from agentdyno.model import AgentUse, Price, Workspace
from agentdyno.model.policy import DEFAULT_RULES, GatePolicy, GateRule, Tier
from agentdyno.specs import agent_use, find_workspace, load_workspace, resolve_agents

EVERYTHING = """\
workspace: support-bot
agents:
  mine:
    use: agent.py@answer
    version: "1.2"
    config: {temperature: 0}
    env: [OPENAI_API_KEY]
    description: The one
  small: openai:gpt-5-mini
  "tools@old": old.py@answer
  "tools@new": {use: new.py@answer}
  many: {use: openai:m, sweep: {n: [1, 2]}}
suites: [suites/*.yaml, extra/one.yaml, suites/a.yaml]
run: {agents: [mine, small]}
prices:
  my-model: {input: 1, output: 2.5, cached: 0.1, request: 0.001}
  other: {input: 0, output: 0}
compute_price_per_cpu_hour: 0.04
gate:
  against: main
  alpha: 0.05
  metrics:
    accuracy: {tier: critical, tolerance: 0.03}
    duration_s: {tolerance: 0.2}
    cost_usd: advisory
    reliability: off
    pass_hat_3: {tier: critical}
    result.rows: {tolerance: 1}
weights: {accuracy: 1, cost: 0.5}
store: postgresql://localhost/dyno
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "suites").mkdir()
    for name in ("b.yaml", "a.yaml", "notes.txt"):
        (tmp_path / "suites" / name).write_text("dataset: [a]\n")
    (tmp_path / "dyno.yaml").write_text(EVERYTHING)
    return tmp_path


def refused(folder: Path, text: str) -> SpecError:
    (folder / "dyno.yaml").write_text(text)
    with pytest.raises(SpecError) as caught:
        load_workspace(folder)
    error = caught.value
    assert error.remedy
    assert error.where is not None
    error.where = error.where.replace(f"{folder}/", "")
    return error


def test_every_key_is_read(home: Path) -> None:
    found = load_workspace(home)
    assert found.name == "support-bot"
    assert found.agents["mine"] == AgentUse(
        "mine", "agent.py@answer", "1.2", {"temperature": 0}, ("OPENAI_API_KEY",), "The one", str(home)
    )
    assert found.agents["small"] == AgentUse("small", "openai:gpt-5-mini", base_dir=str(home))
    assert found.agents["tools@old"] == AgentUse("tools", "old.py@answer", "old", base_dir=str(home))
    assert found.agents["many n=1"].config == {"n": 1}
    assert found.suites == ("suites/a.yaml", "suites/b.yaml", "extra/one.yaml")
    assert found.run_agents == ("mine", "small")
    assert found.prices == {"my-model": Price(1.0, 2.5, 0.1, 0.001), "other": Price(0.0, 0.0)}
    assert found.compute_price_per_cpu_hour == 0.04
    assert found.gate == GatePolicy(
        rules=(
            GateRule("error_rate", Tier.CRITICAL, 0.02),
            GateRule("unscored", Tier.CRITICAL, 0.0),
            GateRule("accuracy", Tier.CRITICAL, 0.03),
            GateRule("pass_hat_3", Tier.CRITICAL, 0.05),
            GateRule("duration_s", Tier.SUPPORTING, 0.2),
            GateRule("result.rows", Tier.SUPPORTING, 1.0),
            GateRule("total_tokens", Tier.ADVISORY, 0.1),
            GateRule("cost_usd", Tier.ADVISORY, 0.1),
        ),
        alpha=0.05,
        against="main",
        own_tiers=("accuracy", "cost_usd", "reliability", "pass_hat_3"),
        own_tolerances=("accuracy", "duration_s", "result.rows"),
    )
    assert found.weights == {"accuracy": 1.0, "cost": 0.5}
    assert found.store == "postgresql://localhost/dyno"
    assert (found.base_dir, found.source) == (str(home), str(home / "dyno.yaml"))


def test_the_nearest_file_above_counts(home: Path) -> None:
    deep = home / "a" / "b"
    deep.mkdir(parents=True)
    assert find_workspace(deep) == home / "dyno.yaml"
    assert load_workspace(deep).base_dir == str(home)
    (home / "a" / "dyno.yaml").write_text("workspace: inner\n")
    assert load_workspace(deep).name == "inner"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "{}"])
def test_a_folder_without_a_file_and_an_empty_file_are_workspaces_too(tmp_path: Path, text: str) -> None:
    (tmp_path / "dyno.yaml").write_text(text)
    assert load_workspace(tmp_path) == Workspace(base_dir=str(tmp_path), source=str(tmp_path / "dyno.yaml"))
    (tmp_path / "dyno.yaml").unlink()
    if find_workspace(tmp_path) is None:
        assert load_workspace(tmp_path) == Workspace(base_dir=str(tmp_path))


@pytest.mark.parametrize(
    ("text", "key", "message", "remedy"),
    [
        ("agent: {}", "agent", "unknown key 'agent'", "agents"),
        ("agents: {a: {uze: x}}", "agents.a.uze", "unknown key 'uze'", "use"),
        ("agents: {a: {use: x, output: text}}", "agents.a.output", "unknown key 'output'", "below `config:`"),
        ("agents: {a: {config: {}}}", "agents.a.use", "expected what to use", "agent.py@answer"),
        ("agents: {a: 5}", "agents.a", "expected an agent's name", "agent.py@answer"),
        ("agents: {a b: x}", "agents.'a b'", "without blanks", "my-agent"),
        ("agents: {'a@': x}", "agents.'a@'", "without blanks", "my-agent"),
        ("agents: {'a@1': {use: x, version: '2'}}", "agents.a@1.version", "expected version 1", "Remove"),
        ("agents: {a: {use: x, config: {api_key: abcdef}}}", "agents.a.config.api_key", "no secret", "environment"),
        ("agents: {a: {use: x, env: [KEY=abcdef]}}", "agents.a.env[0]", "name of an environment variable", "env:"),
        ("agents: {a: {use: x, sweep: {m: [1, 1]}}}", "agents.a.sweep.m", "twice", "Remove"),
        ("prices: {m: {input: 1}}", "prices.m.output", "the key is missing", "output: 2"),
        ("prices: {m: {input: -1, output: 1}}", "prices.m.input", "at least 0", "input: 0.25"),
        ("prices: {m: {inputs: 1, output: 1}}", "prices.m.input", "the key is missing", "input"),
        ("compute_price_per_cpu_hour: free", "compute_price_per_cpu_hour", "expected a number", "0.04"),
        ("gate: [a]", "gate", "expected a mapping", "gate"),
        ("gate: {metric: {}}", "gate.metric", "unknown key 'metric'", "metrics"),
        ("gate: {alpha: 0}", "gate.alpha", "more than 0", "alpha: 0.01"),
        ("gate: {alpha: 5 %}", "gate.alpha", "expected a number", "alpha: 0.01"),
        ("gate: {against: 1.0}", "gate.against", "expected text", "against: main"),
        ("gate: {metrics: {acuracy: off}}", "gate.metrics.acuracy", "unknown metric 'acuracy'", "accuracy"),
        ("gate: {metrics: {result.: off}}", "gate.metrics.'result.'", "unknown metric", "result.NAME"),
        ("gate: {metrics: {score: off}}", "gate.metrics.score", "unknown metric", "result.NAME"),
        ("gate: {metrics: {rss_bytes: off}}", "gate.metrics.rss_bytes", "unknown metric", "peak_rss_bytes"),
        ("gate: {metrics: {lag_p99_s: off}}", "gate.metrics.lag_p99_s", "unknown metric", "result.NAME"),
        ("gate: {metrics: {accuracy: criticl}}", "gate.metrics.accuracy", "expected critical", "critical"),
        ("gate: {metrics: {accuracy: 0.02}}", "gate.metrics.accuracy", "expected a tier", "tolerance: 0.02"),
        ("gate: {metrics: {accuracy: {teir: off}}}", "gate.metrics.accuracy.teir", "unknown key 'teir'", "tier"),
        ("gate: {metrics: {accuracy: {tier: soft}}}", "gate.metrics.accuracy.tier", "'critical'", "tier: critical"),
        ("gate: {metrics: {accuracy: {tolerance: -1}}}", "gate.metrics.accuracy.tolerance", "at least 0", "0.02"),
        ("gate: {metrics: {accuracy: {tolerance: .inf}}}", "gate.metrics.accuracy.tolerance", "finite", "number"),
        ("weights: {acuracy: 1}", "weights.acuracy", "unknown key 'acuracy'", "accuracy"),
        ("weights: {speed: -1}", "weights.speed", "at least 0", "speed: 0.2"),
        (
            "weights: {accuracy: 0, speed: 0, efficiency: 0, cost: 0, reliability: 0}",
            "weights",
            "at least one weight above 0",
            "accuracy: 0.3",
        ),
        ("run: {agent: x}", "run.agent", "unknown key", "agents"),
        ("suites: []", "suites", "at least one", "suites/*.yaml"),
        ("suites: ['**x/*.yaml']", "suites[0]", "not a pattern", "suites/*.yaml"),
        ("- a", "", "expected a mapping at the top", "agents:"),
        ("a: [", "line 1, column 5", "not valid YAML", "brackets"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, text: str, key: str, message: str, remedy: str) -> None:
    error = refused(tmp_path, text)
    assert error.where == f"dyno.yaml: {key}".removesuffix(": ")
    assert message in error.message
    assert remedy in (error.remedy or "")
    assert "abcdef" not in str(error)


def test_patterns_may_lead_out_of_the_folder(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "x.yaml").write_text("dataset: [a]\n")
    (inner / "dyno.yaml").write_text(f"suites: [../nowhere.yaml, '{tmp_path}/*.yaml']\n")
    assert load_workspace(inner).suites == ("../nowhere.yaml", str(tmp_path / "x.yaml"))


def test_names_of_the_workspace_stand_for_what_it_declares(home: Path) -> None:
    workspace = load_workspace(home)
    mine, new, foreign = resolve_agents(
        [agent_use("mine"), agent_use("tools@new"), agent_use("elsewhere.py@f")], workspace
    )
    assert mine == workspace.agents["mine"]
    assert (new.name, new.version, new.uses) == ("tools", "new", "new.py@answer")
    assert foreign == agent_use("elsewhere.py@f")


def test_what_is_given_beside_a_name_goes_first(home: Path) -> None:
    use = AgentUse("mine hot", "mine", config={"temperature": 1, "x": 2}, env=("MORE",))
    (found,) = resolve_agents([use], load_workspace(home))
    assert (found.name, found.uses, found.version) == ("mine hot", "agent.py@answer", "1.2")
    assert found.config == {"temperature": 1, "x": 2}
    assert found.env == ("OPENAI_API_KEY", "MORE")


def test_a_swept_agent_stands_for_all_its_combinations(home: Path) -> None:
    workspace = load_workspace(home)
    assert [use.name for use in resolve_agents([agent_use("many")], workspace)] == ["many n=1", "many n=2"]
    assert [use.name for use in resolve_agents([AgentUse("m", "many")], workspace)] == ["m n=1", "m n=2"]


@pytest.mark.parametrize(
    ("reference", "message"),
    [("mine@3", "mine is at version 1.2, not 3"), ("tools", "tools has 2 versions")],
)
def test_a_version_that_is_not_there_is_refused(home: Path, reference: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        resolve_agents([agent_use(reference)], load_workspace(home))
    assert caught.value.message == message
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["", "gate: {}", "gate: {metrics: {}}"])
def test_a_gate_that_says_nothing_has_the_default_rules(tmp_path: Path, text: str) -> None:
    (tmp_path / "dyno.yaml").write_text(text)
    found = load_workspace(tmp_path)
    assert found.gate == GatePolicy()
    assert found.gate.rules == DEFAULT_RULES
    assert found.weights == {}


def test_off_takes_a_default_rule_away_as_text_and_as_false(tmp_path: Path) -> None:
    for spelling in ("off", "'off'", "false", "{tier: off}"):
        (tmp_path / "dyno.yaml").write_text(f"gate: {{metrics: {{accuracy: {spelling}}}}}")
        gate = load_workspace(tmp_path).gate
        assert gate.rule("accuracy") is None
        assert gate.own_tiers == ("accuracy",)


def test_the_documented_weights_are_those_of_the_overall_score() -> None:
    from agentdyno.specs.workspace.gate import WeightsModel

    assert WeightsModel().model_dump() == WEIGHTS
