from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import agentdyno
from agentdyno.agents.hosting.agent import HostedAgent, HostLimits
from agentdyno.contracts import CaseFailed
from agentdyno.errors import DynoError, PluginError, SpecError
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.sample import FailureKind, Status
from agentdyno.model.suite import AgentUse
from tests.agents.place import VARIABLE, WAIT_S, Place, exists, failed, output
from tests.runner.building import is_running

HELPERS = """
import os, signal, sys, threading

def wait():
    threading.Event().wait()

def sockets():
    links = {int(fd): os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 2
             and os.path.islink(f"/proc/self/fd/{fd}")}
    return [fd for fd, link in links.items() if link.startswith("socket")]

def started(path):
    open(path, "w").close()
"""
OK = "\ndef answer(text):\n    return os.getpid() if text == 'pid' else f'fine: {text}'\n"


def hosted(place: Place, text: str, name: str = "answer", **options: object) -> HostedAgent:
    config = options.pop("config", {})
    assert isinstance(config, dict)
    limits = HostLimits(**options)  # type: ignore[arg-type]
    place.write("subject.py", HELPERS + text)
    use = AgentUse("subject", f"subject.py@{name}", config=config, base_dir=str(place.folder))
    return HostedAgent(use, limits=limits, environ=place.environ)


def using(agent: HostedAgent, work: Callable[[HostedAgent], Awaitable[object]]) -> object:
    async def whole() -> object:
        await agent.start()
        try:
            return await work(agent)
        finally:
            await agent.close()

    return asyncio.run(whole())


def answers(agent: HostedAgent, *cases: Case) -> list[Response | CaseFailed]:
    """What becomes of cases that are run one after the other."""
    results: list[Response | CaseFailed] = []

    async def work(agent: HostedAgent) -> None:
        for case in cases:
            try:
                results.append(await agent.run(case))
            except CaseFailed as failed:
                results.append(failed)

    using(agent, work)
    return results


def case(text: object, **fields: object) -> Case:
    return Case("c", text, **fields)  # type: ignore[arg-type]


