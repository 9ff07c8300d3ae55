"""What a spec file says is what the run will do."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import (
    AutoStop,
    DeclaredMetric,
    Entry,
    ExperimentInfo,
    GcPolicy,
    InstrumentUse,
    Isolation,
    Iterations,
    Limits,
    Order,
    Parameter,
    Spec,
    Strategy,
)
from agentdyno.specs import (
    entry_where,
    expand,
    fit_overrides,
    parse_param,
    parse_spec,
    spec_changes,
    spec_document,
    spec_for,
    spec_from_document,
)

Load = Callable[..., Spec]

BASELINE = """\
experiment: my_new_benchmark
params:
  # the values of one configuration
  param1: 100
  param2: "test_value"
  # passed on as they are
  parameters:
    custom_setting: true
    test_mode: "baseline"
iterations:
  warmup: 1      # not recorded
  measured: 3    # recorded
instrumentation:
  - timing       # the clock
  - psutil       # memory and CPU
output_dir: benchmarks/results/my_new_benchmark
tags: [custom, baseline]
notes: "Baseline test for my new benchmark"
seed: 42
"""

SWEEP = """\
experiment: my_new_benchmark
params:
  param1: [50, 100, 200, 500]  # a sweep
  param2: ["option1", "option2", "option3"]
  parameters:
    custom_setting: true
iterations:
  warmup: 1
  measured: 2
instrumentation:
  - timing
  - psutil
output_dir: benchmarks/results/my_new_benchmark_sweep
tags: [custom, sweep]
notes: "Parameter sweep for my new benchmark"
seed: 42
"""

INFO = ExperimentInfo(
    "my_new_benchmark",
    parameters=(
        Parameter("param1", ("integer",), default=100),
        Parameter("param2", ("string",), default="default"),
        Parameter("parameters", ("null", "object")),
    ),
)


def test_the_baseline_example_loads_with_exactly_its_fields(load: Load, tmp_path: Path) -> None:
    assert load(BASELINE, name="my_new_benchmark_baseline.yaml") == Spec(
        limits=Limits(timeout_s=600.0),
        name="my_new_benchmark_baseline",
        entries=(
            Entry(
                "my_new_benchmark",
                params={
                    "param1": 100,
                    "param2": "test_value",
                    "parameters": {"custom_setting": True, "test_mode": "baseline"},
                },
                iterations=Iterations(warmup=1, measured=3, instrumented=1),
            ),
        ),
        instruments=(InstrumentUse("timing"), InstrumentUse("psutil")),
        output_dir="benchmarks/results/my_new_benchmark",
        tags=("custom", "baseline"),
        notes="Baseline test for my new benchmark",
        seed=42,
        base_dir=str(tmp_path),
        source=str(tmp_path / "my_new_benchmark_baseline.yaml"),
    )


def test_the_sweep_example_loads_and_expands_to_twelve_combinations(load: Load) -> None:
    spec = load(SWEEP, name="my_new_benchmark_sweep.yaml")
    (entry,) = spec.entries
    assert entry.params["param1"] == [50, 100, 200, 500]
    assert entry.iterations == Iterations(warmup=1, measured=2)
    combos = expand(entry, INFO, seed=spec.seed, where=entry_where(spec, 0))
    assert len(combos) == 12
    assert combos[0] == {"param1": 50, "param2": "option1", "parameters": {"custom_setting": True}}
    assert combos[1]["param2"] == "option2"


def test_json_files_load_like_yaml_files(load: Load) -> None:
    spec = load('{\n\t"experiment": "sort",\n\t"params": {"text": "\\ud83d\\ude00"}\n}', name="spec.json")
    assert spec.entries[0].params == {"text": "\U0001f600"}


def test_every_key_reaches_the_spec(load: Load) -> None:
    spec = load(
        """
name: all of it
experiments:
  - experiment: bench/sort.py@quick
    params: {n: 10}
    sweep: {kind: [a, b]}
    strategy: random
    samples: 2
    iterations: {auto: {precision: 0.05, min: 5, max: 50}, warmup: 0, instrumented: 2}
  - experiment: package.module:Experiment
    iterations: 7
  - experiment: slug
