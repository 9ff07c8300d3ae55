"""Graphs of langgraph and runnables of langchain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any
from uuid import uuid4

from agentdyno.agents.frameworks.handed import handed
from agentdyno.agents.frameworks.trail import FrameworkCall, Question, ToolRun, Trail, is_messages, question, tokens
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Usage
from agentdyno.model.sample import FailureKind

MESSAGES = "messages"
STRUCTURED = "structured_response"
"""Keys of a graph's state that have a meaning in langgraph's own agents."""
_HISTORY_NAMES = ("history", "chat_history", MESSAGES)


class GraphAgent:
    """A compiled graph, one run of it a turn, each in a thread of its own where the graph keeps checkpoints.

    A state with ``messages`` gets the conversation; any other gets the case's input as it is, a text under the only
    key that the graph takes. A function under ``@entrypoint`` gets the input, whatever it is. The answer is the
    structured response, the last message's text, or the state.
    """

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._handler = _handler_class()
        self._has_state = hasattr(graph, "builder")
        self._keys = _state_keys(graph) if self._has_state else ()

    async def run(
        self,
        prompt: object,
        history: list[dict[str, object]],
        *,
        stream: bool = False,
        input_key: str = "",
        output_key: str = "",
        config: Mapping[str, object] | None = None,
        context: object = None,
    ) -> object:
        trail = Trail()
        state = self._state(trail, prompt, history, input_key)
        own = dict(config or {})
        chosen = own.get("configurable")
        own["configurable"] = {"thread_id": uuid4().hex, **(chosen if isinstance(chosen, Mapping) else {})}
        own["callbacks"] = [self._handler(trail)]
        # older versions have no context
        further = {} if context is None else {"context": await handed("context", context)}
        if not stream:
            return self._taken(trail, await self._graph.ainvoke(state, own, **further), output_key)
        last: object = None
        async for mode, part in self._graph.astream(state, own, stream_mode=[MESSAGES, "values"], **further):
            if mode == "values":
                last = part
            elif _is_reply(part[0]) and text_of(part[0]):
                trail.delta()
        return self._taken(trail, last, output_key)

    def _taken(self, trail: Trail, state: object, output_key: str) -> object:
        if isinstance(state, Mapping) and MESSAGES in state:
            trail.recorder.memory = list(state[MESSAGES])
        return _answer(state, output_key)

    def _state(self, trail: Trail, prompt: object, history: list[dict[str, object]], input_key: str) -> object:
        kept = trail.recorder.memory
        if isinstance(kept, list) and history:
            return {input_key or MESSAGES: [*kept, *chat_messages(question(prompt))]}
        if input_key:
            return {input_key: prompt}
        if not self._has_state:
            return prompt
        if isinstance(prompt, dict) and (MESSAGES not in self._keys or prompt.keys() <= set(self._keys)):
            return prompt
        if MESSAGES in self._keys or not self._keys:
            return {MESSAGES: chat_messages(question(prompt, history))}
        if isinstance(prompt, str) and len(self._keys) == 1:
            return {self._keys[0]: prompt}
        names = ", ".join(self._keys)
        raise _asked_wrongly(
            f"the graph takes {names}; give a case input with these keys, or config input_key: one of them"
        )


class RunnableAgent:
    """A runnable: a chat model gets the conversation, a prompt its one variable, anything else the case's input."""

    def __init__(self, runnable: Any) -> None:
        self._runnable = runnable
        self._handler = _handler_class()
        base = import_module("langchain_core.language_models").BaseLanguageModel
        self._is_model = isinstance(runnable, base)
        self._keys: tuple[str, ...] = ()
        if not self._is_model:
            schema = runnable.get_input_jsonschema()
            self._keys = tuple(schema.get("properties", {})) if schema.get("type") == "object" else ()

    async def run(self, prompt: object, history: list[dict[str, object]], *, stream: bool = False) -> object:
        trail = Trail()
        own = {"callbacks": [self._handler(trail)]}
        value = self._value(prompt, history)
        if not stream:
            return _plain(await self._runnable.ainvoke(value, own))
        whole: Any = None
        async for part in self._runnable.astream(value, own):
            if text_of(part):
                trail.delta()
            whole = part if whole is None else whole + part
        return _plain(whole)

    def _value(self, prompt: object, history: list[dict[str, object]]) -> object:
        if self._is_model:
            return chat_messages(question(prompt, history))
        if isinstance(prompt, dict) or not self._keys:
            return prompt
        asked = question(prompt, history)
        past = next((name for name in self._keys if name in _HISTORY_NAMES), None)
        rest = [name for name in self._keys if name != past]
        if past is not None and not rest:
            return {past: chat_messages(asked)}
        if len(rest) == 1:
            value: dict[str, object] = {rest[0]: asked.text if is_messages(prompt) else prompt}
            return value if past is None else {**value, past: chat_messages(Question("", asked.before))[:-1]}
        raise _asked_wrongly(f"the runnable takes {', '.join(self._keys)}; give a case input with these keys")


