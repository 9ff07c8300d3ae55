"""Calls of agents as plain values, and the executor that makes them where a station is: it judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case, Response
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.plan import Trial
from agentdyno.model.sample import Failure, FailureKind, Status
from agentdyno.runner.cases.call import CaseCall, CaseJob, CaseJudgement, Priced
from agentdyno.runner.executor import TrialStep
from agentdyno.runner.executors.cases import CaseExecutor

Redact = Callable[[object], object]


class CallExecutor(CaseExecutor):
    """Calls agents and hands on what came of it. ``wait_item`` in place of ``wait``.

    What warm-up calls answered goes out with the next item: whoever knows prices works out what they cost.
    """

    def __init__(self, *given: Any, redact: Redact, **more: Any) -> None:
        super().__init__(*given, **more)
        self._redact = redact
        self.warmed: list[tuple[str, Response, float | None]] = []

    async def _finish(self, call: CaseCall, job: CaseJob, case: Case) -> None:  # noqa: ARG002
        self._finished.put(call)  # type: ignore[arg-type]

    def wait(self) -> TrialStep:
        raise NotImplementedError("a station's calls have no samples: wait_item")

    def wait_item(self) -> dict[str, object]:
        """The next call as a plain value, without secrets of this machine."""
        call: object = self._finished.get()
        if isinstance(call, BaseException):
            raise call
        assert isinstance(call, CaseCall), "this executor's calls are not judged"
        warmed, self.warmed = self.warmed, []
        item: dict[str, object] = {
            "key": call.trial.key,
            "took_s": call.duration_s,
            "call": self._redact(plain_call(call)),
        }
        if warmed:
            item["warmed"] = [[arm_id, self._redact(to_plain(found)), cpu_s] for arm_id, found, cpu_s in warmed]
        return item


def station_job(
    arm_id: str, job: Callable[..., CaseJob], warmed: Callable[[tuple[str, Response, float | None]], None]
) -> CaseJob:
    """``job(judge=, price=)`` with a judge that is never asked and a price that notes what has to be paid for."""

    async def judge(_case: Case, _response: Response) -> CaseJudgement:
        raise AssertionError("judged by the driver")

    def price(response: Response, cpu_s: float | None) -> Priced:
        warmed((arm_id, response, cpu_s))
        return Priced(0.0, "elsewhere")

    return job(judge=judge, price=price)


def plain_call(call: CaseCall) -> dict[str, object]:
    fatal = None
    if call.fatal is not None:
        fatal = {"message": call.fatal.message, "remedy": getattr(call.fatal, "remedy", "") or ""}
    plain: dict[str, object] = {
        "started_at_ms": call.started_at_ms,
        "duration_s": call.duration_s,
        "status": call.status.value,
        "response": to_plain(call.response),
    }
    if call.failure is not None:
        plain["failure"] = to_plain(call.failure)
    if call.attempts:
        plain["attempts"] = to_plain(call.attempts)
    if fatal is not None:
        plain["fatal"] = fatal
    return plain


def call_in(plain: Mapping[str, Any], trial: Trial) -> CaseCall:
    """The call of ``trial`` that a station tells of."""
    response, failure, fatal = plain.get("response"), plain.get("failure"), plain.get("fatal")
    return CaseCall(
        trial,
        int(plain["started_at_ms"]),
        None if response is None else from_plain(Response, response),
        plain.get("duration_s"),
        None,
        Status(plain["status"]),
        None if failure is None else from_plain(Failure, failure),
        list(plain.get("attempts", ())),
        None
        if fatal is None
        else CaseFailed(FailureKind.EXCEPTION, str(fatal["message"]), fatal=True, remedy=str(fatal["remedy"])),
    )