class TestAnswers:
    def test_one_process_answers_case_after_case(self, place: Place) -> None:
        results = answers(hosted(place, OK), case("a"), case("pid"), case("pid"))
        assert output(results[0]) == "fine: a"
        assert output(results[1]) == output(results[2]) != os.getpid()

    def test_readings_tell_time_cpu_and_memory_of_the_case(self, place: Place) -> None:
        text = "\ndef answer(size):\n    data = bytearray(size)\n    return len(data)\n"
        big, small = answers(hosted(place, text), case(100 << 20), case(1))
        assert isinstance(big, Response)
        assert isinstance(small, Response)
        assert big.readings["peak_rss_bytes"] - small.readings["peak_rss_bytes"] > 80 << 20
        assert big.readings["cpu_s"] > 0
        assert min(big.readings["duration_s"], small.readings["duration_s"]) > 0

    def test_children_that_have_ended_count_as_cpu_time(self, place: Place) -> None:
        burn = "import time\nwhile time.process_time() < 0.3: pass"
        text = f"\nimport subprocess\ndef answer(text):\n    subprocess.run([sys.executable, '-c', {burn!r}])\n"
        (result,) = answers(hosted(place, text), case("x"))
        assert isinstance(result, Response)
        assert result.readings["cpu_s"] >= 0.3

    def test_what_reached_storage_counts_with_that_of_children(self, place: Place) -> None:
        text = """
import os, resource, subprocess, sys
WRITE = "import os; file = open('data', 'wb'); file.write(os.urandom(1 << 20)); file.flush(); os.fsync(file.fileno())"
def answer(text):
    if text == "wait":
        return 0
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    before = sum(resource.getrusage(one).ru_oublock for one in who)
    exec(WRITE)
    subprocess.run([sys.executable, "-c", WRITE], check=True)
    return 512 * (sum(resource.getrusage(one).ru_oublock for one in who) - before)
"""
        worked, waited = answers(hosted(place, text), case("write"), case("wait"))
        assert isinstance(worked, Response)
        assert isinstance(waited, Response)
        # A folder in memory has no storage behind it: then neither has anything to tell.
        assert isinstance(worked.output, int)
        assert worked.readings.get("write_bytes", 0.0) >= worked.output
        assert waited.readings.get("write_bytes", 0.0) == 0.0

    def test_everything_of_a_response_arrives(self, place: Place) -> None:
        text = """
from agentdyno.agents.hosting.recorder import current, tool_call
async def answer(text):
    with tool_call("search", {"q": text}) as found:
        found.append([1])
    return {"output": {"é": [1, None]}, "usage": {"input_tokens": 2, "output_tokens": 3}, "model": "m"}
"""
        (result,) = answers(hosted(place, text), case("x"))
        assert isinstance(result, Response)
        assert result.output == {"é": [1, None]}
        assert (result.usage, result.model) == (Usage(2, 3), "m")
        assert [event.kind for event in result.events] == ["tool_call", "tool_result"]

    def test_async_agents_keep_one_event_loop(self, place: Place) -> None:
        text = "\nimport asyncio\nasync def answer(text):\n    return id(asyncio.get_running_loop())\n"
        first, second = answers(hosted(place, text), case("x"), case("x"))
        assert output(first) == output(second)

    def test_classes_are_built_with_their_configuration_once(self, place: Place) -> None:
        text = """
class Answer:
    def __init__(self, start: int):
        self.count = start
    async def run(self, case):
        self.count += 1
        return [case.id, case.target, self.count]
"""
        agent = hosted(place, text, "Answer", config={"start": 5})
        results = answers(agent, case("x", target="t"), case("x"))
        assert [output(result) for result in results] == [["c", "t", 6], ["c", None, 7]]

    def test_turns_are_calls_in_one_process(self, place: Place) -> None:
        text = "\ndef answer(text, history):\n    return [text, len(history)]\n"
        (result,) = answers(hosted(place, text), case("a", turns=("a", "b")))
        assert output(result) == ["b", 2]

    def test_cases_run_in_parallel_up_to_the_number_of_workers(self, place: Place) -> None:
        text = """
import time
def answer(text):
    started(f"{text}.started")
    while len([name for name in os.listdir() if name.endswith(".started")]) < 3:
        time.sleep(0.001)
    return os.getpid()
"""

        async def work(agent: HostedAgent) -> list[Response]:
            return list(await asyncio.gather(*(agent.run(case(str(index))) for index in range(3))))

        results = using(hosted(place, text, workers=3), work)
        assert isinstance(results, list)
        assert len({result.output for result in results}) == 3

    def test_no_more_processes_than_workers_are_started(self, place: Place) -> None:
        async def work(agent: HostedAgent) -> set[object]:
            return {result.output for result in await asyncio.gather(*(agent.run(case("pid")) for _ in range(20)))}

        pids = using(hosted(place, OK, workers=2), work)
        assert isinstance(pids, set)
        assert 1 <= len(pids) <= 2

    def test_modules_beside_the_file_and_relative_paths_work(self, place: Place) -> None:
        place.write("beside.py", "WORD = 'beside'")
        place.write("data.txt", "data")
        place.write("json.py", "raise SystemExit('the current folder must not be imported from at start')")
        text = "\nimport beside\ndef answer(text):\n    return beside.WORD + open('data.txt').read()\n"
        assert output(answers(hosted(place, text), case("x"))[0]) == "besidedata"

    def test_a_module_is_found_from_the_base_folder(self, place: Place) -> None:
        (place.folder / "pack").mkdir()
        place.write("pack/__init__.py", "")
        place.write("pack/agents.py", "class Group:\n    @staticmethod\n    def answer(text):\n        return text\n")
        use = AgentUse("subject", "pack.agents:Group.answer", base_dir=str(place.folder))
        assert output(answers(HostedAgent(use, environ=place.environ), case("x"))[0]) == "x"

    def test_start_and_close_of_an_object_are_called_in_its_process(self, place: Place) -> None:
        text = """
class Answer:
    async def start(self):
        self.loop = __import__("asyncio").get_running_loop()
    async def run(self, case):
        return self.loop is __import__("asyncio").get_running_loop()
    async def close(self):
        started("closed")
"""
        assert output(answers(hosted(place, text, "Answer"), case("x"))[0]) is True
        assert (place.folder / "closed").exists()


