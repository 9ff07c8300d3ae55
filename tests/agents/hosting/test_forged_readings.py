"""Agents that lie about what they used are measured all the same.

Each of them sleeps or works for a known time, so that there is a least value that is true on any machine.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal

import pytest

from agentdyno.agents.hosting.agent import HostedAgent
from agentdyno.contracts import CaseFailed
from agentdyno.model.case import Case, Response
from agentdyno.model.suite import AgentUse
from agentdyno.workers.clock_check import TOO_MANY
from tests.agents.place import Place

SLEPT_S = 0.3
WORKED_S = 0.3
BASE = """
import asyncio, gc, os, resource, sys, time
from agentdyno import CaseFailed, Response

sleep, work_clock = time.sleep, time.process_time
"""
FROZEN = """
def freeze():
    for name in ("perf_counter", "monotonic", "time", "process_time", "thread_time"):
        setattr(time, name, lambda: 1.0)
        setattr(time, name + "_ns", lambda: 1)
    os.times = lambda: (0.0,) * 5
    asyncio.BaseEventLoop.time = lambda loop: 1.0
"""
SLEEPERS = {
    "its own figure in the response": """
def answer(text):
    sleep(0.3)
    return Response("yes", readings={"duration_s": 1e-6, "cpu_s": 0.0, "peak_rss_bytes": 1.0, "server.eval_s": 9.0})
""",
    "its own figure in a dict": """
def answer(text):
    sleep(0.3)
    return {"output": "yes", "readings": {"duration_s": 1e-6, "cpu_s": 0.0, "peak_rss_bytes": 1.0}}
""",
    "its own figure in the recorder": """
from agentdyno.agents.hosting.recorder import current
def answer(text):
    sleep(0.3)
    for kept in (current().readings, current().measured):
        kept.update({"duration_s": 1e-6, "cpu_s": 0.0, "peak_rss_bytes": 1.0})
    return "yes"
""",
    "clocks replaced while it answers": FROZEN
    + """
def answer(text):
    sleep(0.3)
    freeze()
    return "yes"
""",
    "clocks replaced when it is loaded": FROZEN
    + """
freeze()
def answer(text):
    sleep(0.3)
    return "yes"
""",
    "clocks replaced in our own modules": """
def answer(text):
    sleep(0.3)
    for name, module in list(sys.modules.items()):
        if name.startswith("agentdyno"):
            for clock in ("perf_counter", "perf_counter_ns", "monotonic", "start_metering"):
                if hasattr(module, clock):
                    setattr(module, clock, lambda: 1.0)
    return "yes"
""",
    "an async agent that replaces the clock of its loop": FROZEN
    + """
async def answer(text):
    await asyncio.to_thread(sleep, 0.3)
    freeze()
    asyncio.get_running_loop().time = lambda: 1.0
    return "yes"
""",
    "our own meter found and replaced": """
for item in gc.get_objects():
    if type(item).__name__ == "_Work" and hasattr(item, "_metering"):
        item._metering = lambda *_: lambda: {"duration_s": 1e-6, "cpu_s": 0.0, "peak_rss_bytes": 1.0}
def answer(text):
    sleep(0.3)
    return "yes"
