"""``dyno``: finds the command, runs it, turns errors into messages and exit codes."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
from importlib import import_module

import click

COMMANDS = {
    "init": "Write dyno.yaml, a small agent and a first suite.",
    "try": "Ask an agent one question.",
    "run": "Measure what a suite, a spec, a file or a name says.",
    "time": "Time shell commands, taking turns, and judge the difference.",
    "load": "Put an agent or an endpoint under load, and find where it breaks.",
    "resume": "Go on with a run that was interrupted or killed.",
    "check": "The gate: hold what is here against a baseline.",
    "compare": "Set results or agents side by side and judge the difference.",
    "changes": "Is anything worse than its baseline, and since which version?",
    "board": "Where the agents stand: leaderboard, matrix, who is overdue.",
    "history": "How a metric went over time, and what became worse.",
    "cost": "What agents cost for what they achieve.",
    "profile": "Where time and tokens went: phases, bottlenecks, what could be saved.",
    "baseline": "Choose, show or export what later versions are held against.",
    "rescore": "Judge the stored answers of a run again.",
    "report": "Write a run's report: md, html, csv, json, png, junit.",
    "show": "Show a run, or one case of it with its whole trajectory.",
    "view": "Open a run's page in the browser, of the store or of a result file.",
    "import": "Take results of other tools into the store.",
    "export": "Write a run for other tools: OpenTelemetry traces.",
    "case": "Add a case of a run, or a trace of production, to a suite.",
    "judge": "Hold a model that judges against people, and correct its pass rates.",
    "suite": "Compare two versions of a suite, case by case.",
    "list": "List agents, suites, scorers, experiments, instruments, runs…",
    "doctor": "Say what makes measurements here unreliable, and the remedy.",
    "schema": "Print the JSON Schema of suites, specs or dyno.yaml.",
    "demo": "Agents on the comprehensive suite, offline.",
    "serve": "The dashboard, the REST API and workers, on this machine or for a team.",
    "worker": "Run the jobs that a service has queued.",
    "jobs": "List, follow or cancel what a service was asked to run.",
    "alerts": "Try, list or send what goes to Slack, GitHub or a webhook.",
    "keys": "Create, list or revoke the keys of a service's callers.",
    "model": "Install and serve the local model, or simulate one.",
    "store": "Migrate, check, rebuild, back up or compact the store.",
}
_HOMES = {
    "init": "bench.init",
    "try": "bench.try_",
    "run": "bench.run",
    "time": "bench.time_",
    "load": "bench.load",
    "resume": "bench.resume",
    "check": "bench.check",
    "compare": "ask.compare",
    "changes": "ask.changes",
    "board": "ask.board",
    "history": "ask.history",
    "cost": "ask.cost",
    "profile": "ask.profile",
    "baseline": "ask.baseline",
    "rescore": "bench.rescore",
    "report": "ask.report",
    "show": "ask.show",
    "view": "service.view",
    "import": "ask.import_",
    "export": "ask.export",
    "case": "ask.case",
    "judge": "ask.judge",
    "suite": "ask.suite",
    "list": "ask.list",
    "doctor": "bench.doctor",
    "schema": "ask.schema",
    "demo": "bench.demo",
    "serve": "service.serve",
    "worker": "service.worker",
    "jobs": "service.jobs",
    "alerts": "service.alerts",
    "keys": "service.keys",
    "model": "service.model",
    "store": "service.store",
}
_ONLY_ASK = frozenset({"changes", "board", "history", "cost", "compare", "profile", "baseline", "show", "list"})
"""Commands that ask the store: they measure nothing and start nothing that is measured."""
_NO_ROOM = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the quota of the disk is used up",
    errno.EFBIG: "the file may not grow any more (ulimit -f)",
}
_THREADS = "OPENBLAS_NUM_THREADS"
EPILOG = """\b
Examples:
  dyno init                                   a first suite and a small agent
  dyno run suite.yaml --agent agent.py@answer put an agent on the bench
  dyno run spec.yaml                          measure code
  dyno run bench.py@my_bench -p size=200      run code in a file
  dyno run spec.yaml --against main           baseline and candidate, interleaved
  dyno load http://127.0.0.1:8000/v1 --rate 50 an endpoint under load
  dyno compare last~1 last                    what changed since the run before
  dyno check --against main                   may this change pass?
  dyno board                                  the leaderboard
  dyno serve                                  the dashboard, at http://127.0.0.1:8321
"""


class LazyGroup(click.Group):
    """Imports a command's module when the command is called, and nothing for ``--help``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if ctx.resilient_parsing or ctx.meta.get("listing"):
            return click.Command(cmd_name, help=COMMANDS[cmd_name])
        _seldom_look_for_garbage(_HOMES[cmd_name].partition(".")[0])
        module = import_module(f"agentdyno.cli.{_HOMES[cmd_name]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from agentdyno.errors import nearest

            ctx.fail(f"no command {name!r}. {nearest(name, COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="agentdyno", prog_name="dyno")
@click.option("-v", "--verbose", count=True, help="Log what is done to stderr; -vv for everything (also DYNO_LOG).")
def dyno(verbose: int) -> None:
    """A dynamometer for agents: how fast, how right, how costly, and is the last change worse?"""
    level = {0: os.environ.get("DYNO_LOG", ""), 1: "info"}.get(verbose, "debug")
    if level:
        _log_to_stderr(level)


def main() -> None:
    """The entry point of the command ``dyno``."""
    if sys.argv[1:2] and sys.argv[1] in _ONLY_ASK and _THREADS not in os.environ:
        # numpy starts threads for large matrices when it is loaded, a fourth of its time; nothing here has any.
        os.environ[_THREADS] = "1"
        try:
            _call()
        finally:
            del os.environ[_THREADS]
    else:
        _call()


def _call() -> None:
    try:
        code = dyno.main(standalone_mode=False)
    except click.exceptions.Abort:
        _say("Interrupted.")
        code = 130
    except KeyboardInterrupt:
        _say("Interrupted.")
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:  # noqa: BLE001  (what is not ours is raised again)
        code = _explain(error)
    sys.exit(code if isinstance(code, int) else 0)


def _seldom_look_for_garbage(part: str) -> None:
    """What a short command makes it keeps until it ends, its modules above all: looking for garbage is in vain.

    What runs for long makes garbage as well, and a service does nothing else.
    """
    if part != "service":
        from agentdyno.garbage import look_seldom

        look_seldom(200_000 if part == "ask" else 20_000)
    atexit.register(gc.freeze)  # else Python looks through everything twice on its way out


def _explain(error: Exception) -> int:
    from agentdyno.errors import DynoError, NotComparable

    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = f"{error.filename}: " if error.filename else ""
        what = _NO_ROOM[error.errno]
        _say(f"Error: {where}{what}\n  Make room. A run that stopped goes on with `dyno resume`.")
        return 2
    if not isinstance(error, DynoError):
        raise error
    _say(f"Error: {error}")
    return 3 if isinstance(error, NotComparable) else 2


def _say(text: str) -> None:
    click.echo(text, err=True)


def _log_to_stderr(level: str) -> None:
    import logging

    number = logging.getLevelName(level.upper())
    if not isinstance(number, int):
        raise click.UsageError(f"DYNO_LOG is {level!r}; use debug, info, warning or error")
    logging.basicConfig(level=number, stream=sys.stderr, format="%(asctime)s %(name)s %(levelname)s %(message)s")


if __name__ == "__main__":
    main()
