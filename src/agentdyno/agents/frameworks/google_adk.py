"""Agents and runners of google-adk."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from agentdyno.agents.frameworks.http_errors import NamedError
from agentdyno.agents.frameworks.trail import FrameworkCall, Question, ToolRun, Trail, question, tokens
from agentdyno.model.case import Usage

USER = "dyno"
APP = "dyno"


class AdkAgent:
    """A session of a runner for each case; a bare agent gets a runner that keeps its sessions in memory."""

    def __init__(self, subject: Any) -> None:
        runners: Any = import_module("google.adk.runners")
        is_runner = isinstance(subject, runners.Runner)
        self._runner = subject if is_runner else runners.InMemoryRunner(subject, app_name=APP)
        self._agent = subject.agent if is_runner else subject
        self._types: Any = import_module("google.genai.types")
        self._event: Any = import_module("google.adk.events").Event
        self._config: Any = import_module("google.adk.agents.run_config")

    async def run(self, prompt: object, history: list[dict[str, object]], *, stream: bool = False) -> object:
        trail = Trail()
        kept = trail.recorder.memory
        goes_on = bool(history) and isinstance(kept, str)
        asked = question(prompt, () if goes_on else history)
        session_id = str(kept) if goes_on else await self._new_session(asked)
        trail.recorder.memory = session_id
        mode = self._config.StreamingMode
        config = self._config.RunConfig(streaming_mode=mode.SSE if stream else mode.NONE)
        answer: str | None = None
        notes = _Notes(trail)
        async for event in self._runner.run_async(
            user_id=USER, session_id=session_id, new_message=self._content("user", asked.text), run_config=config
        ):
            if event.partial:
                if _text(event):
                    trail.delta()
                continue
            notes.take(event)
            if event.is_final_response():
                answer = _text(event) or answer
                if event.error_code and not answer:
                    raise NamedError(str(event.error_code), event.error_message or "the model gave no answer")
        return self._structured(answer)

    async def _new_session(self, asked: Question) -> str:
        service = self._runner.session_service
        session = await service.create_session(app_name=self._runner.app_name, user_id=USER)
        for message in asked.before:
            ours = message.role == "assistant"
            author = self._agent.name if ours else "user"
            content = self._content("model" if ours else "user", message.content)
            await service.append_event(session, self._event(author=author, content=content))
        return str(session.id)

    def _content(self, role: str, text: str) -> Any:
        return self._types.Content(role=role, parts=[self._types.Part(text=text)])

    def _structured(self, answer: str | None) -> object:
        if answer is None or getattr(self._agent, "output_schema", None) is None:
            return answer
        try:
            return json.loads(answer)
        except ValueError:
            return answer


class _Notes:
    """Turns events into calls: each one ends what began with the one before."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._last_s = trail.now()
        self._calls: dict[str, Any] = {}

    def take(self, event: Any) -> None:
        trail, now_s = self._trail, self._trail.now()
        if event.usage_metadata is not None:
            reason = None if event.finish_reason is None else str(event.finish_reason.value)
            usage = _usage(event.usage_metadata)
            trail.model_call(FrameworkCall(self._last_s, now_s, event.model_version, usage, reason, event.error_code))
        calls = event.get_function_calls()
        self._calls.update({call.id: call for call in calls})
        if calls:
            trail.said(_text(event))
        for result in event.get_function_responses():
            call = self._calls.get(result.id)
            given = None if call is None else dict(call.args or {})
            trail.tool(ToolRun(result.name, given, self._last_s, now_s, result.response, span=result.id))
        self._last_s = now_s


def _usage(told: Any) -> Usage | None:
    return tokens(
        given=told.prompt_token_count,
        made=(told.candidates_token_count or 0) + (told.thoughts_token_count or 0),
        cached=told.cached_content_token_count,
        reasoning=told.thoughts_token_count,
    )


def _text(event: Any) -> str:
    parts = event.content.parts if event.content else None
    return "".join(part.text for part in parts or () if part.text and not part.thought)