""",
}


def asked(place: Place, text: str, times: int = 1) -> Response:
    """The answer to the last of so many questions."""
    place.write("subject.py", BASE + text)
    agent = HostedAgent(AgentUse("subject", "subject.py@answer", base_dir=str(place.folder)), environ=place.environ)

    async def whole() -> Response:
        await agent.start()
        try:
            return [await agent.run(Case("a", "x")) for _ in range(times)][-1]
        except CaseFailed as failed:
            return failed.response or Response()
        finally:
            await agent.close()

    return asyncio.run(whole())


@pytest.mark.parametrize("text", SLEEPERS.values(), ids=SLEEPERS.keys())
def test_time_is_measured_truthfully_whatever_the_agent_does_to_look_fast(place: Place, text: str) -> None:
    response = asked(place, text)
    assert response.output == "yes"
    assert response.readings["duration_s"] >= SLEPT_S / 2  # less the way there and back, long on a busy machine


def test_a_lie_of_milliseconds_is_found_when_it_is_told_again(place: Place) -> None:
    text = SLEEPERS["our own meter found and replaced"].replace("sleep(0.3)", "sleep(0.009)")
    assert asked(place, text, times=TOO_MANY).readings["duration_s"] > 1e-4


def test_a_lie_is_found_whose_process_ends_after_every_answer(place: Place) -> None:
    lying = SLEEPERS["our own meter found and replaced"].replace("sleep(0.3)", "sleep(0.15)")
    place.write("subject.py", BASE + lying.replace('return "yes"', "return os.getpid()"))
    agent = HostedAgent(AgentUse("subject", "subject.py@answer", base_dir=str(place.folder)), environ=place.environ)

    async def whole() -> Response:
        await agent.start()
        try:
            for _ in range(TOO_MANY - 1):
                await ended(await agent.run(Case("a", "x")))
            return await agent.run(Case("a", "x"))
        finally:
            await agent.close()

    assert asyncio.run(whole()).readings["duration_s"] > 1e-4


async def ended(response: Response) -> None:
    """Ends the process that answered with its number, and lets its owner see that."""
    assert isinstance(response.output, int)
    process = os.pidfd_open(response.output)
    os.kill(response.output, signal.SIGKILL)
    select.select([process], [], [])
    os.close(process)
    for _ in range(3):
        await asyncio.sleep(0)


def test_what_an_agent_says_of_itself_is_kept_as_reported(place: Place) -> None:
    readings = asked(place, SLEEPERS["its own figure in the response"]).readings
    assert readings["reported.duration_s"] == 1e-6
    assert readings["reported.peak_rss_bytes"] == 1.0
    assert readings["peak_rss_bytes"] > 1.0
    assert readings["reported.server.eval_s"] == 9.0
    assert "server.eval_s" not in readings


def test_a_meter_that_was_replaced_is_what_the_process_reports(place: Place) -> None:
    assert asked(place, SLEEPERS["our own meter found and replaced"]).readings["reported.duration_s"] == 1e-6


@pytest.mark.parametrize(
    "lie",
    [
        "resource.getrusage = lambda who: type('none', (), {'ru_utime': 0.0, 'ru_stime': 0.0})",
        "[setattr(item, '_metering', lambda *_: lambda: {'duration_s': 1e-6, 'cpu_s': 0.0})"
        " for item in gc.get_objects() if type(item).__name__ == '_Work']",
    ],
    ids=["getrusage replaced", "our own meter found and replaced"],
)
def test_cpu_time_is_measured_truthfully(place: Place, lie: str) -> None:
    text = f"""
{lie}
def answer(text):
    until = work_clock() + 0.3
    while work_clock() < until:
        pass
    return "yes"
"""
    assert asked(place, text).readings["cpu_s"] >= WORKED_S


def test_a_failure_that_brings_its_own_figures_is_measured_too(place: Place) -> None:
    text = """
def answer(text):
    sleep(0.3)
    raise CaseFailed("exception", "no", response=Response("so far", readings={"duration_s": 1e-6}))
"""
    response = asked(place, text.replace('"exception"', "__import__('agentdyno.model').model.FailureKind.EXCEPTION"))
    assert response.output == "so far"
    assert response.readings["duration_s"] >= SLEPT_S / 2  # less the way there and back, long on a busy machine
    assert response.readings["reported.duration_s"] == 1e-6


def test_numbers_that_the_bench_has_no_name_for_keep_theirs(place: Place) -> None:
    text = "def answer(text):\n    return Response('yes', readings={'steps': 7.0, 'reported.steps': 8.0})\n"
    readings = asked(place, text).readings
    assert (readings["steps"], readings["reported.steps"]) == (7.0, 8.0)
