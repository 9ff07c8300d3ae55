"""Every mistake in a spec is one error that names the file, the key and the remedy."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.specs import load_spec, parse_spec, spec_changes, spec_for

Refuse = Callable[..., SpecError]


@pytest.mark.parametrize(
    ("text", "key", "message", "remedy"),
    [
        ("{}", "experiment", "got neither experiment nor experiments", "Add `experiment: NAME`"),
        ("{experiment: a, experiments: [{experiment: b}]}", "experiments", "got both", "Remove one"),
        ("{experiments: []}", "experiments", "an empty list", "For example `experiments: [{experiment:"),
        ("{experiment: 3}", "experiment", "expected text, got an integer 3", "For example `experiment: retrieval`"),
        ("{experiment: ''}", "experiment", "expected text on one line", "printable"),
        ("{experiment: a@b}", "experiment", "expected path/file.py@name", "bench/sort.py@quick_sort"),
        ("{experiment: 'm:'}", "experiment", "expected module:attribute", "package.module:Experiment"),
        ("{experiment: a, iteration: 3}", "iteration", "unknown key 'iteration'", "Did you mean iterations"),
        ("{experiment: a, iterations: {mesured: 3}}", "iterations.mesured", "unknown key", "Did you mean measured?"),
        ("{experiment: a, iterations: {measured: 0}}", "iterations.measured", "at least 1, got an integer 0", "10"),
        ("{experiment: a, iterations: {measured: true}}", "iterations.measured", "an integer, got true", "10"),
        ("{experiment: a, iterations: {measured: 2.0}}", "iterations.measured", "got a number 2.0", "10"),
        ("{experiment: a, iterations: {measured: '2'}}", "iterations.measured", "got text '2'", "10"),
        ("{experiment: a, iterations: {warmup: -1}}", "iterations.warmup", "at least 0, got an integer -1", "1"),
        ("{experiment: a, iterations: {instrumented: -1}}", "iterations.instrumented", "at least 0", "1"),
        ("{experiment: a, iterations: 0}", "iterations", "expected 1 to 1,000,000, got 0", "measured"),
        ("{experiment: a, iterations: many}", "iterations", "got text 'many'", "iterations: auto"),
        ("{experiment: a, iterations: false}", "iterations", "got false", "iterations: auto"),
        ("{experiment: a, iterations: {auto: {precision: 0}}}", "iterations.auto.precision", "more than 0", "0.02"),
        ("{experiment: a, iterations: {auto: {min: 9, max: 3}}}", "iterations.auto.max", "9 and 3", "Raise max"),
        ("{experiment: a, iterations: {auto: {}, measured: 3}}", "iterations.measured", "got both", "Remove one"),
        ("{experiment: a, params: [1]}", "params", "expected a mapping, got a list", "For example `params:"),
        ("{experiment: a, params: }", "params", "got nothing (null)", "For example `params:"),
        ("{experiment: a, sweep: {n: 3}}", "sweep.n", "expected a list, got an integer 3", "For example `sweep:"),
        ("{experiment: a, sweep: {n: []}}", "sweep.n", "got an empty list", "For example `sweep:"),
        ("{experiment: a, params: {n: 1}, sweep: {n: [1]}}", "sweep.n", "in params or in sweep, got both", "Remove"),
        ("{experiment: a, strategy: grid}", "strategy", "'cartesian', 'random' or 'zip', got text 'grid'", "cart"),
        ("{experiment: a, strategy: random}", "samples", "expected a number of combinations", "samples: 20"),
        ("{experiment: a, samples: 3}", "samples", "no samples with strategy cartesian", "strategy: random"),
        ("{experiment: a, strategy: random, samples: 0}", "samples", "at least 1", "samples: 20"),
        (
            "{experiment: a, strategy: zip, sweep: {n: [1, 2], m: [1, 2, 3]}}",
            "sweep",
            "got 2 for n, 3 for m",
            "equally long",
        ),
        ("{experiment: a, instrumentation: timing}", "instrumentation", "expected a list", "timing"),
        ("{experiment: a, instrumentation: [3]}", "instrumentation[0]", "instrument's name", "- timing"),
        ("{experiment: a, instrumentation: [{psutil: {}}]}", "instrumentation[0]", "got 'psutil'", "beside the name"),
        ("{experiment: a, instrumentation: [x, x]}", "instrumentation[1]", "x appears twice", "Keep one"),
        ("{experiment: a, tags: [2024]}", "tags[0]", "expected text, got an integer 2024", "For example `tags:"),
        ("{experiment: a, imports: ['']}", "imports[0]", "text on one line", "printable"),
        ("{experiment: a, output_dir: 3}", "output_dir", "expected text", "For example `output_dir:"),
        ("{experiment: a, notes: [x]}", "notes", "expected text, got a list of 1", "For example `notes:"),
        ("{experiment: a, seed: -1}", "seed", "at least 0", "seed: 42"),
        ("{experiment: a, seed: 99999999999999999999}", "seed", "beyond 64 bits", "quotes"),
        ("{experiment: a, parallelism: 0}", "parallelism", "at least 1", "parallelism: 1"),
        ("{experiment: a, processes: 0}", "processes", "at least 1", "processes: 1"),
        ("{experiment: a, isolation: container}", "isolation", "'inline' or 'process'", "isolation: process"),
        ("{experiment: a, order: random}", "order", "'interleaved' or 'sequential'", "order: interleaved"),
        ("{experiment: a, gc: true}", "gc", "'normal', 'off' or 'collect', got true", "gc: normal"),
        ("{experiment: a, inner_loops: 0}", "inner_loops", "auto or an integer of at least 1", "inner_loops: auto"),
        ("{experiment: a, timeout_s: 0}", "timeout_s", "more than 0", "timeout_s: 60"),
        ("{experiment: a, timeout_s: .nan}", "timeout_s", "expected a finite number, got nan", "finite"),
        ("{experiment: a, params: {x: [1, -.inf]}}", "params.x[1]", "expected a finite number, got -inf", "finite"),
        ("{experiment: a, memory_limit_mb: -5}", "memory_limit_mb", "more than 0", "2048"),
        ("{experiment: a, output_limit_mb: 0}", "output_limit_mb", "more than 0", "16"),
        ("{experiment: a, time_budget_s: '9'}", "time_budget_s", "expected a number, got text '9'", "600"),
        ("{experiment: a, max_failure_rate: 1.5}", "max_failure_rate", "at most 1, got a number 1.5", "0.5"),
        ("{experiment: a, max_failure_rate: -0.1}", "max_failure_rate", "at least 0", "0.5"),
        ("{experiment: a, metrics: {r: {dir: up}}}", "metrics.r.dir", "unknown key 'dir'", "direction"),
        ("{experiment: a, metrics: {r: {direction: up}}}", "metrics.r.direction", "'higher', 'lower'", "higher"),
        ("{experiment: a, quick: {iterations: {measured: 0}}}", "quick.iterations.measured", "at least 1", "10"),
        ("{experiment: a, quick: {quick: {}}}", "quick.quick", "unknown key 'quick'", ""),
        ("{experiments: [{experiment: a}, {params: {}}]}", "experiments[1].experiment", "missing", "retrieval"),
        ("{experiments: [{experiment: a, seed: 3}]}", "experiments[0].seed", "unknown key 'seed'", "sweep"),
        ("{experiments: [{experiment: a, strategy: random}]}", "experiments[0].samples", "none", "samples: 20"),
        ("{experiment: a, params: {3: x}}", "params", "expected text as a key, got 3", "quotes"),
        (
            "{experiment: a, params: {x: !!python/name:os.system y}}",
            "params.x",
            "tag !!python/name",
            "Remove the tag",
        ),
        ("{experiment: a, params: {x: !!int abc}}", "params.x", "'abc' cannot be read as int (line 1)", "quotes"),
        ('{experiment: a, params: {x: "\\ud800"}}', "params.x", "half a surrogate pair", "character itself"),
        ("{experiment: a, params: &p {x: *p}}", "params.x.x", "an alias that contains itself", "Flatten"),
    ],
)
def test_a_bad_value_is_refused_with_its_key(refused: Refuse, text: str, key: str, message: str, remedy: str) -> None:
    error = refused(text)
    assert error.where == f"spec.yaml: {key}"
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_all_problems_are_told_at_once(refused: Refuse) -> None:
    error = refused("{experiment: a, sed: 1, parallelism: 0, iterations: {measured: x}}")
    assert error.where == "spec.yaml: iterations.measured"
    lines = error.message.splitlines()
    assert lines[0] == "expected an integer, got text 'x'"
    assert any("also parallelism: expected at least 1, got an integer 0" in line for line in lines)
    assert any("also sed: unknown key 'sed' (Did you mean seed" in line for line in lines)


def test_a_flood_of_problems_is_cut_short(refused: Refuse) -> None:
    error = refused("experiment: a\n" + "".join(f"k{i}: 1\n" for i in range(50)))
    assert len(error.message.splitlines()) == 22
    assert "and 29 more" in error.message


def test_the_product_of_a_sweep_that_is_too_large_is_shown(refused: Refuse) -> None:
    values = list(range(101))
    error = refused(f"{{experiment: a, sweep: {{a: {values}, b: {values}}}}}")
    assert error.where == "spec.yaml: sweep"
    assert error.message == "expected at most 10,000 combinations, got 101 x 101 = 10,201"
    assert "strategy: random" in (error.remedy or "")


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("experiment: a\n\tseed: 1", "spec.yaml: line 2, column 1", r"found character '\t'"),
        ("experiment: a\nparams: {x: [1, 2\n", "spec.yaml: line 3, column 1", "expected ',' or ']'"),
        ("experiment: a\n bad\n: x: y", "spec.yaml: line 3, column 1", "not valid YAML"),
        ("experiment: a\nnotes: x\x07", "spec.yaml: line 2, column 9", "cannot be printed"),
        ("experiment: a\n---\nexperiment: b", "spec.yaml: line 2, column 1", "another document"),
        ("experiment: *nobody", "spec.yaml: line 1, column 13", "undefined alias"),
    ],
)
def test_bad_yaml_is_refused_with_line_and_column(refused: Refuse, text: str, where: str, message: str) -> None:
    error = refused(text)
    assert error.where == where
    assert message in error.message


def test_bad_json_is_refused_with_line_and_column(refused: Refuse) -> None:
    error = refused('{\n "experiment": "a"\n "seed": 1}', name="spec.json")
    assert error.where == "spec.json: line 3, column 2"
    assert "not valid JSON" in error.message


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"experiment": "a", "seed": ' + "9" * 5000 + "}"]
)
@pytest.mark.parametrize("name", ["spec.json", "spec.yaml"])
def test_documents_beyond_reason_are_refused(refused: Refuse, text: str, name: str) -> None:
    assert refused(text, name=name).where is not None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("experiment: a\niterations:\n  measured: 1\n  warmup: 0\n  measured: 2\n", "spec.yaml"),
        ('{"experiment": "a",\n"iterations": {\n\t"measured": 1,\n"warmup": 0,\n"measured": 2}}', "spec.json"),
    ],
)
def test_a_duplicate_key_is_refused_naming_both_lines(refused: Refuse, text: str, name: str) -> None:
    error = refused(text, name=name)
    assert error.where == f"{name}: iterations.measured"
    assert error.message == "the key 'measured' appears twice, on lines 3 and 5"
    assert error.remedy == "Keep one of the two."


def test_aliases_that_multiply_are_refused(refused: Refuse) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert "more than 100,000 values with aliases expanded" in refused("\n".join(rows)).message


@pytest.mark.parametrize(
    ("data", "message", "remedy"),
    [
        (b"", "the file is empty", "experiment: NAME"),
        (b" \n\n", "the file is empty", "experiment: NAME"),
        (b"# only a comment\n", "the file holds nothing", "experiment: NAME"),
        (b"- experiment: a\n", "expected a mapping at the top, got a list of 1", "experiment: NAME"),
        (b"sort\n", "expected a mapping at the top, got text 'sort'", "experiment: NAME"),
        (b"experiment: caf\xe9\n", "not UTF-8 text (byte 15, line 1)", "Save the file as UTF-8"),
        ("experiment: a".encode("utf-16"), "not UTF-8 text", "Save the file as UTF-8"),
        (b"#" * (1024 * 1024 + 1), "expected at most 1 MiB", "files of its own"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused(refused: Refuse, data: bytes, message: str, remedy: str) -> None:
    error = refused(data)
    assert error.where == "spec.yaml"
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_a_missing_file_is_refused_with_the_nearest_names(tmp_path: Path) -> None:
    (tmp_path / "observation_sweep.yaml").touch()
    (tmp_path / "notes.txt").touch()
    with pytest.raises(SpecError, match="no such file") as caught:
        load_spec(tmp_path / "observaton_sweep.yaml")
    assert caught.value.where == str(tmp_path / "observaton_sweep.yaml")
    assert caught.value.remedy == "Did you mean observation_sweep.yaml?"
    with pytest.raises(SpecError) as caught:
        load_spec(tmp_path / "nowhere" / "spec.yaml")
    assert "There is no folder" in (caught.value.remedy or "")


def test_a_folder_is_refused_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "sweep.yaml").touch()
    with pytest.raises(SpecError, match="is a folder") as caught:
        load_spec(tmp_path)
    assert "sweep.yaml" in (caught.value.remedy or "")


def test_a_bad_override_is_refused_as_the_command_lines(refused: Refuse) -> None:
    error = refused("experiment: a", overrides=spec_changes(iterations=0, seed=-1))
    assert error.where == "command line: iterations.measured"
    assert "also seed" in error.message


@pytest.mark.parametrize("value", [datetime.date(2024, 1, 1), {1, 2}, object(), b"x", float("inf"), {1: 2}])
def test_python_values_that_json_cannot_hold_are_refused(value: object) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec({"experiment": "a", "params": {"x": value}}, source="script.py", base_dir=Path())
    assert caught.value.where == "script.py: params.x"


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(SpecError, match="32 levels"):
        parse_spec({"experiment": "a", "params": {"x": loop}}, source="script.py", base_dir=Path())


def test_a_bad_reference_without_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        spec_for("bench.txt@sort", base_dir=tmp_path, overrides=spec_changes())
    assert caught.value.where == "bench.txt@sort: experiment"
