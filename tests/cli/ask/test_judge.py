"""``dyno judge calibrate``: what it says of a judge that a gate would not follow."""

from __future__ import annotations

from ...command import Bench

SUITE = """
name: even
epochs: 1
warmup: 0
agents: [agent.py@answer]
scorer: {name: model_graded, agent: judge.py@judge}
dataset: [%s]
"""
CODE = """
def answer(text):
    return text
def judge(text):
    return "GRADE: PASS"
"""


def test_a_calibration_that_a_gate_does_not_follow_says_why(loaded_bench: Bench) -> None:
    cases = ", ".join(f"{{id: c{place}, input: '{place}', target: x}}" for place in range(6))
    loaded_bench.write("suite.yaml", SUITE % cases)
    loaded_bench.write("agent.py", CODE)
    loaded_bench.write("judge.py", CODE)
    loaded_bench.write("labels.csv", "case,label\n" + "".join(f"c{place},right\n" for place in range(5)))
    assert loaded_bench.dyno("run", "suite.yaml").code == 0
    done = loaded_bench.dyno("judge", "calibrate", "labels.csv")
    assert done.code == 0, done.err
    told = " ".join(done.err.split())
    assert "A gate does not block on it: its calibration rests on 5 labelled answers, 20 are needed" in told
