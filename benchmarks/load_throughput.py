"""How many streamed requests a second load generators send with one core: the first part of benchmarks/load.py."""

from __future__ import annotations

import contextlib
import http.client
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from benchmarks.ratio_table import BENCHMARKS, PYTHON, met, print_table

from agentdyno.load.client.stream_reader import decoder_name

OURS, WRK = "agentdyno", "wrk"
SHAPES = ("plain", "logprobs", "escapes", "crlf", "reasoning", "tools", "together", "named", "long")
"""Of load_server.c; no two answers of any of them are alike."""
SHAPE_GOAL = 0.3
TOKENS = 16
OTHER_TOKENS = {"plain": (1, 256), "logprobs": (1, 256)}
CONNECTIONS = 64
PEERS = BENCHMARKS.parent / ".venv-load"
GOALS = {WRK: SHAPE_GOAL, "Locust FastHttpUser": 5.0, "AIPerf": 10.0, "GuideLLM": 10.0}
"""How many times as many requests a second ours sends, at least."""
SATURATED = 0.95
CHAT_PATH = "/v1/chat/completions"
BODY = json.dumps(
    {
        "model": "canned",
        "messages": [{"role": "user", "content": "Say sixteen words, please, one after the other."}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the server has seen at a moment."""

    requests: int
    cpu_us: int
    now_ns: int


@dataclass(frozen=True, slots=True)
class Rate:
    """Of one tool in one round: requests a second by the server's count, and the shares of the two cores."""

    per_s: float
    client: float
    server: float

    @property
    def per_cpu_s(self) -> float:
        """Requests for each second of CPU time that the tool used: what a whole core of it would send."""
        return self.per_s / self.client if self.client else 0.0


class CannedServer:
    """The server in C, pinned to a core."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.port = process, port

    def read(self) -> Reading:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            link.request("GET", "/stats")
            return Reading(**json.loads(link.getresponse().read()))
        finally:
            link.close()


@contextlib.contextmanager
def canned_server(cpu: int, *, shape: str = SHAPES[0], tokens: int = TOKENS) -> Iterator[CannedServer]:
    """Builds and starts benchmarks/load_server.c; needs ``cc``."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "load_server"
        subprocess.run(["cc", "-O2", "-o", str(binary), str(BENCHMARKS / "load_server.c")], check=True)
        command = [str(binary), "0", str(tokens), shape]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        try:
            assert process.stdout is not None
            yield CannedServer(process, int(process.stdout.readline()))
        finally:
            process.kill()
            process.wait()


Command = Callable[[int, float], Sequence[str]]


def tools(folder: Path) -> dict[str, Command | str]:
    """The command of each tool for a port and a duration, or why there is none."""
    script = folder / "post.lua"
    script.write_text(
        f"wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = [=[{BODY}]=]\n"
    )
    found: dict[str, Command | str] = {OURS: _ours}
    if shutil.which("wrk"):
        found[WRK] = lambda port, seconds: (
            *("wrk", "-t1", f"-c{CONNECTIONS}", f"-d{math.ceil(seconds)}s", "-s", str(script)),
            f"http://127.0.0.1:{port}{CHAT_PATH}",
        )
    else:
        found[WRK] = "not installed: apt-get install wrk"
    tokenizer = _write_tokenizer(folder / "tokenizer")
    peers: dict[str, tuple[str, Command]] = {
        "Locust FastHttpUser": ("locust", _locust),
        "AIPerf": ("aiperf", lambda port, seconds: _aiperf(port, seconds, tokenizer)),
        "GuideLLM": ("guidellm", lambda port, seconds: _guidellm(port, seconds, tokenizer)),
    }
    for name, (binary, command) in peers.items():
        there = (PEERS / binary / "bin" / binary).exists()
        found[name] = command if there else f"not installed: scripts/load_peers.sh {binary}"
    return found


def _write_tokenizer(folder: Path) -> Path:
    """One token a word, for tools that want a tokenizer and would fetch one otherwise."""
    folder.mkdir()
    vocabulary = {"[UNK]": 0, **{f"w{number}": number + 1 for number in range(2000)}}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    unused = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    splitter = {"type": "WhitespaceSplit"}
    whole: dict[str, object] = {
        "version": "1.0",
        "added_tokens": [],
        **unused,
        "pre_tokenizer": splitter,
        "model": model,
    }
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "model_max_length": 4096}
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def _ours(port: int, seconds: float) -> Sequence[str]:
    return (PYTHON, str(BENCHMARKS / "load_tool.py"), str(port), f"{seconds:g}", str(CONNECTIONS))


def _locust(port: int, seconds: float) -> Sequence[str]:
    return (
        *(str(PEERS / "locust/bin/locust"), "-f", str(BENCHMARKS / "load_locustfile.py"), "--headless"),
        *("-u", str(CONNECTIONS), "-r", str(CONNECTIONS), "-t", f"{seconds + 4:.0f}s"),
        *("-H", f"http://127.0.0.1:{port}", "--only-summary", "--skip-log"),
    )


def _aiperf(port: int, seconds: float, tokenizer: Path) -> Sequence[str]:
    return (
        *(str(PEERS / "aiperf/bin/aiperf"), "profile", "--model", "canned", "--url", f"http://127.0.0.1:{port}"),
        *("--endpoint-type", "chat", "--streaming", "--concurrency", str(CONNECTIONS), "--ui", "none"),
        *("--synthetic-input-tokens-mean", "8", "--output-tokens-mean", str(TOKENS), "--tokenizer", str(tokenizer)),
        *("--benchmark-duration", f"{seconds + 10:.0f}", "--output-artifact-dir", str(tokenizer.parent / "aiperf")),
    )


def _guidellm(port: int, seconds: float, tokenizer: Path) -> Sequence[str]:
    return (
        *("env", "HF_HUB_OFFLINE=1", str(PEERS / "guidellm/bin/guidellm"), "run", "--disable-progress"),
        *("--backend", f"kind=openai_http,target=http://127.0.0.1:{port},model=canned"),
        *("--profile", f"kind=concurrent,streams={CONNECTIONS}"),
        *("--constraint", f"kind=max_duration,seconds={seconds + 10:.0f}"),
        *("--tokenizer", f"kind=hf_auto,model={tokenizer}"),
        *("--data", f"kind=synthetic_text,prompt_tokens=8,output_tokens={TOKENS}"),
        *("--output", f"kind=json,path={tokenizer.parent / 'guidellm.json'}"),
    )


def measure(command: Sequence[str], server: CannedServer, seconds: float, cpu: int) -> Rate | str:
    """Runs a tool on one core and looks at the middle of its run; or says in one line why that was not possible."""
    before = server.read().requests
    with tempfile.TemporaryFile() as output:
        tool = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {cpu}),
        )
        try:
            if not _underway(tool, server, before):
                output.seek(0)
                lines = output.read().decode(errors="replace").strip().splitlines()
                return f"sent nothing: {lines[-1][:100] if lines else 'no output'}"
            first, used = server.read(), _cpu_s(tool.pid)
            time.sleep(seconds * 0.7)
            last, used_then = server.read(), _cpu_s(tool.pid)
        finally:
            _end(tool)
    taken_s = (last.now_ns - first.now_ns) / 1e9
    return Rate(
        (last.requests - first.requests) / taken_s,
        (used_then - used) / taken_s,
        (last.cpu_us - first.cpu_us) / 1e6 / taken_s,
    )


