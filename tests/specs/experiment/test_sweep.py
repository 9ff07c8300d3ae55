"""An entry becomes its combinations, and combinations become arms with readable names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.model import Arm, Entry, ExperimentInfo, Parameter, Side, Strategy
from agentdyno.model.identity import experiment_arm_id
from agentdyno.specs import build_arms, distinct_names, expand

INFO = ExperimentInfo(
    "retrieval",
    parameters=(
        Parameter("documents", ("integer",), default=100, minimum=1),
        Parameter("index", ("string",), default="scan", choices=("scan", "tree")),
        Parameter("sizes", ("array",), default=(1, 2)),
        Parameter("anything", default=None),
        Parameter("listed", default=[]),
    ),
)
DEFAULTS = {"documents": 100, "index": "scan", "sizes": (1, 2), "anything": None, "listed": []}


def combos(entry: Entry, info: ExperimentInfo = INFO, seed: int = 1) -> list[dict[str, object]]:
    return expand(entry, info, seed=seed, where="spec.yaml")


def refusal(entry: Entry, info: ExperimentInfo = INFO, where: str = "spec.yaml") -> SpecError:
    with pytest.raises(SpecError) as caught:
        expand(entry, info, seed=1, where=where)
    assert caught.value.remedy
    return caught.value


def test_defaults_are_filled_in_in_the_declared_order() -> None:
    (combo,) = combos(Entry("retrieval", {"index": "tree"}))
    assert combo == {**DEFAULTS, "index": "tree"}
    assert list(combo) == list(DEFAULTS)


def test_a_list_for_a_plain_parameter_is_a_sweep_and_for_a_list_parameter_a_value() -> None:
    entry = Entry("retrieval", {"documents": [1, 2], "sizes": [[1, 2], [3]], "anything": [7, 8], "listed": [5]})
    found = combos(entry)
    assert [(c["documents"], c["anything"]) for c in found] == [(1, 7), (1, 8), (2, 7), (2, 8)]
    assert all(c["sizes"] == [[1, 2], [3]] and c["listed"] == [5] for c in found)


def test_a_list_parameter_is_swept_by_a_list_of_lists_under_sweep() -> None:
    assert [c["sizes"] for c in combos(Entry("retrieval", sweep={"sizes": ([1], [2, 3])}))] == [[1], [2, 3]]


def test_zip_pairs_values_across_params_and_sweep() -> None:
    entry = Entry("retrieval", {"documents": [1, 2]}, {"index": ("scan", "tree")}, Strategy.ZIP)
    assert [(c["documents"], c["index"]) for c in combos(entry)] == [(1, "scan"), (2, "tree")]


def test_zip_of_unequal_lists_is_refused_naming_both_lengths() -> None:
    error = refusal(Entry("retrieval", {"documents": [1, 2, 3]}, {"index": ("scan", "tree")}, Strategy.ZIP))
    assert "3 for documents, 2 for index" in error.message


@pytest.mark.parametrize(
    ("params", "key", "message", "remedy"),
    [
        ({"document": 1}, "params.document", "retrieval has no parameter 'document'", "Did you mean documents?"),
        ({"documents": "1"}, "params.documents", "expected integer, got string '1'", "type integer"),
        ({"documents": [1, "2"]}, "params.documents[1]", "got string '2'", "type integer"),
        ({"documents": 0}, "params.documents", "expected at least 1", "documents"),
        ({"documents": True}, "params.documents", "expected integer, got boolean", "type integer"),
        ({"documents": []}, "params.documents", "at least one value", "remove the key"),
        ({"documents": [1, 2, 1]}, "params.documents", "got 1 twice (numbers 1 and 3)", "iterations"),
        ({"index": "hash"}, "params.index", "expected one of 'scan', 'tree'", "Known: scan, tree."),
        ({"index": "scam"}, "params.index", "expected one of 'scan', 'tree'", "Did you mean scan?"),
        ({"sizes": 3}, "params.sizes", "expected array, got integer 3", "type array"),
    ],
)
def test_a_bad_parameter_is_refused_with_its_key(
    params: dict[str, object], key: str, message: str, remedy: str
) -> None:
    error = refusal(Entry("retrieval", params))
    assert error.where == f"spec.yaml: {key}"
    assert message in error.message
    assert remedy in (error.remedy or "")


def test_a_bad_sweep_value_in_the_second_entry_is_refused_with_its_full_key() -> None:
    error = refusal(Entry("retrieval", sweep={"documents": (1, 2.5)}), where="spec.yaml: experiments[1]")
    assert error.where == "spec.yaml: experiments[1].sweep.documents[1]"


def test_all_problems_of_an_entry_are_told_at_once() -> None:
    error = refusal(Entry("retrieval", {"documnts": 1, "index": 3}))
    assert error.where == "spec.yaml: params.documnts"
    assert "also params.index: expected one of" in error.message


def test_a_required_parameter_must_be_given() -> None:
    info = ExperimentInfo("sort", parameters=(Parameter("n", ("integer",), required=True),))
    error = refusal(Entry("sort"), info)
    assert error.where == "spec.yaml: params.n"
    assert "which sort requires" in error.message
    assert combos(Entry("sort", sweep={"n": (1,)}), info) == [{"n": 1}]


def test_words_of_yaml_booleans_and_unquoted_numbers_get_a_fitting_remedy() -> None:
    info = ExperimentInfo("x", parameters=(Parameter("flag", ("boolean",)), Parameter("text", ("string",))))
    assert refusal(Entry("x", {"flag": "yes"}), info).remedy == "Write true or false."
    assert refusal(Entry("x", {"text": 10}), info).remedy == 'Put it in quotes: "10".'


def test_an_open_experiment_takes_further_parameters_and_sweeps_them() -> None:
    info = ExperimentInfo("x", parameters=(Parameter("n", default=1),), open=True)
    found = combos(Entry("x", {"b": [1, 2], "a": 3}), info)
    assert found == [{"n": 1, "a": 3, "b": 1}, {"n": 1, "a": 3, "b": 2}]


def test_a_default_that_a_result_cannot_hold_is_left_to_the_experiment() -> None:
    info = ExperimentInfo(
        "x",
        parameters=(
            Parameter("a", default=object()),
            Parameter("b", default=float("inf")),
            Parameter("c", ("number",), default="DEFAULT_TIMEOUT"),
            Parameter("d", default={"k": [1]}),
        ),
    )
    assert combos(Entry("x"), info) == [{"d": {"k": [1]}}]


def test_too_many_combinations_are_refused_with_the_product() -> None:
    info = ExperimentInfo("x", open=True)
    error = refusal(Entry("x", {"a": list(range(200)), "b": list(range(100))}), info)
    assert error.message == "expected at most 10,000 combinations, got 200 x 100 = 20,000"
    many = {f"p{i}": list(range(10)) for i in range(400)}
    assert "about 10^400" in refusal(Entry("x", many), info).message


def test_a_random_draw_takes_all_where_there_are_fewer() -> None:
    assert len(combos(Entry("retrieval", {"documents": [1, 2, 3]}, {}, Strategy.RANDOM, 20))) == 3


def test_doubled_rows_of_a_zip_are_refused_and_doubled_columns_are_not() -> None:
    info = ExperimentInfo("x", open=True)
    assert len(combos(Entry("x", {}, {"a": (1, 1), "b": (1, 2)}, Strategy.ZIP), info)) == 2
    assert "twice" in refusal(Entry("x", {}, {"a": (1, 1), "b": (2, 2)}, Strategy.ZIP), info).message


AXES = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d"]),
    st.lists(st.integers(0, 50), min_size=1, max_size=6, unique=True),
    min_size=1,
)


@given(axes=AXES, samples=st.integers(1, 60), seed=st.integers(0, 2**63 - 1))
def test_counts_of_each_strategy(axes: dict[str, list[int]], samples: int, seed: int) -> None:
    info = ExperimentInfo("x", open=True)
    sweep = {name: tuple(values) for name, values in axes.items()}
    total = 1
    for values in axes.values():
        total *= len(values)
    every = combos(Entry("x", {}, sweep), info, seed)
    assert len(every) == total
    assert len({tuple(sorted(c.items(), key=str)) for c in every}) == total
    entry = Entry("x", {}, sweep, Strategy.RANDOM, samples)
    drawn = combos(entry, info, seed)
    assert len(drawn) == min(samples, total)
    assert all(c in every for c in drawn)
    assert len({tuple(sorted(c.items(), key=str)) for c in drawn}) == len(drawn)
    assert combos(entry, info, seed) == drawn
    shortest = min(map(len, axes.values()))
    equal = {name: values[:shortest] for name, values in sweep.items()}
    assert len(combos(Entry("x", {}, equal, Strategy.ZIP), info, seed)) == shortest


def test_a_random_draw_from_an_immense_grid_is_quick_distinct_and_depends_on_the_seed() -> None:
    info = ExperimentInfo("x", open=True)
    entry = Entry("x", {f"p{i}": list(range(100)) for i in range(40)}, {}, Strategy.RANDOM, 500)
    drawn = combos(entry, info, 1)
    assert len({tuple(c.values()) for c in drawn}) == 500
    assert combos(entry, info, 2) != drawn


def test_arms_are_named_by_what_varies() -> None:
    entry = Entry("bench.py@retrieval", {"index": ["scan", "tree"], "anything": "fixed"}, {"documents": (100, 200)})
    arms = build_arms(entry, INFO, combos(entry))
    assert [arm.name for arm in arms] == [
        "retrieval index=scan documents=100",
        "retrieval index=scan documents=200",
        "retrieval index=tree documents=100",
        "retrieval index=tree documents=200",
    ]
    assert arms[0].params == {**DEFAULTS, "anything": "fixed"}
    assert arms[0].arm_id == experiment_arm_id("retrieval", arms[0].params)
    assert arms[0].experiment == "retrieval"


def test_a_single_arm_has_the_experiments_name_and_sides_are_told_apart() -> None:
    entry = Entry("retrieval")
    (arm,) = build_arms(entry, INFO, combos(entry))
    (baseline,) = build_arms(entry, INFO, combos(entry), Side.BASELINE)
    assert (arm.name, baseline.name, baseline.side) == ("retrieval", "retrieval [baseline]", Side.BASELINE)
    assert arm.arm_id != baseline.arm_id


def test_long_and_odd_values_are_shortened_and_names_stay_unique() -> None:
    info = ExperimentInfo("x", open=True)
    values = ("a b", "", "long" * 20 + "1", "long" * 20 + "2", [1, 2], {"k": "v"}, None, True, "line\nbreak")
    entry = Entry("x", {}, {"v": values})
    names = [arm.name for arm in build_arms(entry, info, combos(entry, info))]
    assert len(set(names)) == len(values)
    assert names[:2] == ['x v="a b"', 'x v=""']
    assert names[4:8] == ["x v=[1,2]", 'x v={"k":"v"}', "x v=null", "x v=true"]
    assert all(len(name) < 60 and name.isprintable() for name in names)


def test_arms_of_two_entries_get_the_parameters_they_differ_in() -> None:
    arms = [
        arm for n in (1, 2) for e in [Entry("retrieval", {"documents": n})] for arm in build_arms(e, INFO, combos(e))
    ]
    assert [arm.name for arm in arms] == ["retrieval", "retrieval"]
    assert [arm.name for arm in distinct_names(arms)] == ["retrieval documents=1", "retrieval documents=2"]
    twins = [Arm("abcdef12", "x", "x"), Arm("12abcdef", "x", "x")]
    assert [arm.name for arm in distinct_names(twins)] == ["x #abcdef", "x #12abcd"]


def test_arms_of_a_named_entry_begin_with_its_name_and_keep_their_ids() -> None:
    plain = Entry("retrieval", {"documents": [1, 2]})
    before, after = (build_arms(entry, INFO, combos(entry)) for entry in (plain, replace(plain, name="by size")))
    assert [arm.name for arm in after] == ["by size documents=1", "by size documents=2"]
    assert [arm.arm_id for arm in after] == [arm.arm_id for arm in before]
