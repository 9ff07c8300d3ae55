"""An agent of claude-agent-sdk, with a command in place of its own that speaks the same stream of messages."""

from __future__ import annotations

import sys
from pathlib import Path

from agentdyno.model.case import Case

from .given import GivenAgent
from .test_adapters import answers

COMMAND = """
import json
import sys


def say(**message):
    print(json.dumps(message), flush=True)


if "-v" in sys.argv:
    print("2.1.0 (Claude Code)")
    sys.exit()
words = " ".join(sys.argv).replace("=", " ").split()
resumed = words[words.index("--resume") + 1] if "--resume" in words else ""
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "control_request":
        answer = {"subtype": "success", "request_id": told["request_id"], "response": {}}
        say(type="control_response", response=answer)
        continue
    if told["type"] != "user":
        continue
    text = told["message"]["content"]
    here = {"session_id": "s1", "uuid": "u1"}
    call = {"type": "tool_use", "id": "t1", "name": "Add", "input": {"a": 3, "b": 4}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "7"}
    message = {"role": "assistant", "model": "claude-test"}
    say(type="assistant", message={**message, "id": "m1", "content": [call]}, **here)
    say(type="user", message={"role": "user", "content": [result]}, **here)
    said = f"{text} {resumed}".strip()
    say(type="assistant", message={**message, "id": "m2", "content": [{"type": "text", "text": said}]}, **here)
    used = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3}
    figures = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 2, "total_cost_usd": 0.25, "usage": used}
    say(type="result", subtype="success", is_error="fail" in text, result=said, **figures, **here)
    break
"""
SOURCE = """
from claude_agent_sdk import ClaudeAgentOptions

agent = ClaudeAgentOptions(cli_path=CLI)
"""


def test_options_answer_with_tools_tokens_cost_and_a_session(tmp_path: Path) -> None:
    command = tmp_path / "claude"
    command.write_text(f"#!{sys.executable}\n{COMMAND}")
    command.chmod(0o755)
    given = GivenAgent("claude-agent-sdk", "more", SOURCE.replace("CLI", repr(str(command))))
    case = Case("talk", "one", turns=("one", "two"))
    (response,) = answers(given, tmp_path, "http://127.0.0.1:9", [case])
    assert response.output == "two s1"
    assert response.cost == 0.5
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.cached_tokens, response.usage.output_tokens) == (30, 10, 6)
    assert response.api_calls == 4
    assert response.model == "claude-test"
    calls = [event for event in response.events if event.kind == "tool_call"]
    assert [(call.name, call.content) for call in calls] == [("Add", {"a": 3, "b": 4})] * 2
