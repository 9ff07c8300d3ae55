"""What a request may send: true, false and whole numbers are these, as the document says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import BaseModel, ValidationError

from agentdyno.web.asked import RunBody
from agentdyno.web.routes.sessions import SignInBody
from agentdyno.web.schemas import BaselineBody, MarkBody

BODIES: tuple[tuple[type[BaseModel], str, Mapping[str, object]], ...] = (
    (SignInBody, "remember", {}),
    (RunBody, "async_execution", {"agent_id": "echo", "suite_id": "sums"}),
    (BaselineBody, "include_partial", {"agent_id": "echo"}),
    (MarkBody, "is_right", {"case_id": "c", "benchmark": "b", "agent": "echo"}),
)


def refused(body: type[BaseModel], content: Mapping[str, object]) -> set[str]:
    """The fields that are at fault."""
    try:
        body.model_validate(content)
    except ValidationError as error:
        return {str(item["loc"][0]) for item in error.errors()}
    return set()


@pytest.mark.parametrize(("body", "name", "rest"), BODIES)
@pytest.mark.parametrize("value", [0, 1, 0.0, "true", "no"])
def test_what_is_neither_true_nor_false_is_refused(
    body: type[BaseModel], name: str, rest: Mapping[str, object], value: object
) -> None:
    assert name in refused(body, {**rest, name: value})
    assert not refused(body, {**rest, name: True})
    assert not refused(body, {**rest, name: False})


@pytest.mark.parametrize("value", [True, "3", 2.5, -1])
def test_a_number_of_a_try_is_a_whole_number(value: object) -> None:
    mark = {"case_id": "c", "benchmark": "b", "agent": "echo", "is_right": True}
    assert not refused(MarkBody, {**mark, "iteration": 3})
    assert refused(MarkBody, {**mark, "iteration": value}) == {"iteration"}
