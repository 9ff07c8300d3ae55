from __future__ import annotations

import asyncio
import json
import os
import select
import subprocess
import sys

import pytest

from agentdyno.agents.commands.agent import CommandAgent, CommandLimits, CommandSetting
from agentdyno.agents.commands.command_line import read_answer, split_command
from agentdyno.contracts import CaseFailed
from agentdyno.errors import PluginError, SpecError
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.sample import FailureKind, Status
from tests.agents.place import VARIABLE, WAIT_S, Place, answers, exists, failed, output, using

PYTHON = (sys.executable, "-S", "-c")
HELPERS = "import os, signal, sys, threading\nwait = lambda: threading.Event().wait()\n"


def command(place: Place, *argv: str, how: str = "stdin", config: object = None, **limits: object) -> CommandAgent:
    assert config is None or isinstance(config, dict)
    setting = CommandSetting(how, str(place.folder), (VARIABLE,), place.environ)
    return CommandAgent("subject", argv, config=config, setting=setting, limits=CommandLimits(**limits))  # type: ignore[arg-type]


def python(place: Place, text: str, **options: object) -> CommandAgent:
    return command(place, *PYTHON, HELPERS + text, **options)  # type: ignore[arg-type]


def answer(agent: CommandAgent, value: object, turns: tuple[str, ...] = ()) -> Response:
    (result,) = answers(agent, Case("c", value, turns=turns))
    assert isinstance(result, Response), result
    return result


class TestInput:
    def test_text_goes_to_standard_input_as_it_is(self, place: Place) -> None:
        assert answer(command(place, "cat"), "héllo\nworld").output == "héllo\nworld"

    def test_large_input_is_fed_as_it_is_read(self, place: Place) -> None:
        assert answer(command(place, "wc", "-c"), "x" * 5_000_000).output == "5000000"

    def test_a_command_need_not_read_its_input(self, place: Place) -> None:
        assert answer(command(place, "echo", "no"), "x" * 5_000_000).output == "no"

    def test_other_values_go_as_json(self, place: Place) -> None:
        assert answer(command(place, "cat"), {"é": [1, None]}).output == '{"é": [1, null]}'

    def test_turns_go_as_a_list(self, place: Place) -> None:
        assert answer(command(place, "cat"), "a", ("a", "b")).output == '["a", "b"]'

    def test_a_placeholder_takes_the_input_and_standard_input_is_empty(self, place: Place) -> None:
        text = "print(sys.argv[1:], repr(sys.stdin.read()))"
        agent = command(place, *PYTHON, HELPERS + text, "--ask={input}", "x")
        assert answer(agent, "a b; rm -rf $HOME").output == "['--ask=a b; rm -rf $HOME', 'x'] ''"

    def test_input_as_an_argument_without_a_placeholder_comes_last(self, place: Place) -> None:
        assert answer(command(place, "echo", "-n", how="argv"), "hello").output == "hello"

    @pytest.mark.parametrize("text", ["x" * 200_000, "nul\0byte"])
    def test_an_input_that_fits_no_argument_is_refused(self, place: Place, text: str) -> None:
        results = answers(command(place, "echo", "{input}"), Case("c", text), Case("c", "fine"))
        assert failed(results[0]) == (FailureKind.EXIT, Status.ERROR)
        assert isinstance(results[0], CaseFailed)
        assert "standard input" in results[0].remedy
        assert output(results[1]) == "fine"

    def test_another_way_of_input_is_refused(self, place: Place) -> None:
        with pytest.raises(SpecError, match="Say stdin or argv"):
            command(place, "cat", how="pipe")


