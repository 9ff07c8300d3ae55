"""Programs that stay and answer case after case in lines of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

import pytest

from agentdyno.agents.foreign import process
from agentdyno.agents.foreign.agent import ForeignAgent, ProgramLimits, ProgramSetting, ProgramUse
from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.sample import FailureKind, Status
from tests.agents.place import VARIABLE, WAIT_S, Place, answers, exists, failed, output, using

PYTHON = (sys.executable, "-S", "-u", "-c")
ON_3_AND_4 = """
import json, os, signal, sys, threading
lines, back = os.fdopen(3), os.fdopen(4, "w", buffering=1)
"""
ON_0_AND_1 = """
import json, os, signal, sys, threading
lines, back = sys.stdin, sys.stdout
"""
LOOP = """
def say(number, **message):
    back.write(json.dumps({**message, "id": number}) + "\\n")
    back.flush()
def wait():
    threading.Event().wait()
greeting = {"protocol": 1, **GREETING}
for line in lines:
    message = json.loads(line)
    if "hello" in message:
        config = message["hello"]["config"]
        back.write(json.dumps({"ok": greeting}) + "\\n")
        back.flush()
    elif "run" in message:
        case, number = message["run"], message["id"]
        text = case["input"]
        answer(case, number, text)
    else:
        break
"""


def program(
    place: Place,
    body: str,
    *,
    channel: str = ON_3_AND_4,
    greeting: Mapping[str, Any] | None = None,
    config: Mapping[str, object] | None = None,
    limits: ProgramLimits | None = None,
) -> ForeignAgent:
    """An agent whose ``answer(case, number, text)`` has this body."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    loop = LOOP.replace("GREETING", repr(dict(greeting or {})))
    text = f"{channel}\ndef answer(case, number, text):\n{indented}{loop}"
    return bare(place, *PYTHON, text, config=config, limits=limits)


def bare(
    place: Place, *argv: str, config: Mapping[str, object] | None = None, limits: ProgramLimits | None = None
) -> ForeignAgent:
    setting = ProgramSetting(str(place.folder), (VARIABLE,), place.environ)
    return ForeignAgent("subject", argv, config=config, setting=setting, limits=limits)


def ask(agent: ForeignAgent, value: object = "hi") -> Response:
    (result,) = answers(agent, Case("c", value))
    assert isinstance(result, Response), result
    return result


ECHO = 'say(number, ok={"output": text})'


class TestChannels:
    @pytest.mark.parametrize("channel", [ON_3_AND_4, ON_0_AND_1])
    def test_a_program_is_asked_on_the_channel_on_which_it_greets(self, place: Place, channel: str) -> None:
        agent = program(place, ECHO, channel=channel)
        assert [output(item) for item in answers(agent, Case("a", "one"), Case("b", "two"))] == ["one", "two"]

    @pytest.mark.parametrize("channel", [ON_3_AND_4, ON_0_AND_1])
    def test_what_it_prints_does_not_disturb_its_answers(self, place: Place, channel: str) -> None:
        body = 'print("loading {")\nprint(\'{"loss": 3}\', flush=True)\nprint("oh", file=sys.stderr)\n' + ECHO
        assert ask(program(place, body, channel=channel)).output == "hi"

    def test_one_process_answers_all_cases_that_follow_each_other(self, place: Place) -> None:
        agent = program(place, 'say(number, ok={"output": os.getpid()})')
        results = answers(agent, *(Case(str(number), "x") for number in range(5)))
        assert len({output(item) for item in results}) == 1

    def test_an_id_may_be_left_out_with_one_case_at_a_time(self, place: Place) -> None:
        body = 'back.write(json.dumps({"ok": {"output": text}}) + "\\n")\nback.flush()'
        assert ask(program(place, body)).output == "hi"


class TestCases:
    @pytest.mark.parametrize("value", ["a\nb\u2028c\r\nd", "ß€😀\0", {"é": [1, None, 2.5]}, "x" * 3_000_000, ""])
    def test_inputs_arrive_as_they_are(self, place: Place, value: object) -> None:
        assert ask(program(place, ECHO), value).output == value

    def test_what_a_case_is_judged_by_is_not_told(self, place: Place) -> None:
        agent = program(place, 'say(number, ok={"output": case})')
        case = Case("c", "q", target="secret", metadata={"answer": "secret"}, turns=("q", "r"))
        (result,) = answers(agent, case)
        assert output(result) == {"id": "c", "input": "q", "turns": ["q", "r"]}

    def test_the_configuration_comes_with_hello(self, place: Place) -> None:
        agent = program(place, 'say(number, ok={"output": config})', config={"depth": 3})
        assert ask(agent).output == {"depth": 3}

    def test_only_named_variables_are_seen(self, place: Place) -> None:
        agent = program(place, 'say(number, ok={"output": sorted(os.environ)})')
        seen = ask(agent).output
        assert isinstance(seen, list)
        assert VARIABLE in seen
        assert "DYNO_PROTOCOL" in seen
        assert not set(seen) & {"PYTEST_CURRENT_TEST", "PYTHONPATH"}


