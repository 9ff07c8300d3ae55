"""Do the phases of a profile come out as they were? An agent with known delays, beside what its profile says.

Each case asks a model (50 ms), calls a tool (30 ms), computes (20 ms of CPU time) and waits before a retry (40 ms).
These are real delays, and beside other work they are longer than planted, so the agent tells how long each really
was. The medians over executions have to be within 5 % of that. Printed as well: what making a profile takes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import PYTHON, met, print_heading, print_table, run_process

GOAL = 0.05
PLANTED_MS = {"model": 50.0, "tool": 30.0, "own_code": 20.0, "retry_wait": 40.0}
AGENT = """
import time

from agentdyno import tool_call
from agentdyno.agents.hosting.recorder import current


def waited(seconds):
    started = time.perf_counter()
    time.sleep(seconds)
    return time.perf_counter() - started


def answer(text):
    recorder = current()
    model_s = waited(0.050)
    recorder.model_call("m", None, duration_s=model_s)
    with tool_call("search", text) as result:
        tool_s = waited(0.030)
        result.append(tool_s)
    before = time.process_time()
    while time.process_time() < before + 0.020:
        pass
    own_s = time.process_time() - before
    wait_s = waited(0.040)
    recorder.event("wait", "rate limit", duration_s=wait_s)
    took = {"model": model_s, "tool": tool_s, "own_code": own_s, "retry_wait": wait_s}
    return {"output": text, "readings": {f"took.{name}": value for name, value in took.items()}}
"""
SUITE = """
suite_id: delays
epochs: {epochs}
benchmarks:
  - benchmark_id: echo
    scoring_rubric: exact
    dataset: {{cases: [{{id: a, input: x, target: x}}, {{id: b, input: y, target: y}}]}}
"""


def phases(folder: Path) -> tuple[dict[str, list[float]], float]:
    """Milliseconds of each phase in each execution of the newest run, and seconds that the profile of all takes."""
    from agentdyno.findings.profile.ask import ProfileQuestion, Profiles, execution_of
    from agentdyno.findings.profile.judge import ProfileSubject, make_profile
    from agentdyno.model import Phase
    from agentdyno.store import Store

    found: dict[str, list[float]] = {}
    with Store.open(folder / ".dyno" / "dyno.db") as store:
        run_id = store.runs.find("last")
        for sample in store.runs.iter_samples(run_id, details=True):
            if sample.phase is Phase.MEASURED:
                profile = make_profile(ProfileSubject("agent"), [execution_of(sample, "echo")])
                for name, value in sample.readings.items():
                    if "took." in name:
                        found.setdefault(f"took.{name.rpartition('.')[2]}", []).append(value * 1e3)
                for phase in profile.profile_data.execution_phases:
                    found.setdefault(phase.phase_name, []).append(phase.duration_ms)
        started = time.perf_counter()
        Profiles(store).report(ProfileQuestion(run_id))
        return found, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 epochs instead of 50: shows that it works")
    epochs = 5 if parser.parse_args().quick else 50
    print_heading()
    with tempfile.TemporaryDirectory(prefix="dyno-profile-") as name:
        folder = Path(name)
        (folder / "agent.py").write_text(AGENT)
        (folder / "suite.yaml").write_text(SUITE.format(epochs=epochs))
        command = [PYTHON, str(Path(PYTHON).parent / "dyno"), "run", "suite.yaml", "--agent", "agent.py@answer"]
        run_process(command, {}, folder)
        found, took_s = phases(folder)
    rows = []
    for phase, planted_ms in PLANTED_MS.items():
        seen_ms = statistics.median(found[phase])
        took_ms = statistics.median(found[f"took.{phase}"])
        off = seen_ms / took_ms - 1
        rows.append(
            (
                phase,
                f"{planted_ms:.0f}",
                f"{took_ms:.2f}",
                f"{seen_ms:.2f}",
                f"{off:+.1%}",
                f"<= {GOAL:.0%} {met(abs(off) <= GOAL)}",
            )
        )
    rows.append(("idle", "0", "", f"{statistics.median(found['idle']):.2f}", "", ""))
    executions = len(found["model"])
    note = (
        f"{executions} executions; their profile took {took_s * 1e3:.1f} ms, {took_s / executions * 1e6:.0f} µs each."
    )
    header = ("phase", "planted ms", "took ms", "profile ms", "off", "goal")
    print_table("Phases of real delays, as the profile has them", header, rows, (note,))


if __name__ == "__main__":
    main()