def _asked_wrongly(message: str) -> CaseFailed:
    """A case or a config that does not fit: nothing of the agent's code is to be shown for that."""
    return CaseFailed(FailureKind.EXCEPTION, message)


def _state_keys(graph: Any) -> tuple[str, ...]:
    """The keys of the state that a graph takes.

    Its builder knows them. The JSON schema does too, but making one fails for a state with types that pydantic has no
    schema for, ``typing.TypedDict`` under Python 3.11 among them.
    """
    builder = graph.builder
    known = getattr(builder, "schemas", {}).get(getattr(builder, "input_schema", None))
    return tuple(graph.get_input_jsonschema().get("properties", {}) if known is None else known)


def chat_messages(asked: Question) -> list[dict[str, str]]:
    """The conversation in the form that every part of langchain takes."""
    return [{"role": message.role, "content": message.content} for message in asked.messages]


def text_of(message: Any) -> str:
    """The text of a message: an attribute in new versions, a method in older ones."""
    if isinstance(message, str):
        return message
    text = getattr(message, "text", "")
    return str(text() if callable(text) and not isinstance(text, str) else text)


def _is_reply(message: Any) -> bool:
    return getattr(message, "type", "").lower().startswith("ai")


def _answer(state: object, output_key: str) -> object:
    if not isinstance(state, Mapping):
        return _plain(state)
    if output_key:
        if output_key not in state:
            raise _asked_wrongly(f"the graph's state has no {output_key!r}; it has {', '.join(map(str, state))}")
        return _plain(state[output_key])
    if state.get(STRUCTURED) is not None:
        return state[STRUCTURED]
    messages = state.get(MESSAGES)
    if isinstance(messages, Sequence) and messages and hasattr(messages[-1], "text"):
        return text_of(messages[-1])
    return {str(name): _plain(value) for name, value in state.items()}


def _plain(value: object) -> object:
    """Messages as their text; everything else as it is."""
    if hasattr(value, "text") and hasattr(value, "type"):
        return text_of(value)
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _usage(message: Any) -> Usage | None:
    told = getattr(message, "usage_metadata", None)
    if not told:
        return None
    given, made = told.get("input_token_details") or {}, told.get("output_token_details") or {}
    return tokens(
        given=told.get("input_tokens"),
        made=told.get("output_tokens"),
        cached=given.get("cache_read"),
        reasoning=made.get("reasoning"),
    )


