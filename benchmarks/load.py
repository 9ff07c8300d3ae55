"""Whether the load engine is fast and true: against other load generators, and against what servers themselves saw.

0. CPU time for each answer of shapes that nobody tuned the client to, beside wrk's.
1. Streamed requests a second without pacing, with one core for each tool, against a small server in C.
2. Time to first token at 200 streams at once, against the log of the simulated server.
3. 1,000 requests a second with Poisson arrivals: how many the server got, how late they were sent, and memory.
4. Faults in known numbers, and what was reported.
5. Recorded conversations held again: whether each turn came after the answer before it, and how late it was sent.

The client has one core and the server another. wrk comes from the system's packages (apt-get install wrk), the other
tools from scripts/load_peers.sh; what is not there is left out, and said.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.load_throughput import canned_server, print_shapes, print_throughput
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.plan.material import Materials
from agentdyno.load.plan.requests import build_requests
from agentdyno.load.plan.trace import read_trace
from agentdyno.load.windows.records import NAME, read_raw
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, PromptLengths, Stage, Step
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

P50_GOAL_MS, P99_GOAL_MS = 0.2, 4.0
DELIVERED_GOAL, LAG_GOAL_MS, GROWTH_GOAL_MB, PROMPT_GOAL = 0.995, 1.0, 50.0, 0.99
FAULTS = {"http_error": 21, "stream_error": 18, "truncated": 15, "reset": 12, "timeout": 6, "rate_limited": 24}
PROMPT = "Say sixteen words, please, one after the other."


def print_ttft(cpus: tuple[int, int], seconds: float, streams: int = 200) -> None:
    """Errors of single requests: each has a prompt whose length no other has, and the log tells the length."""
    lengths = PromptLengths("uniform", low=10, high=1500)
    options = LoadOptions(prompts=lengths, cpus=cpus[:1])
    behaviour = Behaviour(ttft_s=0.05, itl_s=0.01, output_tokens=50)
    rate = streams / (0.05 + 49 * 0.01)
    with tempfile.TemporaryDirectory() as folder, simulated_server(behaviour) as server:
        os.sched_setaffinity(server.pid, {cpus[1]})
        target = LoadTarget("sim", Dialect.OPENAI, server.openai_url, model="judge")
        driver = HttpDriver(target, options, artifacts=Path(folder))
        driver.open()
        server.reset()
        step = Step("streams", (Stage("steady", seconds, rate=rate),), Arrivals.POISSON)
        windows = list(driver.run(step))
        driver.close()
        words = build_requests(target, options, 0).input_words
        errors_ms = ttft_errors_ms(Path(folder) / NAME, server, words)
        stats = server.stats()
    p50, p99 = np.quantile(errors_ms, (0.5, 0.99))
    reached = met(bool(p50 <= P50_GOAL_MS and p99 <= P99_GOAL_MS))
    row = (
        *(
            f"{np.mean([window.in_flight for window in windows[1:-1] or windows]):.0f}",
            f"{len(errors_ms):,}",
            f"{p50:.3f}",
            f"{p99:.3f}",
            f"{errors_ms.max():.3f}",
        ),
        *(f"{np.mean([window.client_cpu or 0 for window in windows]):.0%}", reached),
    )
    late = (stats.send_lag_p99_s or 0) * 1e3
    print_table(
        f"time to first token at about {streams} streams: error against the server's log (50 ms, then 10 ms a token)",
        (
            "streams",
            "n",
            "p50 ms",
            "p99 ms",
            "max ms",
            "client core",
            f"p50 <= {P50_GOAL_MS}, p99 <= {P99_GOAL_MS:g}",
        ),
        [row],
        [f"The server sent its own tokens up to {late:.3f} ms late (p99), which is no part of the error."],
    )


def ttft_errors_ms(path: Path, server: RunningServer, words: tuple[int, ...]) -> NDArray[np.float64]:
    """Of requests with a length of their own, in the order in which each was repeated."""
    unique = {length for length, count in Counter(words).items() if count == 1}
    true: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for entry in server.log():
        if entry.input_tokens in unique and entry.token_ns:
            true[entry.input_tokens].append((entry.received_ns, entry.token_ns[0] - entry.received_ns))
    seen: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for record in read_raw(path):
        length = words[record["request"]]
        if length in unique and record["first_content"] >= 0:
            seen[length].append((int(record["sent"]), int(record["first_content"] - record["sent"])))
    errors = [
        abs(reported - sent) / 1e6
        for length, found in seen.items()
        if len(found) == len(true[length])
        for (_, reported), (_, sent) in zip(sorted(found), sorted(true[length]), strict=True)
    ]
    return np.array(errors or [float("inf")])


def print_rate(cpus: tuple[int, int], seconds: float, rate: float = 1000.0) -> None:
    with canned_server(cpus[1]) as server:
        target = LoadTarget("canned", Dialect.OPENAI, f"http://127.0.0.1:{server.port}/v1", model="canned")
        with tempfile.TemporaryDirectory() as folder:
            driver = HttpDriver(target, LoadOptions(prompt=PROMPT, cpus=cpus[:1]), artifacts=Path(folder))
            driver.open()
            before = server.read().requests
            processes = [psutil.Process(pid) for pid in (os.getpid(), *driver.pids)]
            memory: list[float] = []
            asked = ok = 0
            step = Step("rate", (Stage("steady", seconds, rate=rate),), Arrivals.POISSON, seed=1)
            for window in driver.run(step):
                asked, ok = asked + window.asked, ok + window.ok
                memory.append(sum(process.memory_info().rss for process in processes) / 1e6)
            got = server.read().requests - before
            driver.close()
            records = read_raw(Path(folder) / NAME)
    lag_ms = (records["sent"] - records["due"])[records["sent"] >= 0] / 1e6
    p50, p99 = np.quantile(lag_ms, (0.5, 0.99))
    warm = min(5, len(memory) - 1)
    growth = max(memory[warm:]) - memory[warm]
    delivered = got / asked if asked else 0.0
    reached = met(bool(delivered >= DELIVERED_GOAL and p99 <= LAG_GOAL_MS and growth < GROWTH_GOAL_MB))
    row = (
        *(f"{seconds:g} s", f"{asked:,}", f"{got:,}", f"{delivered:.2%}", f"{ok:,}"),
        *(f"{p50:.3f}", f"{p99:.3f}", f"{lag_ms.max():.1f}", f"{growth:.1f}", reached),
    )
    header = (
        *("for", "asked", "the server got", "delivered", "ok"),
        *("lag p50 ms", "p99 ms", "max ms", "grew MB", f">= {DELIVERED_GOAL:.1%}, <= 1 ms, < 50 MB"),
    )
    notes = [
        "Lag is from the scheduled time to sending, of every request; memory is that of the run and its client,",
        "from the sixth window on.",
    ]
    print_table(f"{rate:,.0f} requests a second, Poisson arrivals", header, [row], notes)


def print_faults(cpus: tuple[int, int]) -> None:
    count = sum(FAULTS.values()) * 4
    behaviour = Behaviour(ttft_s=0.01, itl_s=0.001, output_tokens=8, faults=FAULTS, fault_span=count, seed=3)
    with simulated_server(behaviour) as server:
        target = LoadTarget("sim", Dialect.OPENAI, server.openai_url, model="faulty")
        driver = HttpDriver(target, LoadOptions(prompt=PROMPT, timeout_s=2.0, cpus=cpus[:1]))
        driver.open()
        server.reset()
        seconds = count / 200
        step = Step("faults", (Stage("steady", seconds, rate=200.0),), Arrivals.CONSTANT)
        seen: Counter[str] = Counter()
        for window in driver.run(step):
            seen.update(window.outcomes)
        driver.close()
    injected = {"ok": count - sum(FAULTS.values()), **FAULTS}
    rows = [(name, str(number), str(seen[name]), met(seen[name] == number)) for name, number in injected.items()]
    print_table("faults in known numbers", ("outcome", "injected", "reported", "equal"), rows)


def print_replay(cpus: tuple[int, int], talks: int, turns: int = 4) -> None:
    """Conversations with tools' pauses; the server's log tells them apart by the number of words, which no two turns
    of all conversations share."""
    draw = np.random.default_rng(5)
    answer, apart = 8, 40
    rows = [
        {"session_id": talk, "input_length": apart * (talk + 1) + turn * (answer + 1), "output_length": answer}
        | ({"pause": float(draw.exponential(0.2))} if turn else {"timestamp": talk * 0.02})
        for turn in range(turns)
        for talk in range(talks)
    ]
    behaviour = Behaviour(ttft_s=0.05, itl_s=0.01, output_tokens=answer)
    with tempfile.TemporaryDirectory() as folder, simulated_server(behaviour) as server:
        path = Path(folder) / "talks.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        trace = read_trace(path)
        os.sched_setaffinity(server.pid, {cpus[1]})
        target = LoadTarget("sim", Dialect.OPENAI, server.openai_url, model="judge")
        options = LoadOptions(cpus=cpus[:1])
        driver = HttpDriver(target, options, Materials(target, options, trace=trace), artifacts=Path(folder))
        driver.open()
        server.reset()
        list(driver.run(Step("replay", trace.stages(), Arrivals.TRACE)))
        driver.close()
        records, log = read_raw(Path(folder) / NAME), server.log()
    last: dict[int, tuple[int, int]] = {}
    in_order = 0
    for entry in sorted(log, key=lambda one: one.received_ns):
        talk, rest = divmod(entry.input_tokens - apart, apart)
        turn, ended_ns = last.get(talk, (-1, 0))
        in_order += rest == (turn + 1) * (answer + 1) and entry.received_ns >= ended_ns
        last[talk] = (turn + 1, entry.token_ns[-1])
    lag_ms = (records["sent"] - records["due"])[records["sent"] >= 0] / 1e6
    prompt = float((lag_ms <= LAG_GOAL_MS).mean())
    row = (
        *(f"{talks:,}", f"{talks * turns:,}", f"{in_order:,}", f"{np.quantile(lag_ms, 0.5):.3f}"),
        *(f"{np.quantile(lag_ms, 0.99):.3f}", f"{lag_ms.max():.1f}", f"{prompt:.2%}"),
        met(in_order == talks * turns and prompt >= PROMPT_GOAL),
    )
    header = (
        *("conversations", "turns", "in order", "lag p50 ms", "p99 ms", "max ms", "within 1 ms"),
        f"all in order, >= {PROMPT_GOAL:.0%}",
    )
    notes = [
        "In order: by the server's log, each turn came after the last token of the answer before it, and held it."
    ]
    print_table("recorded conversations held again, with pauses of tools", header, [row], notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="some seconds for each part: shows that it works")
    parser.add_argument("--cpus", default="0,1", help="the client's core and the server's")
    parser.add_argument(
        "--only", default="", help="shapes, throughput, ttft, rate, faults, replay; several with commas"
    )
    parser.add_argument("--rounds", type=int, help="how often each shape is measured (5; --quick: 1)")
    given = parser.parse_args()
    client, _, server = given.cpus.partition(",")
    cpus = (int(client), int(server))
    parts = {
        "shapes": lambda: print_shapes(cpus, 1.0 if given.quick else 3.0, given.rounds or (1 if given.quick else 5)),
        "throughput": lambda: print_throughput(cpus, *((2.0, 1) if given.quick else (6.0, 3))),
        "ttft": lambda: print_ttft(cpus, 2.0 if given.quick else 15.0),
        "rate": lambda: print_rate(cpus, 5.0 if given.quick else 300.0),
        "faults": lambda: print_faults(cpus),
        "replay": lambda: print_replay(cpus, 50 if given.quick else 200),
    }
    print_heading()
    for name in given.only.split(",") if given.only else parts:
        parts[name]()


if __name__ == "__main__":
    main()