class TestAnswers:
    def test_chunks_make_up_the_output_and_are_stamped_here(self, place: Place) -> None:
        body = (
            'say(number, chunk="Hel")\nsay(number, chunk="lo")\nsay(number, ok={"usage": {"completion_tokens": 2}})'
        )
        response = ask(program(place, body))
        assert response.output == "Hello"
        assert response.usage == Usage(output_tokens=2)
        readings = response.readings
        assert 0 < readings["ttft_s"] <= readings["duration_s"]
        assert readings["itl_s"] >= 0
        assert readings["peak_rss_bytes"] > 0
        assert readings["cpu_s"] >= 0

    def test_what_it_writes_to_storage_is_counted(self, place: Place) -> None:
        body = (
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_oublock\n"
            'with open("blob", "wb") as file:\n    file.write(bytes(1 << 20))\n    file.flush()\n'
            "    os.fsync(file.fileno())\n"
            "say(number, ok={'output': 512 * (resource.getrusage(resource.RUSAGE_SELF).ru_oublock - before)})"
        )
        response = ask(program(place, "import os, resource\n" + body))
        # A folder in memory has no storage behind it: then there is nothing to tell.
        assert response.readings.get("write_bytes", 0.0) >= float(str(response.output))

    def test_an_output_of_its_own_stands_for_what_was_streamed(self, place: Place) -> None:
        assert ask(program(place, 'say(number, chunk="a")\nsay(number, ok={"output": [1]})')).output == [1]

    def test_what_it_says_of_itself_is_kept_as_reported(self, place: Place) -> None:
        body = 'say(number, ok={"output": 1, "readings": {"duration_s": 1e-9, "ttft_s": 0.0, "mine": 4}})'
        readings = ask(program(place, body)).readings
        assert readings["duration_s"] > 1e-9
        assert readings["reported.duration_s"] == 1e-9
        assert "ttft_s" not in readings
        assert {"reported.ttft_s": 0.0, "mine": 4}.items() <= readings.items()

    def test_an_error_is_its_own(self, place: Place) -> None:
        body = 'say(number, error={"message": "no such row", "type": "KeyError"})'
        (result,) = answers(program(place, body), Case("c", "x"))
        assert failed(result) == (FailureKind.EXCEPTION, Status.ERROR)
        assert str(result) == "KeyError: no such row"

    def test_an_error_may_be_worth_another_try(self, place: Place) -> None:
        body = 'say(number, error={"message": "busy", "retryable": True})'
        (result,) = answers(program(place, body), Case("c", "x"))
        assert isinstance(result, CaseFailed)
        assert result.retryable

    @pytest.mark.parametrize(
        ("told", "part"),
        [
            ('{"usage": {"input_tokens": 1}}', "no output, and nothing was streamed"),
            ('{"output": 1, "usage": 3}', "no response: "),
            ('{"output": 1, "cost": -3}', "no amount of dollars"),
            ('{"output": 1, "unknown": 3}', "unknown"),
        ],
    )
    def test_an_answer_of_another_form_fails_the_case_alone(self, place: Place, told: str, part: str) -> None:
        body = f'say(number, ok={told} if text == "bad" else {{"output": text}})'
        bad, good = answers(program(place, body), Case("a", "bad"), Case("b", "good"))
        assert failed(bad) == (FailureKind.SERIALISATION, Status.ERROR)
        assert part in str(bad)
        assert output(good) == "good"

    def test_lines_of_no_case_are_passed_over(self, place: Place) -> None:
        body = 'say(99, ok={"output": "of another"})\nsay(number, ok={"output": text})\nsay(number, ok={"output": 2})'
        assert [output(item) for item in answers(program(place, body), Case("a", "1"), Case("b", "2"))] == ["1", "2"]