class TestOutput:
    def test_newlines_at_the_end_are_no_part_of_the_answer(self, place: Place) -> None:
        assert answer(command(place, "printf", " a\\n\\nb \\r\\n\\n"), "").output == " a\n\nb "

    def test_the_last_line_may_tell_tokens_and_cost(self, place: Place) -> None:
        line = json.dumps({"usage": {"input_tokens": 3, "output_tokens": 4}, "cost": 0.5, "model": "m"})
        result = answer(command(place, "printf", "%s\\n%s\\n", "two\nlines", line), "")
        assert (result.output, result.usage, result.cost, result.model) == ("two\nlines", Usage(3, 4), 0.5, "m")

    def test_an_output_in_the_last_line_wins(self) -> None:
        assert read_answer('log\n{"output": {"a": 1}, "cost": 1}\n').output == {"a": 1}
        assert read_answer('{"output": "x"}').output == "x"

    @pytest.mark.parametrize(
        "text",
        ['{"model": "T", "price": 3}', '{"cost": 5}', "{broken", 'text\n{"usage": 3}', 'text\n{"a": 1}', "text\n[1]"],
    )
    def test_an_answer_that_is_json_itself_stays_the_answer(self, text: str) -> None:
        assert read_answer(text) == Response(text)

    def test_figures_that_a_command_prints_of_itself_are_kept_as_reported(self, place: Place) -> None:
        line = json.dumps({"readings": {"duration_s": 1e-6, "cpu_s": 0.0, "peak_rss_bytes": 1.0, "steps": 7}})
        result = answer(python(place, f"import time\ntime.sleep(0.3)\nprint('yes')\nprint({line!r})"), "x")
        assert result.output == "yes"
        assert result.readings["duration_s"] >= 0.3
        assert result.readings["peak_rss_bytes"] > 1.0
        reported = {name: value for name, value in result.readings.items() if name.startswith("reported.")}
        assert reported == {"reported.duration_s": 1e-6, "reported.cpu_s": 0.0, "reported.peak_rss_bytes": 1.0}
        assert result.readings["steps"] == 7

    def test_readings_are_those_of_the_command_and_not_of_this_process(self, place: Place) -> None:
        large = bytearray(150 << 20)
        large[::4096] = b"x" * len(large[::4096])
        result = answer(command(place, "cat"), "x")
        assert 0 < result.readings["peak_rss_bytes"] < 40 << 20
        assert result.readings["cpu_s"] >= 0
        assert result.readings["duration_s"] > 0
        del large

    def test_what_reached_storage_is_told(self, place: Place) -> None:
        text = "import os, resource\nfile = open('data', 'wb')\nfile.write(os.urandom(1 << 20))\nfile.flush()\n"
        text += "os.fsync(file.fileno())\nprint(512 * resource.getrusage(resource.RUSAGE_SELF).ru_oublock)"
        result = answer(python(place, text), "x")
        # A folder in memory has no storage behind it: then there is nothing to tell.
        assert result.readings.get("write_bytes", 0.0) >= float(str(result.output))

    def test_cpu_time_and_memory_include_children_that_were_waited_for(self, place: Place) -> None:
        work = "import time\ndata = bytearray(60 << 20)\nwhile time.process_time() < 0.3: pass"
        result = answer(command(place, "sh", "-c", f'{sys.executable} -S -c "{work}"; echo done'), "")
        assert result.output == "done"
        assert result.readings["cpu_s"] >= 0.3
        assert result.readings["peak_rss_bytes"] > 60 << 20

    def test_the_command_is_what_was_observed(self, place: Place) -> None:
        assert answer(command(place, "cat", "-"), "x").observed == {"command": ["cat", "-"]}


class TestEnvironment:
    def test_only_what_is_named_reaches_the_command(self, place: Place) -> None:
        environ = {**place.environ, "OPENAI_API_KEY": "sk-1", "NAMED": "yes", "LC_ALL": "C", "PYTHONSTARTUP": "x"}
        setting = CommandSetting(cwd=str(place.folder), env=("NAMED", VARIABLE), environ=environ)
        agent = CommandAgent("subject", ("env",), setting=setting, config={"depth": 2})
        seen = dict(line.split("=", 1) for line in str(answer(agent, "").output).splitlines())
        assert (seen["NAMED"], seen["LC_ALL"], seen["PATH"]) == ("yes", "C", environ["PATH"])
        assert json.loads(seen["DYNO_CONFIG"]) == {"depth": 2}
        assert not {"OPENAI_API_KEY", "PYTHONSTARTUP"} & set(seen)

    def test_the_working_folder_is_the_one_given(self, place: Place) -> None:
        assert answer(command(place, "pwd"), "").output == str(place.folder.resolve())

    def test_a_program_of_the_folder_is_run(self, place: Place) -> None:
        script = place.write("bot.sh", "#!/bin/sh\necho bot\n")
        script.chmod(0o755)
        assert answer(command(place, "./bot.sh"), "").output == "bot"


