"""Who is let in to a simulated model: keys, limits, capacity, and the faults that are whole responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter_ns

from agentdyno.errors import SpecError
from agentdyno.servers.http_message import HttpRequest
from agentdyno.servers.simulated.answer_bytes import reported_model
from agentdyno.servers.simulated.behaviour import Behaviour, parse_settings
from agentdyno.servers.simulated.chat_request import ReceivedChat
from agentdyno.servers.simulated.fault_plan import Fault, fault_named
from agentdyno.servers.simulated.slots import Slots

FAULT_MESSAGE = "the simulated model failed on purpose"
WRONG_KEY = "the API key is missing or wrong"
RETRY_AFTER_S = 1.0
"""What a full queue and a planned 429 say where the behaviour does not."""


@dataclass(eq=False)
class Refusal(Exception):
    """Why a request gets no answer from the model. ``kind`` and ``code`` are the OpenAI protocol's."""

    status: int
    outcome: str
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    retry_after_s: float | None = None


class SimulatedRateLimit:
    """Allows ``per_s`` requests a second, and as many at once as come in one second (at least one)."""

    def __init__(self, per_s: float, clock_ns: Callable[[], int] = perf_counter_ns) -> None:
        self._per_s, self._clock_ns = per_s, clock_ns
        self._most = max(1.0, per_s)
        self._left, self._at_ns = self._most, clock_ns()

    def wait_s(self) -> float:
        """0 when a request may pass (and is counted), else the seconds until one may."""
        now_ns = self._clock_ns()
        self._left = min(self._most, self._left + (now_ns - self._at_ns) / 1e9 * self._per_s)
        self._at_ns = now_ns
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / self._per_s


class Admission:
    """Looks at every request before the model does; each method raises ``Refusal``."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._limit = SimulatedRateLimit(behaviour.rate_limit_per_s) if behaviour.rate_limit_per_s else None
        self._plan = behaviour.fault_plan()
        self.slots = Slots(behaviour.slots, behaviour.queue_limit) if behaviour.slots else None

    @property
    def faults_left(self) -> int:
        return self._plan.left

    def forget(self) -> None:
        """Starts the plan of faults anew."""
        self._plan = self._behaviour.fault_plan()

    def let_in(self, request: HttpRequest) -> None:
        """Checks the key, the rate limit and the queue."""
        behaviour = self._behaviour
        if behaviour.api_key is not None and not self.is_known(request):
            raise Refusal(401, "unauthorised", WRONG_KEY, code="invalid_api_key")
        given = behaviour.retry_after_s
        wait_s = self._limit.wait_s() if self._limit else 0.0
        if wait_s:
            raise Refusal(
                429,
                "rate_limited",
                f"rate limit reached: {behaviour.rate_limit_per_s:g} requests per second",
                kind="rate_limit_error",
                code="rate_limit_exceeded",
                retry_after_s=wait_s if given is None else given,
            )
        if self.slots is not None and self.slots.full:
            text = f"all {behaviour.slots} slots are busy and the queue is full"
            retry_s = RETRY_AFTER_S if given is None else given
            raise Refusal(503, "overloaded", text, kind="server_error", code="overloaded", retry_after_s=retry_s)

    def overridden(self, request: HttpRequest, settings: Mapping[str, object]) -> Behaviour:
        """The behaviour for one request, by its header and ``settings``, which win."""
        header = request.headers.get("x-dyno-behaviour", "")
        if not header and not settings:
            return self._behaviour
        try:
            return self._behaviour.overridden({**parse_settings(header), **settings})
        except SpecError as error:
            raise Refusal(400, "refused", error.message) from None

    def planned(self, behaviour: Behaviour) -> Fault | None:
        """What is to go wrong with this request, which is let in."""
        return fault_named(behaviour.fault) if behaviour.fault else self._plan.next()

    def check(self, chat: ReceivedChat, behaviour: Behaviour) -> None:
        """Checks the model's name and the prompt's length."""
        models = behaviour.models
        if models is not None and chat.model not in models and reported_model(chat.model) not in models:
            raise Refusal(404, "not_found", f"model {chat.model!r} not found", code="model_not_found")
        limit = behaviour.context_limit
        if limit is not None and chat.input_tokens > limit:
            text = f"the prompt has {chat.input_tokens} tokens; the maximum context length is {limit} tokens"
            raise Refusal(400, "context", text, code="context_length_exceeded")

    def is_known(self, request: HttpRequest) -> bool:
        return request.headers.get("authorization", "") == f"Bearer {self._behaviour.api_key}"


def refuse_by_fault(fault: Fault | None, behaviour: Behaviour) -> None:
    """Raises what a fault that is a whole response stands for."""
    if fault is Fault.ERROR:
        outcome = "rate_limited" if behaviour.error_status == 429 else "error"
        retry_after_s = behaviour.retry_after_s
        raise Refusal(behaviour.error_status, outcome, FAULT_MESSAGE, "server_error", retry_after_s=retry_after_s)
    if fault is Fault.RATE_LIMITED:
        retry_after_s = RETRY_AFTER_S if behaviour.retry_after_s is None else behaviour.retry_after_s
        raise Refusal(429, "rate_limited", FAULT_MESSAGE, "rate_limit_error", "rate_limit_exceeded", retry_after_s)
