"""How a function, a class or an object is called with a case. Standard library only."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import AsyncGeneratorType, GeneratorType

from agentdyno.agents.frameworks.detect import adapted, framework_of, not_an_agent, version_text
from agentdyno.agents.frameworks.factory import is_factory, made_by
from agentdyno.agents.hosting.answer import mark, take
from agentdyno.agents.hosting.recorder import Recorder
from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError, SpecError, nearest
from agentdyno.model.case import Case
from agentdyno.model.sample import FailureKind

Call = Callable[[], object]
_IN_PIECES = (GeneratorType, AsyncGeneratorType, Awaitable)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that answers cases, with what its parameters ask for.

    ``input_name`` is the keyword of the case or its input, "" where that is the first positional argument.
    ``subject`` is the object behind it, whose ``start`` and ``close`` are called where it has them. ``observed`` is
    what is known of it before it answers: its framework, its interpreter.
    """

    function: Callable[..., object]
    subject: object
    takes_case: bool
    takes_history: bool
    input_name: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    observed: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_async(self) -> bool:
        """Whether calling it returns at once, with something to wait for."""
        function = inspect.unwrap(self.function)
        while hasattr(function, "func"):  # functools.partial
            function = function.func
        called = getattr(function, "__call__", None)  # noqa: B004  (an object whose call is async)
        kinds = inspect.iscoroutinefunction, inspect.isasyncgenfunction
        return any(is_kind(item) for item in (function, called) for is_kind in kinds)

    def refuse_made_agent(self, returned: object) -> None:
        """Raises ``CaseFailed`` where a function that was asked a question made an agent of it."""
        framework = framework_of(returned)
        if framework is None and not inspect.isroutine(returned):
            return
        made = "a function" if framework is None else framework.forms
        asked = self.input_name or next(iter(inspect.signature(self.function).parameters), "")
        raise CaseFailed(
            FailureKind.SERIALISATION,
            f"asked a question, it made {made} instead of an answer",
            fatal=True,
            remedy=f"Give `{asked}:` in the agent's config: then it is called with that once, and what it makes is "
            "asked.",
        )

    def call(self, case: Case, text: object, history: list[dict[str, object]]) -> Call:
        """A call that is ready to be made, on whatever thread."""
        value: object = case if self.takes_case else text
        keywords = dict(self.options)
        if self.takes_history:
            keywords["history"] = history
        if not self.input_name:
            return lambda: self.function(value, **keywords)
        keywords[self.input_name] = value
        return lambda: self.function(**keywords)


def callee_of(target: object, config: Mapping[str, object] | None = None, name: str = "") -> Callee:
    """``target`` as something that can be called with cases: a function, an object with ``run``, an agent of a
    framework, or a class or function that makes one of these.

    A class is built with ``config``, which its ``__init__`` must declare; of anything else the keys of ``config``
    are keyword arguments of the function or of the object's ``run``. Raises ``PluginError`` for what cannot be
    called, ``SpecError`` for a key that nobody declares and for one that is missing.
    """
    given = dict(config or {})
    label = name or getattr(target, "__name__", type(target).__name__)
    if inspect.isclass(target):
        target, given = _built(target, given, label), {}
    elif callable(target) and is_factory(target, given):
        target, given = made_by(target, given, label)
    framework = framework_of(target)
    target = adapted(target, label) or target
    run = getattr(target, "run", None)
    function = run if callable(run) and not inspect.isroutine(target) else target
    if not callable(function):
        raise not_an_agent(target, label)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some builtins do not tell
        return Callee(function, target, False, False, options=given)
    found = _callee(function, target, parameters, given, label)
    return found if framework is None else replace(found, observed={"framework": version_text(framework)})


def _built(kind: type, config: dict[str, object], label: str) -> object:
    parameters = list(_parameters_of(kind, label))
    _check_config(config, parameters, f"{label}.__init__", label)
    try:
        return kind(**config)
    except Exception as error:
        raise PluginError(f"{label} cannot be built: {type(error).__name__}: {error}", where=label) from error


def _parameters_of(kind: type, label: str) -> Iterable[inspect.Parameter]:
    try:
        return inspect.signature(kind).parameters.values()
    except (TypeError, ValueError) as error:
        raise PluginError(f"the parameters of {label} cannot be read: {error}") from error