MISBEHAVIOUR = {
    "exit status": ("print('why', file=sys.stderr); sys.exit(3)", FailureKind.EXIT, Status.ERROR),
    "signal": ("os.kill(os.getpid(), signal.SIGSEGV)", FailureKind.SIGNAL, Status.ERROR),
    "CPU time": ("while True: pass", FailureKind.TIMEOUT, Status.TIMEOUT),
    "CPU time, signal ignored": (
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        FailureKind.TIMEOUT,
        Status.TIMEOUT,
    ),
    "memory": ("bytearray(4 << 30)", FailureKind.MEMORY, Status.LIMIT),
    "flood of stdout": ("while True: os.write(1, b'x' * 65536)", FailureKind.OUTPUT, Status.LIMIT),
    "flood of stderr": ("while True: os.write(2, b'x' * 65536)", FailureKind.OUTPUT, Status.LIMIT),
    "100 MB": ("sys.stdout.write('x' * (100 << 20))", FailureKind.OUTPUT, Status.LIMIT),
    "flood and children": (
        "for _ in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        break\n"
        "while True: os.write(1, b'x' * 65536)",
        FailureKind.OUTPUT,
        Status.LIMIT,
    ),
    "kills what started it": ("os.kill(os.getppid(), 9); wait()", FailureKind.EXIT, Status.ERROR),
}


@pytest.mark.parametrize("kind", MISBEHAVIOUR)
def test_misbehaviour_costs_one_case_and_disturbs_no_other(place: Place, kind: str) -> None:
    bad, expected, status = MISBEHAVIOUR[kind]
    text = f"if sys.stdin.read() == 'good':\n    print('fine')\n    sys.exit()\n{bad}"
    agent = python(
        place,
        text,
        cpu_s=0.5 if kind.startswith("CPU") else None,
        memory_bytes=1 << 30 if kind == "memory" else None,
    )
    results = answers(agent, Case("c", "bad"), Case("c", "good"), Case("c", "bad"), Case("c", "good"))
    assert [output(results[1]), output(results[3])] == ["fine", "fine"]
    assert failed(results[0]) == failed(results[2]) == (expected, status)


def test_a_failure_tells_the_end_of_the_error_output_and_what_was_used(place: Place) -> None:
    text = "print('answer'); print('first', file=sys.stderr); print('caf\\udce9', file=sys.stderr); sys.exit(3)"
    (result,) = answers(python(place, text), Case("c", ""))
    assert isinstance(result, CaseFailed)
    assert result.message.startswith("exit status 3: caf")
    assert result.output_tail is not None
    assert result.output_tail.startswith("first\ncaf")
    assert result.response is not None
    assert set(result.response.readings) == {"duration_s", "cpu_s", "peak_rss_bytes"}


def test_a_shell_that_reports_the_cpu_limit_of_its_child_counts_as_the_limit(place: Place) -> None:
    line = f"{sys.executable} -S -c 'while True: pass'; exit $?"
    (result,) = answers(command(place, "sh", "-c", line, cpu_s=1), Case("c", ""))
    assert failed(result) == (FailureKind.TIMEOUT, Status.TIMEOUT)


def test_invalid_utf8_is_replaced_and_noted(place: Place) -> None:
    result = answer(command(place, "printf", "caf\\351"), "")
    assert (result.output, result.observed["invalid_utf8"]) == ("caf\ufffd", True)
    honest = answer(command(place, "cat"), "a \ufffd that was asked for")
    assert "invalid_utf8" not in honest.observed


@pytest.mark.parametrize(
    "line",
    ["sleep 1000 & echo done", "setsid sleep 1000 & echo done", "(setsid sh -c 'sleep 1000; true' &) ; echo done"],
)
def test_children_left_behind_are_ended_with_the_case(place: Place, line: str) -> None:
    async def work(agent: CommandAgent) -> None:
        for _ in range(2):
            assert (await agent.run(Case("c", ""))).output == "done"
            assert place.processes() == []

    using(command(place, "sh", "-c", line), work)


LOOPS = {
    "endless loop": "while True: pass",
    "ignores signals": "for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nwait()",
    "closed output": "os.close(1); os.close(2); wait()",
    "forks children": "for _ in range(20):\n    if os.fork() == 0: wait()\nwait()",
    "forks children of their own sessions": "for _ in range(10):\n    if os.fork() == 0:\n        os.setsid()\n"
    "        os.fork()\n        wait()\nwait()",
}