def _underway(tool: subprocess.Popen[bytes], server: CannedServer, before: int, patience_s: float = 90.0) -> bool:
    """Waits until the tool has sent requests for a while."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline and tool.poll() is None:
        if server.read().requests > before + 2 * CONNECTIONS:
            time.sleep(0.3)
            return tool.poll() is None
        time.sleep(0.05)
    return False


def _cpu_s(pid: int) -> float:
    """Of a process and everything below it, living or waited for."""
    total = 0.0
    with contextlib.suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for process in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess, OSError, ValueError):
                total += int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9
                for thread in process.threads():
                    if thread.id != process.pid:
                        path = Path(f"/proc/{process.pid}/task/{thread.id}/schedstat")
                        total += int(path.read_text().split()[0]) / 1e9
    return total


def _end(tool: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(tool.pid, signal.SIGTERM)
    try:
        tool.wait(5)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(tool.pid, signal.SIGKILL)
        tool.wait()


def print_throughput(cpus: tuple[int, int], seconds: float, rounds: int) -> None:
    """All tools in turn, ``rounds`` times; the round with the most requests a second counts for each."""
    client_cpu, server_cpu = cpus
    best: dict[str, Rate] = {}
    absent: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, command in tools(Path(folder)).items():
            if isinstance(command, str):
                absent[name] = command
                continue
            with canned_server(server_cpu) as server:
                for _ in range(rounds):
                    rate = measure(command(server.port, seconds), server, seconds, client_cpu)
                    if isinstance(rate, str):
                        absent[name] = rate
                        break
                    if name not in best or rate.per_s > best[name].per_s:
                        best[name] = rate
    rows = [_row(name, best, absent) for name in (OURS, *GOALS)]
    notes = [
        f"Every tool has one core and {CONNECTIONS} connections; the server, on another core, counts. An answer has",
        f"{TOKENS} tokens in chunks of their own, and an id, a time and a text of its own.",
        "A ratio of rates needs the core of both clients to be busy, and the server's not; where it is not so the",
        "goal is judged by the ratio per second of CPU time of the client.",
        *(f"{name}: {why}" for name, why in absent.items()),
    ]
    header = ("tool", "requests/s", "client core", "server core", "requests/CPU s", "ours/its", "per CPU s", "goal")
    print_table("streamed requests without pacing, by the server's count", header, rows, notes)


def print_shapes(cpus: tuple[int, int], seconds: float, rounds: int) -> None:
    """wrk and ours in turns on every shape of answer; medians of CPU time for each answer, which other work on the
    machine changes much less than the rates."""
    client_cpu, server_cpu = cpus
    if not shutil.which("wrk"):
        print("wrk is not installed: apt-get install wrk")
        return
    cases = [(shape, TOKENS) for shape in SHAPES]
    cases += [(shape, tokens) for shape, others in OTHER_TOKENS.items() for tokens in others]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        commands = {name: command for name, command in tools(Path(folder)).items() if name in (WRK, OURS)}
        for shape, tokens in cases:
            seen: dict[str, list[Rate]] = {WRK: [], OURS: []}
            with canned_server(server_cpu, shape=shape, tokens=tokens) as server:
                for _ in range(rounds):
                    for name, found in seen.items():
                        command = commands[name]
                        assert not isinstance(command, str)
                        rate = measure(command(server.port, seconds + 4.0), server, seconds, client_cpu)
                        if isinstance(rate, str):
                            print(f"{shape}, {tokens} tokens, {name}: {rate}")
                        else:
                            found.append(rate)
            rows.append(_shape_row(shape, tokens, seen))
    worst = min(float(row[-2].removesuffix("x")) for row in rows[: len(SHAPES)])
    header = ("shape", "tokens", "wrk/s", "ours/s", "wrk us", "ours us", "wrk/ours", f">= {SHAPE_GOAL:g}x")
    notes = [
        f"Medians of {rounds} rounds in turns, a core for the client and one for the server. us: CPU time of the",
        "client for each answer; wrk/ours is their ratio: the rate of ours over that of wrk on a core of its own.",
        f"wrk looks for the end of an answer and reads nothing of it. Our decoder: {decoder_name()}.",
        f"The worst shape of {TOKENS} tokens: {worst:.2f}x.",
    ]
    print_table("foreign shapes of answers, all different, by the server's count", header, rows, notes)


def _shape_row(shape: str, tokens: int, seen: dict[str, list[Rate]]) -> tuple[str, ...]:
    if not all(seen.values()):
        return (shape, str(tokens), "", "", "", "", "0x", met(False))
    per_s = {name: statistics.median(rate.per_s for rate in found) for name, found in seen.items()}
    cost_us = {name: statistics.median(1e6 / rate.per_cpu_s for rate in found) for name, found in seen.items()}
    share = cost_us[WRK] / cost_us[OURS]
    judged = met(share >= SHAPE_GOAL) if tokens == TOKENS else ""
    rates = (f"{per_s[name]:,.0f}" for name in (WRK, OURS))
    return (shape, str(tokens), *rates, *(f"{cost_us[name]:.1f}" for name in (WRK, OURS)), f"{share:.2f}x", judged)


def _row(name: str, best: dict[str, Rate], absent: dict[str, str]) -> tuple[str, ...]:
    rate = best.get(name)
    if rate is None:
        return (name, "-" if name in absent else "?", "", "", "", "", "", "")
    shown = (f"{rate.per_s:,.0f}", f"{rate.client:.0%}", f"{rate.server:.0%}", f"{rate.per_cpu_s:,.0f}")
    ours = best.get(OURS)
    if name == OURS or ours is None:
        return (name, *shown, "", "", "")
    fair = min(ours.client, rate.client) >= SATURATED and max(ours.server, rate.server) < SATURATED
    by_rate, by_cpu = ours.per_s / rate.per_s, ours.per_cpu_s / rate.per_cpu_s
    judged = by_rate if fair else by_cpu
    goal = f">= {GOALS[name]:g}x: {met(judged >= GOALS[name])}"
    return (name, *shown, f"{by_rate:.2f}x" if fair else "-", f"{by_cpu:.2f}x", goal)