iterations: auto
instrumentation: [timing, {name: psutil, interval_s: 0.1}]
imports: [file.py, package.module]
parallelism: 2
isolation: inline
processes: 3
order: sequential
gc: off
inner_loops: 5
timeout_s: 60
memory_limit_mb: 1.5
output_limit_mb: 2
time_budget_s: 600.5
max_failure_rate: 1
metrics: {rows_per_s: {unit: /s, direction: higher}}
"""
    )
    auto = Iterations(warmup=0, instrumented=2, auto=AutoStop(0.05, 5, 50))
    assert spec.entries == (
        Entry("bench/sort.py@quick", {"n": 10}, {"kind": ("a", "b")}, Strategy.RANDOM, 2, auto),
        Entry("package.module:Experiment", iterations=Iterations(measured=7)),
        Entry("slug", iterations=Iterations(auto=AutoStop())),
    )
    assert spec.instruments == (InstrumentUse("timing"), InstrumentUse("psutil", {"interval_s": 0.1}))
    assert (spec.name, spec.imports) == ("all of it", ("file.py", "package.module"))
    assert (spec.isolation, spec.order, spec.gc) == (Isolation.INLINE, Order.SEQUENTIAL, GcPolicy.OFF)
    assert (spec.parallelism, spec.processes, spec.inner_loops) == (2, 3, 5)
    assert spec.limits == Limits(60.0, 1536 * 1024, 2 * 1024 * 1024)
    assert (spec.time_budget_s, spec.max_failure_rate) == (600.5, 1.0)
    assert spec.metrics == {"rows_per_s": DeclaredMetric("/s", "higher")}


def test_a_minimal_spec_gets_the_documented_defaults(load: Load) -> None:
    spec = load("experiment: sort", name="nightly.yml")
    assert spec.name == "nightly"
    assert spec.entries == (Entry("sort", iterations=Iterations(1, 10, 1, assumed=True)),)
    assert (spec.seed, spec.parallelism, spec.isolation) == (42, 1, Isolation.PROCESS)
    assert (spec.order, spec.gc, spec.inner_loops) == (Order.INTERLEAVED, GcPolicy.NORMAL, None)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("off", "off"),
        ("NO", "NO"),
        ("yes", "yes"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("true", True),
        ("~", None),
        ("1e3", 1000.0),
        ("1_000", 1000),
        ("0x10", 16),
        ("010", 10),
        ("-.5", -0.5),
        ('"5"', "5"),
        ("!!str 5", "5"),
        ("{<<: {a: 1, b: 2}, b: 3}", {"a": 1, "b": 3}),
    ],
)
def test_yaml_scalars_mean_what_they_look_like(load: Load, written: str, read: object) -> None:
    value = load(f"experiment: sort\nparams: {{x: {written}}}").entries[0].params["x"]
    assert value == read
    assert type(value) is type(read)


@pytest.mark.parametrize("gc", ["off", '"off"'])
def test_gc_off_is_the_policy_and_not_a_boolean(load: Load, gc: str) -> None:
    assert load(f"experiment: sort\ngc: {gc}").gc is GcPolicy.OFF
    assert parse_spec({"experiment": "sort", "gc": False}, source="x", base_dir=Path()).gc is GcPolicy.OFF


def test_aliases_and_merge_keys_share_settings_between_entries(load: Load) -> None:
    spec = load("experiments:\n- &first {experiment: a, params: {n: 1}}\n- {<<: *first, experiment: b}\n")
    assert [(e.experiment, e.params) for e in spec.entries] == [("a", {"n": 1}), ("b", {"n": 1})]


def test_what_stands_at_the_top_holds_for_every_experiment_unless_it_says_otherwise(load: Load) -> None:
    spec = load(
        "params: {n: 1, deep: {a: 1, b: 2}}\nsweep: {k: [1, 2]}\niterations: {warmup: 3, measured: 4}\n"
        "experiments: [{experiment: a}, {experiment: b, params: {k: 5, deep: {b: 3}}, iterations: {measured: 9}}]"
    )
    first, second = spec.entries
    assert (first.params["n"], first.sweep) == (1, {"k": (1, 2)})
    assert (second.params, second.sweep) == ({"n": 1, "k": 5, "deep": {"a": 1, "b": 3}}, {})
    assert second.iterations == Iterations(warmup=3, measured=9)


QUICK = """
experiment: sort
params: {n: [100, 1000], options: {a: 1, b: 2}}
sweep: {kind: [x, y]}
iterations: {warmup: 3, auto: {max: 50}}
tags: [full]
metrics: {rows: {unit: /s}}
quick:
  params: {n: 10, kind: x, options: {b: 5}}
  iterations: 2
  tags: [quick]
  metrics: {rows: {direction: higher}}