MISBEHAVIOUR = {
    "exception": ("raise ValueError('no')", FailureKind.EXCEPTION, Status.ERROR),
    "sys.exit": ("sys.exit(3)", FailureKind.EXIT, Status.ERROR),
    "os._exit": ("os._exit(7)", FailureKind.EXIT, Status.ERROR),
    "exit 0": ("os._exit(0)", FailureKind.EXIT, Status.ERROR),
    "segmentation fault": ("os.kill(os.getpid(), signal.SIGSEGV)", FailureKind.SIGNAL, Status.ERROR),
    "kill -9": ("os.kill(os.getpid(), signal.SIGKILL)", FailureKind.SIGNAL, Status.ERROR),
    "memory": ("bytearray(4 << 30)", FailureKind.MEMORY, Status.LIMIT),
    "flood of stdout": ("while True: os.write(1, b'x' * 65536)", FailureKind.OUTPUT, Status.LIMIT),
    "flood of stderr": ("while True: print('x' * 65536, file=sys.stderr)", FailureKind.OUTPUT, Status.LIMIT),
    "flood, then an answer": ("print('x' * (20 << 20)); return 1", FailureKind.OUTPUT, Status.LIMIT),
    "flood of a child": (
        "\n        if os.fork() == 0:\n            while True: os.write(1, b'x' * 65536)\n        wait()",
        FailureKind.OUTPUT,
        Status.LIMIT,
    ),
    "100 MB": ("return 'x' * (100 << 20)", FailureKind.OUTPUT, Status.LIMIT),
    "100 MB of JSON": ("return ['x' * 100] * (1 << 20)", FailureKind.OUTPUT, Status.LIMIT),
    "no JSON": ("return object()", FailureKind.SERIALISATION, Status.ERROR),
    "garbage on the connection": (
        "[os.write(fd, b'x' * 99) for fd in sockets()]; wait()",
        FailureKind.SERIALISATION,
        Status.ERROR,
    ),
    "closed connection": ("os.closerange(3, 64); wait()", FailureKind.EXIT, Status.ERROR),
    "child that holds the connection": (
        "\n        if os.fork() == 0: wait()\n        os._exit(5)",
        FailureKind.EXIT,
        Status.ERROR,
    ),
}


@pytest.mark.parametrize("kind", MISBEHAVIOUR)
def test_misbehaviour_costs_one_case_and_disturbs_no_other(place: Place, kind: str) -> None:
    line, expected, status = MISBEHAVIOUR[kind]
    text = f"\ndef answer(text):\n    if text == 'bad':\n        {line}\n    return 'fine'\n"
    agent = hosted(place, text, memory_bytes=1 << 30 if kind == "memory" else None)
    results = answers(agent, case("good"), case("bad"), case("good"), case("bad"))
    assert [output(results[0]), output(results[2])] == ["fine", "fine"]
    assert failed(results[1]) == failed(results[3]) == (expected, status)


def test_a_forked_child_that_returns_does_not_answer_in_its_parents_place(place: Place) -> None:
    text = "\ndef answer(text):\n    pid = os.fork()\n    return 'child' if pid == 0 else 'parent'\n"
    results = answers(hosted(place, text), *[case("x")] * 5)
    assert [output(result) for result in results] == ["parent"] * 5


def test_invalid_utf8_in_answer_and_output_is_repaired(place: Place) -> None:
    text = r"""
def answer(text):
    os.write(1, b"caf\xe9\n")
    if text == "raise":
        raise ValueError("caf\udce9")
    return "caf\udce9"
"""
    fine, bad = answers(hosted(place, text), case("x"), case("raise"))
    assert isinstance(fine, Response)
    assert str(fine.output).startswith("caf\ufffd")
    assert fine.observed == {"invalid_utf8": True}
    assert isinstance(bad, CaseFailed)
    assert bad.output_tail == "caf\ufffd"


def test_a_failure_tells_traceback_and_what_was_printed(place: Place) -> None:
    text = "\ndef inner():\n    raise KeyError('k')\ndef answer(text):\n    print('before')\n    inner()\n"
    (bad,) = answers(hosted(place, text), case("x"))
    assert isinstance(bad, CaseFailed)
    assert (bad.message, bad.output_tail) == ("KeyError: 'k'", "before")
    assert bad.traceback is not None
    assert bad.traceback.count("File ") == 2
    assert "subject.py" in bad.traceback
    assert bad.response is not None
    assert "cpu_s" in bad.response.readings