class TestSeveralInFlight:
    BODY = """
waiting.append((number, text))
if len(waiting) == 3:
    for number, text in reversed(waiting):
        say(number, chunk=text)
    for number, text in waiting:
        say(number, ok={})
"""

    def test_as_many_as_it_says_are_in_one_process_and_answers_go_to_their_cases(self, place: Place) -> None:
        agent = program(
            place,
            self.BODY,
            channel=f"{ON_3_AND_4}\nwaiting = []",
            greeting={"in_flight": 3},
            limits=ProgramLimits(programs=8),
        )

        async def work(agent: ForeignAgent) -> list[Response]:
            return await asyncio.gather(*(agent.run(Case(str(number), f"n{number}")) for number in range(3)))

        responses = using(agent, work)
        assert isinstance(responses, list)
        assert [item.output for item in responses] == ["n0", "n1", "n2"]
        assert not any("cpu_s" in item.readings for item in responses)

    def test_others_get_a_process_each(self, place: Place) -> None:
        body = """
open(f"{os.getpid()}.here", "w").close()
import glob, time
while len(glob.glob("*.here")) < 2:
    time.sleep(0.001)
say(number, ok={"output": os.getpid()})
"""
        agent = program(place, body, limits=ProgramLimits(programs=2))

        async def work(agent: ForeignAgent) -> tuple[Response, Response]:
            return await asyncio.gather(agent.run(Case("a", "x")), agent.run(Case("b", "x")))

        responses = using(agent, work)
        assert isinstance(responses, tuple | list)
        assert len({item.output for item in responses}) == 2


class TestEnds:
    def test_a_program_that_dies_costs_its_case_and_is_started_again(self, place: Place) -> None:
        body = (
            'print("last words", flush=True)\nos.kill(os.getpid(), signal.SIGKILL) if text == "die" else None\n'
            + ECHO
        )
        died, lives = answers(program(place, body), Case("a", "die"), Case("b", "on"))
        assert failed(died) == (FailureKind.SIGNAL, Status.ERROR)
        assert isinstance(died, CaseFailed)
        assert died.output_tail == "last words"
        assert output(lives) == "on"

    def test_an_answer_right_before_the_end_counts(self, place: Place) -> None:
        assert ask(program(place, ECHO + "\nos._exit(3)")).output == "hi"

    def test_a_cancelled_case_ends_its_process_and_the_next_has_another(self, place: Place) -> None:
        body = 'open("busy", "w").close() if text == "hang" else None\nwait() if text == "hang" else None\n' + ECHO
        agent = program(place, body)

        async def work(agent: ForeignAgent) -> Response:
            hanging = asyncio.create_task(agent.run(Case("a", "hang")))
            await exists(place.folder / "busy")
            hanging.cancel()
            await asyncio.wait({hanging})
            assert hanging.cancelled()
            return await asyncio.wait_for(agent.run(Case("b", "on")), WAIT_S)

        assert output(using(agent, work)) == "on"

    def test_a_cancelled_case_leaves_others_in_its_process_alone(self, place: Place) -> None:
        body = """
if text == "hang":
    open("busy", "w").close()
else:
    say(number, ok={"output": os.getpid()})
"""
        limits = ProgramLimits(programs=4)
        agent = program(place, body, greeting={"in_flight": 4}, limits=limits)

        async def work(agent: ForeignAgent) -> tuple[Response, Response]:
            first = await agent.run(Case("a", "x"))
            hanging = asyncio.create_task(agent.run(Case("b", "hang")))
            await exists(place.folder / "busy")
            hanging.cancel()
            await asyncio.wait({hanging})
            return first, await agent.run(Case("c", "x"))

        responses = using(agent, work)
        assert isinstance(responses, tuple)
        first, second = responses
        assert first.output != second.output  # a process that may be stuck gets no further case

    def test_printing_without_end_ends_it(self, place: Place) -> None:
        body = 'while text == "flood":\n    print("x" * 1000)\n' + ECHO
        agent = program(place, body, limits=ProgramLimits(output_bytes=100_000))
        flood, calm = answers(agent, Case("a", "flood"), Case("b", "on"))
        assert failed(flood) == (FailureKind.OUTPUT, Status.LIMIT)
        assert output(calm) == "on"

    def test_a_line_without_end_ends_it(self, place: Place) -> None:
        body = 'while text == "flood":\n    back.write("x" * 1000)\n' + ECHO
        agent = program(place, body, limits=ProgramLimits(output_bytes=100_000))
        flood, calm = answers(agent, Case("a", "flood"), Case("b", "on"))
        assert failed(flood) == (FailureKind.OUTPUT, Status.LIMIT)
        assert output(calm) == "on"

    def test_chunks_without_end_end_it(self, place: Place) -> None:
        body = 'while text == "flood":\n    say(number, chunk="x" * 1000)\n' + ECHO
        agent = program(place, body, limits=ProgramLimits(output_bytes=100_000))
        flood, calm = answers(agent, Case("a", "flood"), Case("b", "on"))
        assert failed(flood) == (FailureKind.OUTPUT, Status.LIMIT)
        assert output(calm) == "on"

    def test_it_may_say_goodbye(self, place: Place) -> None:
        text = LOOP.replace("GREETING", "{}")
        agent = bare(
            place,
            *PYTHON,
            f'{ON_3_AND_4}\ndef answer(case, number, text):\n    {ECHO}\n{text}\nopen("bye", "w").close()',
        )
        assert ask(agent).output == "hi"
        assert (place.folder / "bye").exists()


