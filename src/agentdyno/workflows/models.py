"""Models by the names that people know them by, as workflow agents; and whether they were different ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from agentdyno.agents.references import locate, scheme_of
from agentdyno.errors import SpecError
from agentdyno.findings.engine.one_model import AskedModel, one_model
from agentdyno.findings.figures.suite_figures import figures_of
from agentdyno.findings.record.judge import record_of
from agentdyno.model import AgentUse, RunResult, Workspace
from agentdyno.registry.installed import installed
from agentdyno.registry.names import registered

BASE_URL = "OPENAI_BASE_URL"
"""The environment variable that points to another server with OpenAI's protocol."""


def model_agent(
    model: str, workspace: Workspace, config: Mapping[str, object], environ: Mapping[str, str]
) -> AgentUse:
    """A workflow agent whose planner is ``model``: an agent of dyno.yaml, an installed one, a reference such as
    ``ollama:llama3``, else a model of OpenAI's protocol."""
    known = {*workspace.agents, *installed("agents"), *registered("agents")}
    if model in workspace.agents:
        use = workspace.agents[model]
    elif scheme_of(model) != "name" or model in known:
        use = AgentUse(model, model)
    else:
        base = {"base_url": environ[BASE_URL]} if environ.get(BASE_URL) else {}
        use = AgentUse(model, f"openai:{model}", config=base)
    located = locate(use)
    uses = use.uses if located.scheme == "workflow" else f"workflow:{use.uses}"
    name = "-".join(part for part in model.replace("@", "-").replace(":", "-").split("/") if part)
    return AgentUse(name, uses, use.version, {**use.config, **config}, use.env, use.description, use.base_dir)


def check_models(models: Sequence[str]) -> None:
    """Raises ``SpecError`` where there is nothing to run, or one model is named twice."""
    if isinstance(models, str) or not models:
        raise SpecError(
            "no models are named" if not models else "models is a text",
            where="models",
            remedy="Give a list of names.",
        )
    twice = [model for model in dict.fromkeys(models) if list(models).count(model) > 1]
    if twice:
        raise SpecError(f"{twice[0]} is named twice", where="models", remedy="Raise repetitions instead.")


def same_models(result: RunResult) -> Iterator[str]:
    """A sentence for every two that turn out to be one, as comparisons refuse them."""
    figures = figures_of(result)
    labels = dict.fromkeys(arm.agent for arm in result.arms if arm.agent and arm.arm_id in figures)
    models = [AskedModel.of(record_of(result, figures, label)) for label in labels]
    for first, second in combinations(models, 2):
        same = one_model(first, second)
        if same:
            yield same