"""


def test_quick_changes_nothing_unless_asked_for(load: Load) -> None:
    spec = load(QUICK)
    assert spec.entries[0].params["n"] == [100, 1000]
    assert spec.tags == ("full",)


def test_quick_merges_mappings_and_replaces_sweeps_and_lists(load: Load) -> None:
    spec = load(QUICK, quick=True)
    (entry,) = spec.entries
    assert entry.params == {"n": 10, "kind": "x", "options": {"a": 1, "b": 5}}
    assert entry.sweep == {}
    assert entry.iterations == Iterations(warmup=3, measured=2)
    assert spec.tags == ("quick",)
    assert spec.metrics == {"rows": DeclaredMetric("/s", "higher")}


def test_quick_sweep_takes_the_place_of_a_parameter_and_reaches_every_entry(load: Load) -> None:
    text = (
        "experiments: [{experiment: a, params: {n: 1}}, {experiment: b, strategy: random, samples: 3}]\n"
        "quick: {sweep: {n: [1, 2]}, strategy: cartesian}"
    )
    first, second = load(text, quick=True).entries
    assert (first.params, first.sweep) == ({}, {"n": (1, 2)})
    assert (second.sweep, second.strategy, second.samples) == ({"n": (1, 2)}, Strategy.CARTESIAN, None)


def test_quick_may_measure_other_experiments(load: Load) -> None:
    text = "experiment: a\nquick: {experiments: [{experiment: b}, {experiment: c}]}"
    assert [entry.experiment for entry in load(text, quick=True).entries] == ["b", "c"]


def test_command_line_overrides_win_over_the_file_and_over_quick(load: Load) -> None:
    overrides = spec_changes(
        params={"n": [1, 2], "kind": "z", "options": {"c": 1}},
        iterations=5,
        warmup=0,
        instruments=("cprofile", "timing"),
        tags=("mine", "quick"),
        notes="again",
        output_dir="out",
        seed=7,
        isolation="inline",
        parallelism=2,
        time_budget_s=10,
        timeout_s=1.5,
    )
    spec = load(QUICK + "instrumentation: [timing]\n", quick=True, overrides=overrides)
    (entry,) = spec.entries
    assert entry.params == {"n": [1, 2], "kind": "z", "options": {"c": 1}}
    assert entry.iterations == Iterations(warmup=0, measured=5)
    assert spec.tags == ("quick", "mine")
    assert [item.name for item in spec.instruments] == ["timing", "cprofile"]
    assert (spec.notes, spec.output_dir, spec.seed, spec.isolation) == ("again", "out", 7, Isolation.INLINE)
    assert (spec.parallelism, spec.time_budget_s, spec.limits.timeout_s) == (2, 10, 1.5)


def test_an_overridden_parameter_stays_only_where_the_experiment_has_it(load: Load) -> None:
    text = "experiments: [{experiment: a, params: {n: 1}}, {experiment: b}]"
    spec = load(text, overrides=spec_changes(params={"n": 5}))
    infos = {"a": ExperimentInfo("a", parameters=(Parameter("n"),)), "b": ExperimentInfo("b")}
    fitted = fit_overrides(spec, {"n": 5}, infos)
    assert [entry.params for entry in fitted.entries] == [{"n": 5}, {}]
    with pytest.raises(SpecError, match="has no parameter 'n'"):
        expand(spec.entries[1], infos["b"], seed=0, where=entry_where(spec, 1))
    with pytest.raises(SpecError, match="no experiment of spec has a parameter 'nn'") as caught:
        fit_overrides(spec, {"nn": 5}, infos)
    assert caught.value.where == "command line: params.nn"
    assert caught.value.remedy == "Did you mean n?"


def test_an_experiment_runs_without_a_file(tmp_path: Path) -> None:
    spec = spec_for("bench.py@quick_sort", base_dir=tmp_path, overrides=spec_changes(params={"n": 3}, iterations=4))
    assert spec.name == "quick_sort"
    assert spec.entries == (Entry("bench.py@quick_sort", {"n": 3}, iterations=Iterations(measured=4)),)
    assert spec.base_dir == str(tmp_path)


def test_a_mapping_from_python_is_a_spec(tmp_path: Path) -> None:
    document = {"experiments": [{"experiment": "m:a"}, {"experiment": "b"}], "output_dir": tmp_path, "tags": ("x",)}
    spec = parse_spec(document, source="script", base_dir=tmp_path)
    assert (spec.name, spec.output_dir, spec.tags, spec.source) == ("a +1", str(tmp_path), ("x",), "script")


def test_a_spec_survives_its_stored_form(load: Load) -> None:
    spec = load(QUICK + "instrumentation: [{name: psutil, interval_s: 0.5}]\ngc: collect\ninner_loops: 4")
    assert spec_from_document(spec_document(spec)) == spec


@pytest.mark.parametrize("document", [{}, {"name": "x", "entries": 3}, {"name": 1, "entries": []}])
def test_a_damaged_stored_spec_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(SpecError, match="not the stored form of a spec"):
        spec_from_document(document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("param1=200", ("param1", 200)),
        ("ratio=0.5", ("ratio", 0.5)),
        ("on=true", ("on", True)),
        ("name=", ("name", "")),
        ("mode=off", ("mode", "off")),
        ("sizes=[1, 2]", ("sizes", [1, 2])),
        ("options={a: x=y}", ("options", {"a": "x=y"})),
        ("url=http://host:80/a", ("url", "http://host:80/a")),
        ("none=null", ("none", None)),
    ],
)
def test_a_parameter_on_the_command_line_is_a_yaml_value(text: str, expected: tuple[str, object]) -> None:
    assert parse_param(text) == expected


@pytest.mark.parametrize(
    "text", ["param1", "=3", "a=[1", "a=b: c", "a=#fff", "a=x # y", "a=- 1", "a=.nan", "a={a: 1, a: 2}", "a=*x"]
)
def test_a_bad_parameter_on_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_param(text)
    assert caught.value.where is not None
    assert caught.value.where.startswith("command line: params")
    assert caught.value.remedy


def test_importing_the_package_and_its_overrides_loads_no_heavy_module() -> None:
    script = (
        "import sys, agentdyno.specs as s; s.spec_changes(); s.make_plan; s.expand; s.build_arms; s.load_spec\n"
        "sys.exit(', '.join({'pydantic', 'yaml'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")


PHASES = """\
experiments:
  - {experiment: retrieval, name: gpu}
  - {experiment: retrieval, name: gpu layers, params: {index: tree}}
  - {experiment: bench/sort.py@quick_sort}