LOOPS = {
    "endless loop": "while True: pass",
    "waits for ever": "wait()",
    "ignores signals": "for n in range(1, 65):\n            try: signal.signal(n, signal.SIG_IGN)\n"
    "            except (OSError, ValueError): pass\n        wait()",
    "swallows everything": "while True:\n            try: wait()\n            except BaseException: pass",
    "forks children": "for _ in range(20):\n            if os.fork() == 0: wait()\n        wait()",
    "forks children of their own sessions": "for _ in range(10):\n            if os.fork() == 0:\n"
    "                os.setsid()\n                os.fork()\n                wait()\n        wait()",
    "starts programs": "import subprocess\n        for _ in range(3): subprocess.Popen(['sleep', '1000'],"
    " start_new_session=True)\n        wait()",
}


@pytest.mark.parametrize("kind", LOOPS)
def test_cancelling_ends_the_process_and_all_that_it_started(place: Place, kind: str) -> None:
    bad = f"        started('running')\n        {LOOPS[kind]}\n"
    text = f"\ndef answer(text):\n    if text == 'bad':\n{bad}    return 'fine'\n"

    async def work(agent: HostedAgent) -> object:
        for _ in range(2):
            running = asyncio.ensure_future(agent.run(case("bad")))
            await exists(place.folder / "running")
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert place.processes() == []
            (place.folder / "running").unlink()
        return (await agent.run(case("good"))).output

    assert using(hosted(place, text), work) == "fine"


def test_others_go_on_while_one_loops_for_ever(place: Place) -> None:
    text = "\ndef answer(text):\n    while text == 'bad': pass\n    return text\n"

    async def work(agent: HostedAgent) -> object:
        stuck = asyncio.ensure_future(agent.run(case("bad")))
        good = [(await agent.run(case(str(index)))).output for index in range(5)]
        stuck.cancel()
        await asyncio.wait({stuck})
        return good

    assert using(hosted(place, text, workers=2), work) == ["0", "1", "2", "3", "4"]


def test_children_left_by_a_finished_case_are_ended_at_the_close(place: Place) -> None:
    text = "\ndef answer(text):\n    if os.fork() == 0:\n        os.setsid()\n        wait()\n    return 'fine'\n"
    results = answers(hosted(place, text), case("a"), case("b"))
    assert [output(result) for result in results] == ["fine", "fine"]


def test_a_process_that_dies_between_cases_is_replaced(place: Place) -> None:
    text = (
        "\ndef die():\n    open('gate').read()\n    os._exit(1)\n"
        "def answer(text):\n    if not os.path.exists('gate'):\n        os.mkfifo('gate')\n"
        "        threading.Thread(target=die, daemon=True).start()\n    return os.getpid()\n"
    )

    async def work(agent: HostedAgent) -> bool:
        first = (await agent.run(case("x"))).output
        assert isinstance(first, int)
        ended = os.pidfd_open(first)
        await asyncio.to_thread((place.folder / "gate").write_text, "go")
        await asyncio.to_thread(select.select, [ended], [], [], WAIT_S)
        os.close(ended)
        return (await agent.run(case("x"))).output != first

    assert using(hosted(place, text), work) is True


@pytest.mark.parametrize(
    ("text", "name", "error", "message"),
    [
        ("def answer(:\n", "answer", PluginError, "SyntaxError"),
        ("import no_such_module\n", "answer", PluginError, "Install no_such_module"),
        ("def answer(text): pass\n", "anwser", PluginError, "Did you mean answer?"),
        ("answer = 5\n", "answer", PluginError, "cannot answer a case"),
        ("import os\nos._exit(4)\n", "answer", PluginError, "ended its process with status 4 while loading"),
        ("raise RuntimeError('not today')\n", "answer", PluginError, "RuntimeError: not today"),
        ("import sys\nsys.exit(1)\n", "answer", PluginError, "SystemExit: 1"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)\n", "answer", PluginError, "printed more than 16 MiB"),
        ("class Answer:\n    def __init__(self, k): pass\n", "Answer", SpecError, "needs 'k'"),
    ],
)
def test_what_cannot_be_loaded_is_refused_at_the_start(
    place: Place, text: str, name: str, error: type[DynoError], message: str
) -> None:
    place.write("subject.py", text)
    agent = HostedAgent(AgentUse("subject", f"subject.py@{name}", base_dir=str(place.folder)), environ=place.environ)

    async def whole() -> None:
        try:
            await agent.start()
        finally:
            await agent.close()

    with pytest.raises(error) as caught:
        asyncio.run(whole())
    assert message in str(caught.value)


