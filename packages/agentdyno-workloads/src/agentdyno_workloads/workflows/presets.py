"""The planners of this workload, ready to be put on the bench."""

from __future__ import annotations

from agentdyno import AgentUse

_HERE = "agentdyno_workloads.workflows"

REFERENCE = AgentUse(
    name="workflow-reference",
    uses=f"workflow:{_HERE}.planners:reference",
    version="1",
    description="Plans written by hand: the proof that every task can be done",
)
TEMPLATE = AgentUse(
    name="workflow-template",
    uses=f"workflow:{_HERE}.templates:TemplatePlanner",
    version="1",
    config={"base_url": "local"},
    description="SmolLM2-135M-Instruct choosing among command templates, with solved examples",
)
SMOLLM2 = AgentUse(
    name="workflow-smollm2",
    uses="workflow:openai:smollm2-135m-instruct",
    version="1",
    config={"base_url": "local", "api_key_env": None, "options": {"temperature": 0.3, "max_tokens": 400}},
    description="SmolLM2-135M-Instruct, asked for a plan as it is",
)