quick: {only: [gpu]}
"""


def test_only_chooses_entries_by_their_names_or_that_of_their_experiment(load: Load) -> None:
    def names(**changes: object) -> list[str]:
        return [entry.name for entry in load(PHASES, overrides=spec_changes(**changes)).entries]

    assert names() == ["gpu", "gpu layers", ""]
    assert names(only=("gpu layers", "gpu")) == ["gpu", "gpu layers"]
    assert names(only=("quick_sort",)) == [""]
    assert [entry.name for entry in load(PHASES, quick=True).entries] == ["gpu"]


def test_an_unknown_name_is_refused_with_the_nearest_one(load: Load) -> None:
    with pytest.raises(SpecError, match="no experiment is named 'gpu layer'") as caught:
        load(PHASES, overrides=spec_changes(only=("gpu layer",)))
    assert caught.value.remedy == "Did you mean gpu layers or gpu?"


@pytest.mark.parametrize("name", ["a=b", "a [b]", "a #1", " a"])
def test_names_that_could_be_taken_for_parameters_are_refused(load: Load, name: str) -> None:
    with pytest.raises(SpecError, match=r"experiments\[0\]\.name: expected a name without"):
        load(f"experiments: [{{experiment: retrieval, name: '{name}'}}]")


def test_an_arm_belongs_to_the_entry_with_the_longest_fitting_name(load: Load) -> None:
    spec = load(PHASES)
    assert spec.entry_of("gpu") == "gpu"
    assert spec.entry_of("gpu layers=3") == "gpu"
    assert spec.entry_of("gpu layers index=tree") == "gpu layers"
    assert spec.entry_of("quick_sort") == ""


def test_a_spec_without_names_is_stored_as_it_was(load: Load) -> None:
    spec = load("experiment: retrieval")
    assert "name" not in spec_document(spec)["entries"][0]  # type: ignore[index]
    assert spec_from_document(spec_document(load(PHASES))) == load(PHASES)


def test_bands_are_asked_for_by_true_or_by_thresholds_of_ones_own(load: Load) -> None:
    assert load("experiment: retrieval").bands is None
    assert load("{experiment: retrieval, bands: true}").bands == {}
    assert load("{experiment: retrieval, bands: {latency_p95_s: 1}}").bands == {"latency_p95_s": 1.0}


@pytest.mark.parametrize(
    ("bands", "said"),
    [
        ("{cv_good: 0.01}", "bands.cv_excellent: expected at most cv_good, which is 0.01, got 0.05"),
        ("{latency_p95: 1}", "bands.latency_p95: unknown key"),
        ("{gpu_busy: 80}", "bands.gpu_busy: expected at most 1"),
        ("false", "bands: expected"),
    ],
)
def test_bands_that_cannot_be_are_refused(load: Load, bands: str, said: str) -> None:
    with pytest.raises(SpecError, match=re.escape(said)):
        load(f"{{experiment: retrieval, bands: {bands}}}")