class TrailCallbacks:
    """What langchain's callbacks tell, written to a trail: they alone say where a call begins and where it ends."""

    run_inline = True  # else each call costs a thread
    ignore_chain = True
    ignore_custom_event = True

    def __init__(self, trail: Trail) -> None:
        self._trail = trail
        self._open: dict[Any, tuple[str, float, str, object]] = {}
        self._parents: dict[Any, Any] = {}

    def _begin(self, run_id: Any, parent_run_id: Any, kind: str, name: str, content: object) -> None:
        span = f"{kind}-{len(self._parents) + 1}"
        self._open[run_id] = (span, self._trail.now(), name, content)
        self._parents[run_id] = parent_run_id

    def _span(self, run_id: Any) -> str | None:
        return self._open[run_id][0] if run_id in self._open else None

    def on_chat_model_start(
        self, _serialized: Any, _messages: Any, *, run_id: Any, parent_run_id: Any = None, **_rest: Any
    ) -> None:
        self._begin(run_id, parent_run_id, "model", "", None)

    def on_llm_start(
        self, _serialized: Any, _prompts: Any, *, run_id: Any, parent_run_id: Any = None, **_rest: Any
    ) -> None:
        self._begin(run_id, parent_run_id, "model", "", None)

    def on_llm_end(self, response: Any, *, run_id: Any, **_rest: Any) -> None:
        message = getattr(response.generations[0][0], "message", None) if response.generations[0] else None
        self._model_call(run_id, message, None)

    def on_llm_error(self, error: BaseException, *, run_id: Any, **_rest: Any) -> None:
        self._model_call(run_id, None, f"{type(error).__name__}: {error}"[:500])

    def _model_call(self, run_id: Any, message: Any, error: str | None) -> None:
        found = self._open.get(run_id)
        if found is None:
            return
        trail, told = self._trail, getattr(message, "response_metadata", None) or {}
        reason = told.get("finish_reason")
        call = FrameworkCall(
            found[1],
            trail.now(),
            told.get("model_name"),
            _usage(message),
            None if reason is None else str(reason),
            error,
            found[0],
            self._span(self._parents[run_id]),
        )
        trail.model_call(call)
        if getattr(message, "tool_calls", None):
            trail.said(text_of(message))
        for broken in getattr(message, "invalid_tool_calls", None) or ():
            trail.note("invalid tool call", dict(broken))

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: Any,
        parent_run_id: Any = None,
        inputs: Any = None,
        **_rest: Any,
    ) -> None:
        name = str((serialized or {}).get("name", ""))
        self._begin(run_id, parent_run_id, "tool", name, input_str if inputs is None else inputs)

    def on_tool_end(self, output: Any, *, run_id: Any, **_rest: Any) -> None:
        failed = getattr(output, "status", "success") == "error"
        content = getattr(output, "content", output)
        self._tool_run(run_id, content, str(content)[:500] if failed else None)

    def on_tool_error(self, error: BaseException, *, run_id: Any, **_rest: Any) -> None:
        self._tool_run(run_id, None, f"{type(error).__name__}: {error}"[:500])

    def _tool_run(self, run_id: Any, result: object, error: str | None) -> None:
        found = self._open.get(run_id)
        if found is not None:
            parent = self._span(self._parents[run_id])
            now = self._trail.now()
            self._trail.tool(ToolRun(found[2], found[3], found[1], now, result, error, found[0], parent))

    def on_retriever_start(
        self, serialized: Any, query: str, *, run_id: Any, parent_run_id: Any = None, **_rest: Any
    ) -> None:
        self._begin(run_id, parent_run_id, "retrieval", str((serialized or {}).get("name", "")), query)

    def on_retriever_end(self, documents: Any, *, run_id: Any, **_rest: Any) -> None:
        found = self._open.get(run_id)
        if found is not None:
            details = {"span": found[0], "documents": len(documents)}
            took_s = self._trail.now() - found[1]
            self._trail.recorder.event("retrieval", found[2], found[3], duration_s=took_s, details=details)


@cache
def _handler_class() -> Any:
    """The callbacks as a handler of langchain's, whose base class is known only where langchain is installed."""
    base = import_module("langchain_core.callbacks").BaseCallbackHandler
    return type("TrailHandler", (TrailCallbacks, base), {})
