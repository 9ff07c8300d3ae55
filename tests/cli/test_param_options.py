"""Options that are parameters of what is run."""

from __future__ import annotations

import click
import pytest

from agentdyno.cli.bench.param_options import in_singular, take_params

from ..command import Bench

KNOWN = ("--iterations", "--seed", "--store")
SPEC = "name: naps\nexperiment: naps.py@Naps\nsweep: {length: [1, 2, 3]}\niterations: {warmup: 0, measured: 1}\n"
NAPS = """
from agentdyno import Experiment

class Naps(Experiment):
    def __init__(self, length: int = 1, deep: bool = False) -> None:
        super().__init__({"length": length, "deep": deep})

    def execute_once(self, context):
        return {"length": self.params["length"]}
"""


def test_values_are_read_as_those_of_p_and_a_flag_is_true() -> None:
    given = ["--episodes", "100", "--stub", "--rate=0.5", "--algorithms", "grpo", "ppo"]
    assert take_params(given, KNOWN) == {"episodes": 100, "stub": True, "rate": 0.5, "algorithms": ["grpo", "ppo"]}
    assert take_params(["--evaluate-every", "5"], KNOWN) == {"evaluate_every": 5}


def test_what_looks_like_an_option_of_ours_is_a_typing_error() -> None:
    with pytest.raises(click.NoSuchOption, match="--iteratons") as caught:
        take_params(["--iteratons", "3"], KNOWN)
    assert "--iterations" in (caught.value.possibilities or ())
    with pytest.raises(click.UsageError, match=r"unexpected extra argument \(another\)"):
        take_params(["another"], KNOWN)


def test_the_plural_stands_for_values_of_what_the_file_has() -> None:
    document = {"sweep": {"algorithm": ["grpo"]}, "params": {"episodes": 5}}
    assert in_singular({"algorithms": ["a", "b"], "episodes": 7}, document) == {
        "algorithm": ["a", "b"],
        "episodes": 7,
    }
    assert in_singular({"algorithms": "all"}, document) == {}
    assert in_singular({"rows": 3}, document) == {"rows": 3}


def test_a_spec_is_run_with_its_parameters_as_options(bench: Bench) -> None:
    bench.write("naps.py", NAPS)
    bench.write("naps.yaml", SPEC)
    done = bench.dyno("run", "naps.yaml", "--lengths", "1", "3", "--deep", "--json")
    assert done.code == 0, done.err
    assert [arm["params"] for arm in done.json["arms"]] == [{"length": n, "deep": True} for n in (1, 3)]
    unknown = bench.dyno("run", "naps.yaml", "--lenght", "3", "--dry-run")
    assert (unknown.code, "Did you mean length" in unknown.err) == (2, True)
    first = bench.dyno("run", "--deep", "naps.yaml")
    assert (first.code, "No such option" in first.err) == (2, True)
