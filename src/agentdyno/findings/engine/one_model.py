"""Whether two agents turn out to be one model: their difference is then noise, whatever their names say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentdyno.errors import NotComparable
from agentdyno.model.identity import canonical_json
from agentdyno.model.record import AgentRecord

WHAT_TO_DO = (
    "Their difference is noise. See which model the server gives for each name; versions of one agent, and agents "
    "that differ in a setting (temperature, base_url, ...), are compared."
)


@dataclass(frozen=True, slots=True)
class AskedModel:
    """An agent that asks a model: its ``name``, the reference it was made from (``asked``: ``openai:gpt-5-mini``, ""
    where code of its own is around the model), the models in its responses, and how it is set up."""

    name: str
    asked: str
    answered: frozenset[str]
    configuration: Mapping[str, object]

    @classmethod
    def of(cls, record: AgentRecord) -> AskedModel:
        return cls(record.name, record.asked, frozenset(record.models), record.configuration)


def one_model(first: AskedModel, second: AskedModel) -> str:
    """A sentence where the same model answered both, asked in the same way; else "".

    What counts is the name in the responses, not the name that was asked for. An agent beside itself (another
    version, another run) is what it says it is, and agents with code of their own may differ in that.
    """
    if first.name == second.name or not first.answered or first.answered != second.answered:
        return ""
    if not first.asked or _way(first) != _way(second):
        return ""
    return f"{first.name} and {second.name} are the same model: both answered as {_listed(first.answered)}"


def refuse_one_model(baseline: AgentRecord, candidate: AgentRecord) -> None:
    """Raises ``NotComparable`` where two agents turn out to be one model."""
    same = one_model(AskedModel.of(baseline), AskedModel.of(candidate))
    if same:
        raise NotComparable(same, remedy=WHAT_TO_DO)


def _way(model: AskedModel) -> str:
    """How a model is asked, without its name."""
    kept = {key: value for key, value in model.configuration.items() if key != "model"}
    scheme = model.asked.removeprefix("workflow:")
    return canonical_json([model.asked != scheme, scheme.partition(":")[0], kept])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