def test_loading_has_a_time_limit(place: Place) -> None:
    agent = hosted(place, "\nwait()\n", load_s=0.3)
    with pytest.raises(PluginError, match=r"takes longer than 0\.3 s to load"):
        using(agent, lambda agent: agent.run(case("x")))


def test_a_file_that_does_not_exist_is_refused_at_once(place: Place) -> None:
    place.write("agent.py", "")
    with pytest.raises(PluginError, match=r"Did you mean agent\.py"):
        HostedAgent(AgentUse("a", "agnt.py@x", base_dir=str(place.folder)))


def test_loading_goes_on_when_the_case_that_waited_for_it_is_cancelled(place: Place) -> None:
    text = (
        OK
        + "\nif os.path.exists('fatal'):\n    os.unlink('fatal')\n    started('loading')\n    open('gate').read()\n"
    )

    async def work(agent: HostedAgent) -> object:
        os.mkfifo(place.folder / "gate")
        place.write("fatal", "")
        busy = asyncio.ensure_future(agent.run(case("pid")))
        waiting = asyncio.ensure_future(agent.run(case("a")))
        await exists(place.folder / "loading")
        waiting.cancel()
        await asyncio.wait({waiting})
        await busy
        await asyncio.to_thread((place.folder / "gate").write_text, "go")
        return (await asyncio.gather(agent.run(case("a")), agent.run(case("b"))))[1].output

    assert using(hosted(place, text, workers=2), work) == "fine: b"


def test_closing_while_a_case_runs_leaves_nothing(place: Place) -> None:
    text = "\ndef answer(text):\n    started('running')\n    wait()\n"
    agent = hosted(place, text)

    async def whole() -> None:
        await agent.start()
        running = asyncio.ensure_future(agent.run(case("x")))
        await exists(place.folder / "running")
        running.cancel()
        await agent.close()
        await asyncio.wait({running})

    asyncio.run(whole())


def test_an_owner_that_is_killed_takes_its_processes_along(place: Place) -> None:
    place.write(
        "subject.py", HELPERS + "\ndef answer(text):\n    print(os.getpid())\n    started('running')\n    wait()\n"
    )
    program = """
import asyncio, sys
from agentdyno.agents.hosting.agent import HostedAgent
from agentdyno.model.case import Case
from agentdyno.model.suite import AgentUse
asyncio.run(HostedAgent(AgentUse("a", "subject.py@answer", base_dir=sys.argv[1])).run(Case("c", "x")))
"""
    owner = subprocess.Popen([sys.executable, "-c", program, str(place.folder)], env=dict(place.environ))
    try:
        asyncio.run(exists(place.folder / "running"))
        others = [pid for pid in place.processes() if pid != owner.pid]
        assert len(others) == 1
        ended = os.pidfd_open(others[0])
    finally:
        owner.kill()
        owner.wait()
    assert select.select([ended], [], [], WAIT_S)[0]
    os.close(ended)
    assert not is_running(others[0])


def test_the_environment_is_the_one_given(place: Place) -> None:
    text = f"\ndef answer(text):\n    return [os.environ['{VARIABLE}'], os.environ.get('PYTHONHASHSEED')]\n"
    (result,) = answers(hosted(place, text), case("x"))
    assert output(result) == [place.environ[VARIABLE], place.environ.get("PYTHONHASHSEED", "0")]


def test_the_process_of_an_agent_loads_nothing_outside_the_standard_library() -> None:
    source = str(Path(agentdyno.__file__).parent.parent)
    code = (
        f"import sys; sys.path.insert(0, {source!r}); import agentdyno.agents.hosting.worker;"
        "print(sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) - {'agentdyno'}),"
        "'asyncio' in sys.modules, 'subprocess' in sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['__main__'] False False"