class TestStart:
    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("import sys; sys.exit('no licence')", "ended its process with status 1 before it answered hello"),
            ('print(\'{"ok": {"protocol": 7}}\'); input()', "it speaks protocol 7, the bench speaks 1"),
            ('print(\'{"ok": {"protocol": 1, "in_flight": 0}}\'); input()', "in_flight is 0"),
            ('print(\'{"error": "no model"}\'); input()', "no model"),
            ('print(\'{"chunk": "a"}\'); input()', "no answer to hello"),
            ("print('x' * 1000000); input()", "printed more than"),
        ],
    )
    def test_a_program_that_does_not_greet_is_no_agent(self, place: Place, text: str, part: str) -> None:
        agent = bare(place, *PYTHON, text, limits=ProgramLimits(output_bytes=500_000))
        with pytest.raises(PluginError) as caught:
            answers(agent)
        assert part in str(caught.value)
        assert caught.value.remedy is not None
        assert '{"ok": {"protocol": 1}}' in caught.value.remedy

    def test_what_it_printed_last_is_shown(self, place: Place) -> None:
        agent = bare(place, *PYTHON, "import sys; sys.exit('no licence')")
        with pytest.raises(PluginError) as caught:
            answers(agent)
        assert "no licence" in (caught.value.remedy or "")

    def test_silence_has_a_limit(self, place: Place) -> None:
        agent = bare(place, "sleep", "1000", limits=ProgramLimits(greeting_s=0.01))
        with pytest.raises(PluginError, match=r"did not answer hello within 0\.01 s"):
            answers(agent)

    def test_a_program_that_is_not_there(self, place: Place) -> None:
        with pytest.raises(PluginError, match="command not found"):
            answers(bare(place, "./nothing"))

    def test_what_fails_to_start_again_ends_the_run(self, place: Place) -> None:
        (place.folder / "once").touch()
        start = 'import os, sys\nos.path.exists("once") or sys.exit(9)\nos.remove("once")\n'
        agent = program(place, "os._exit(1)", channel=start + ON_3_AND_4)
        first, second = answers(agent, Case("a", "x"), Case("b", "x"))
        assert failed(first) == (FailureKind.EXIT, Status.ERROR)
        assert isinstance(second, CaseFailed)
        assert second.fatal
        assert "cannot be started any more" in str(second)


def test_a_shell_script_is_an_agent(place: Place) -> None:
    script = place.write(
        "agent.sh",
        """#!/bin/sh
while read -r line; do
  case $line in
    *'"hello"'*) echo '{"ok": {"protocol": 1}}' ;;
    *'"run"'*) echo thinking; echo '{"ok": {"output": "from a shell"}}' ;;
    *) exit 0 ;;
  esac
done
""",
    )
    script.chmod(0o755)
    assert ask(bare(place, "./agent.sh")).output == "from a shell"
    assert json.loads(json.dumps(ask(bare(place, "./agent.sh")).observed)) == {"command": ["./agent.sh"]}


def test_what_a_program_has_used_is_known_once_it_has_greeted(place: Place) -> None:
    agent = program(place, ECHO)
    assert agent.used().start_s is None

    async def work(started: ForeignAgent) -> ProgramUse:
        await started.run(Case("c", "hi"))
        return started.used()

    used = using(agent, work)
    assert isinstance(used, ProgramUse)
    assert used.start_s is not None
    assert used.start_s > 0
    assert used.cpu_s is not None
    assert used.cpu_s > 0
    assert used.peak_rss_bytes is not None
    assert used.peak_rss_bytes > 1_000_000


def test_the_clock_runs_before_the_program_has_the_case(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bench that waits for a CPU once a case is sent would else find the program faster than it is."""
    waited_ns = 0
    send = process.LineProcess._send

    def sent(self: process.LineProcess, fd: int, data: bytes) -> None:
        nonlocal waited_ns
        send(self, fd, data)
        waited_ns += 3_600 * 10**9

    monkeypatch.setattr(process.LineProcess, "_send", sent)
    monkeypatch.setattr(process, "perf_counter_ns", lambda: perf_counter_ns() + waited_ns)
    assert ask(program(place, ECHO)).readings["duration_s"] > 3_600