def _callee(
    function: Callable[..., object],
    subject: object,
    parameters: list[inspect.Parameter],
    config: dict[str, object],
    label: str,
) -> Callee:
    chosen = next((item for item in parameters if _is_case(item)), None)
    if chosen is None:
        chosen = next((item for item in parameters if item.kind in _POSITIONAL and item.name != "history"), None)
    if chosen is None:
        chosen = next((item for item in parameters if item.kind is inspect.Parameter.VAR_POSITIONAL), None)
    if chosen is None:
        raise PluginError(
            f"{label} takes no input",
            remedy="Its first parameter receives the case's input, or the case itself when it is named `case`.",
        )
    rest = [item for item in parameters if item is not chosen and item.name != "history"]
    _check_config(config, rest, f"{label}()", label)
    history = any(item.name == "history" and item is not chosen for item in parameters)
    first = parameters[0] is chosen and chosen.kind is not inspect.Parameter.KEYWORD_ONLY
    return Callee(function, subject, _is_case(chosen), history, "" if first else chosen.name, config)


def _is_case(item: inspect.Parameter) -> bool:
    annotation = item.annotation if isinstance(item.annotation, str) else getattr(item.annotation, "__name__", "")
    return item.kind not in _VARIABLE and (item.name == "case" or annotation.rpartition(".")[2] == "Case")


def _check_config(config: dict[str, object], parameters: list[inspect.Parameter], where: str, label: str) -> None:
    declared = [item for item in parameters if item.kind not in _VARIABLE]
    names = [item.name for item in declared if item.kind is not inspect.Parameter.POSITIONAL_ONLY]
    is_open = any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters)
    for key in config:
        if key not in names and not is_open:
            remedy = nearest(key, names) if names else f"{label} takes no configuration; remove it."
            raise SpecError(f"{where} has no parameter {key!r}", where=f"config of {label}", remedy=remedy)
    for item in declared:
        if item.default is item.empty and item.name not in config:
            raise SpecError(
                f"{where} needs {item.name!r}",
                where=f"config of {label}",
                remedy=f"Give `{item.name}:` in the agent's config, or a default in the code.",
            )


def whole_answer(call: Call, recorder: Recorder | None, clock: Callable[[], int] = time.perf_counter_ns) -> object:
    """What ``call`` returns: all pieces of what comes in pieces, and ``recorder`` is told when the first one came."""
    sent_ns = clock()
    returned = call()
    if not isinstance(returned, _IN_PIECES):
        return returned
    from agentdyno.agents.hosting.pieces import joined  # most agents return their answer

    return joined(returned, recorder, sent_ns, clock)


class CaseTurns:
    """The calls that one case takes: one, or one per turn for a function that does not take the case itself."""

    def __init__(self, callee: Callee, case: Case, recorder: Recorder) -> None:
        self._callee = callee
        self._case = case
        self._recorder = recorder
        self._by_turn = bool(case.turns) and not callee.takes_case
        self._waiting: list[object] = list(reversed(case.turns)) if self._by_turn else [case.input]
        self._history: list[dict[str, object]] = []
        self._before = mark(recorder)
        self.output: object = None
        recorder.observed.update(callee.observed)

    def next_call(self) -> Call | None:
        """The next call to make; ``None`` when the case is answered."""
        if not self._waiting:
            return None
        text = self._waiting.pop()
        if self._by_turn:
            self._recorder.event("message", "user", text)
        self._before = mark(self._recorder)
        call = self._callee.call(self._case, text, [dict(message) for message in self._history])
        recorder = None if self._history else self._recorder  # a case has one first piece
        self._history.append({"role": "user", "content": text})
        return partial(whole_answer, call, recorder)

    def take(self, returned: object) -> None:
        """Notes what the call returned."""
        if not isinstance(returned, (str, dict, list)):
            self._callee.refuse_made_agent(returned)
        self.output = take(self._recorder, returned, self._before)
        if self._by_turn:
            self._recorder.event("message", "assistant", self.output)
            self._history.append({"role": "assistant", "content": self.output})
