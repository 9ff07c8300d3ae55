"""The agents of this workload, ready to be put on the bench.

``base_url: local`` stands for the bundled model's server, which the workbench starts and whose address it puts in.
"""

from __future__ import annotations

from agentdyno import AgentUse

_AGENTS = "agentdyno.workloads.comprehensive.agents"
# Warm enough that repeats of one question differ now and then: what reliability is about.
_SAMPLING = {"temperature": 0.3, "max_tokens": 24}

SMOLLM2 = AgentUse(
    name="smollm2",
    uses="openai:smollm2-135m-instruct",
    version="1",
    config={"base_url": "local", "api_key_env": None, "options": _SAMPLING},
    description="SmolLM2-135M-Instruct, asked plainly",
)
SMOLLM2_STRUCTURED = AgentUse(
    name="smollm2-structured",
    uses=f"{_AGENTS}:StructuredAgent",
    version="1",
    config={"base_url": "local"},
    description="SmolLM2 with solved examples and answers in a fixed form",
)
SMOLLM2_TOOLS = AgentUse(
    name="smollm2-tools",
    uses=f"{_AGENTS}:ToolsAgent",
    version="2",
    config={"base_url": "local"},
    description="SmolLM2 with a calculator and a document search",
)
SMOLLM2_TOOLS_FIRST = AgentUse(
    name="smollm2-tools",
    uses=f"{_AGENTS}:FirstToolsAgent",
    version="1",
    config={"base_url": "local"},
    description="SmolLM2 with tools as first released: nothing checked, no precedence, no memory",
)
RULES = AgentUse(
    name="rules",
    uses="agentdyno.workloads.comprehensive.rules:RulesAgent",
    version="2",
    description="No model: patterns and keywords",
)
RULES_FIRST = AgentUse(
    name="rules",
    uses="agentdyno.workloads.comprehensive.rules:FirstRulesAgent",
    version="1",
    description="The rules as first released: no precedence, no memory",
)

PRESETS = (SMOLLM2, SMOLLM2_STRUCTURED, SMOLLM2_TOOLS, RULES)
"""What the suite runs."""
REGRESSION = (SMOLLM2_TOOLS_FIRST, SMOLLM2_TOOLS)
"""Baseline and candidate of one agent."""