@pytest.mark.parametrize("kind", LOOPS)
def test_cancelling_ends_the_command_and_all_that_it_started(place: Place, kind: str) -> None:
    text = f"if sys.stdin.read() == 'good':\n    sys.exit(print('fine'))\nopen('running', 'w').close()\n{LOOPS[kind]}"

    async def work(agent: CommandAgent) -> object:
        for _ in range(2):
            running = asyncio.ensure_future(agent.run(Case("c", "bad")))
            await exists(place.folder / "running")
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert place.processes() == []
            (place.folder / "running").unlink()
        return (await agent.run(Case("c", "good"))).output

    assert using(python(place, text), work) == "fine"


def test_many_commands_run_at_the_same_time(place: Place) -> None:
    text = (
        "import time\nopen(sys.stdin.read() + '.started', 'w').close()\n"
        "while sum(name.endswith('.started') for name in os.listdir()) < 5: time.sleep(0.001)\nprint('met')"
    )

    async def work(agent: CommandAgent) -> list[object]:
        return [item.output for item in await asyncio.gather(*(agent.run(Case("c", str(n))) for n in range(5)))]

    assert using(python(place, text), work) == ["met"] * 5


def test_an_owner_that_is_killed_takes_its_commands_and_their_children_along(place: Place) -> None:
    program = """
import asyncio, sys
from agentdyno.agents.commands.agent import CommandAgent, CommandSetting
from agentdyno.model.case import Case
setting = CommandSetting(cwd=sys.argv[1], env=(sys.argv[2],))
agent = CommandAgent("a", ("sh", "-c", "setsid sleep 1000 & sleep 1000 & touch running; sleep 1000"), setting=setting)
asyncio.run(agent.run(Case("c", "x")))
"""
    owner = subprocess.Popen([sys.executable, "-c", program, str(place.folder), VARIABLE], env=dict(place.environ))
    try:
        asyncio.run(exists(place.folder / "running"))
        ended = [os.pidfd_open(pid) for pid in place.processes() if pid != owner.pid]
        assert len(ended) >= 3
    finally:
        owner.kill()
        owner.wait()
    for fd in ended:
        assert select.select([fd], [], [], WAIT_S)[0]
        os.close(fd)


class TestStart:
    def refusal(self, place: Place, *argv: str, cwd: str | None = None) -> str:
        setting = CommandSetting(cwd=cwd or str(place.folder), environ=place.environ)
        with pytest.raises(PluginError) as caught:
            using(CommandAgent("subject", argv, setting=setting), lambda agent: agent.run(Case("c", "")))
        return str(caught.value)

    def test_a_command_that_is_not_on_the_path_is_named_with_its_neighbours(self, place: Place) -> None:
        (place.folder / "bin").mkdir()
        place.write("bin/answer-bot", "")
        environ = {**place.environ, "PATH": str(place.folder / "bin")}
        agent = CommandAgent("subject", ("answer-bt",), setting=CommandSetting(environ=environ))
        with pytest.raises(PluginError, match=r"command not found: answer-bt\n.*Did you mean answer-bot\?"):
            using(agent, lambda agent: agent.run(Case("c", "")))

    def test_a_file_beside_needs_its_folder(self, place: Place) -> None:
        place.write("bot.sh", "")
        assert "Did you mean ./bot.sh?" in self.refusal(place, "bot.sh")

    def test_a_missing_file_is_named_with_its_neighbours(self, place: Place) -> None:
        place.write("bot.sh", "")
        assert "Did you mean bot.sh?" in self.refusal(place, "./bott.sh")

    def test_a_file_that_is_not_executable_says_what_to_do(self, place: Place) -> None:
        place.write("bot.sh", "")
        assert "chmod +x" in self.refusal(place, "./bot.sh")

    def test_a_folder_that_is_not_there_is_named(self, place: Place) -> None:
        assert "no folder" in self.refusal(place, "cat", cwd=str(place.folder / "none"))

    def test_a_program_that_the_system_refuses_meets_every_case_alike(self, place: Place) -> None:
        place.write("bot", "#!/no/such/interpreter\n").chmod(0o755)
        (result,) = answers(command(place, "./bot"), Case("c", ""))
        assert isinstance(result, CaseFailed)
        assert result.fatal


@pytest.mark.parametrize(("text", "message"), [("", "no command"), ("echo 'open", "Close the quotes")])
def test_a_text_that_is_no_command_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        split_command(text, "cmd:")
