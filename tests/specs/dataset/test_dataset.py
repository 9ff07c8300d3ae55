"""Cases in Python, in files, from generators and from Hugging Face."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import Case, Suite
from agentdyno.specs import Dataset, parse_suite

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def run(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return run


def refused(path: Path, **options: object) -> SpecError:
    with pytest.raises(SpecError) as caught:
        Dataset.from_file(path, **options)  # type: ignore[arg-type]
    error = caught.value
    assert error.remedy
    assert error.where is not None
    error.where = error.where.replace(f"{path.parent}/", "")
    return error


def generated(folder: Path, dataset: dict[str, object], **more: object) -> Suite:
    return parse_suite({"name": "g", "dataset": dataset, **more}, base_dir=folder).suite


def test_a_dataset_is_a_sequence_of_cases() -> None:
    data = Dataset([Case("x", 1), {"input": "two", "target": 2, "level": "easy"}, "three"])
    assert len(data) == 3
    assert list(data) == [
        Case("x", 1),
        Case("case-002", "two", 2, {"level": "easy"}),
        Case("case-003", "three"),
    ]
    assert data[0].id == "x"
    assert [case.id for case in data[1:]] == ["case-002", "case-003"]
    assert data == Dataset(data)


def test_filtering_and_sampling_keep_the_order() -> None:
    data = Dataset({"id": i, "input": i} for i in range(100))
    assert [case.input for case in data.filter(lambda case: case.input in (3, 7))] == [3, 7]
    drawn = data.sample(10, seed=1)
    assert drawn == data.sample(10, seed=1)
    assert drawn != data.sample(10, seed=2)
    assert [case.input for case in drawn] == sorted(case.input for case in drawn)  # type: ignore[type-var]
    assert data.sample(1000) == data
    assert len(data.sample(0)) == 0


def test_rows_take_their_columns_and_name() -> None:
    data = Dataset.from_rows(
        [{"question": "q", "answer": "a", "input": 5}], columns={"input": "question", "target": "answer"}, name="qa"
    )
    assert data[0] == Case("qa-001", "q", "a", {"input": 5})


def test_bad_rows_and_columns_are_refused() -> None:
    for rows, columns, message in (
        ([{"input": 1, "id": "a"}, {"input": 2, "id": "a"}], {}, "appears twice"),
        ([{"input": 1}], {"target": "answer"}, "no row has 'answer'"),
        ([{"input": 1}], {"inptu": "x"}, "a case has no 'inptu'"),
        ([{"input": object()}], {}, "object"),
        ([Case("", 1)], {}, "expected text as an id"),
        ([Case("x", None)], {}, "expected an input"),
    ):
        with pytest.raises(SpecError, match=message):
            Dataset.from_rows(rows, columns=columns)


def test_json_lines_are_read_with_all_fields(write: Write) -> None:
    path = write(
        "cases.jsonl",
        '\ufeff{"id": 7, "input": "a", "target": ["x"], "metadata": {"k": 1}, "group": "g", "extra": null}\n'
        "\n"
        '{"turns": ["My name is Ada.", "Who am I?\u2028"], "target": "Ada"}\n'
        '"just text"',
    )
    assert Dataset.from_file(path).cases == (
        Case("7", "a", ["x"], {"k": 1, "extra": None}, "g"),
        Case("cases-002", "My name is Ada.", "Ada", turns=("My name is Ada.", "Who am I?\u2028")),
        Case("cases-003", "just text"),
    )


def test_lists_in_json_and_yaml_are_read(write: Write) -> None:
    expected = (Case("cases-001", 1, 2), Case("cases-002", "b"))
    assert Dataset.from_file(write("cases.json", '[{"input": 1, "target": 2}, "b"]')).cases == expected
    assert Dataset.from_file(write("cases.yaml", "- {input: 1, target: 2}\n- b\n")).cases == expected


def test_csv_has_quoted_newlines_a_byte_order_mark_and_metadata(write: Write) -> None:
    path = write(
        "cases.csv",
        b'\xef\xbb\xbfinput,target,id,group,level,turns\r\n"two\nlines, ""quoted""",391,x,g,easy,\r\n'
        b'\r\nsecond,,,,,"[""second"", ""third""]"\r\n',
    )
    assert Dataset.from_file(path).cases == (
        Case("x", 'two\nlines, "quoted"', "391", {"level": "easy"}, "g"),
        Case("cases-002", "second", turns=("second", "third")),
    )
    tabs = write("cases.tsv", "q\ta\none\t1\n")
    assert Dataset.from_file(tabs, columns={"input": "q", "target": "a"}).cases == (Case("cases-001", "one", "1"),)


@pytest.mark.parametrize(
    ("name", "content", "where", "message"),
    [
        ("a.jsonl", '{"input": 1}\n{"target": 2}\n', "a.jsonl: line 2, input", "got a row with 'target'"),
        ("a.jsonl", '{"input": 1}\n\n{"input": \n', "a.jsonl: line 3, column 11", "not valid JSON"),
        ("a.jsonl", '{"input": 1}\n{"input": 1, "input": 2}\n', "a.jsonl: line 2: input", "appears twice"),
        ("a.jsonl", '{"input": 1, "id": 1}\n{"input": 2, "id": "1"}', "a.jsonl: line 2, id", "first at line 1"),
        ("a.jsonl", '{"input": NaN}', "a.jsonl: line 1, input", "finite"),
        ("a.jsonl", "[" * 100_000, "a.jsonl", "deep"),
        ("a.jsonl", "", "a.jsonl", "holds no cases"),
        ("a.jsonl", b"\n\xff\xfe", "a.jsonl", "not UTF-8 text (byte 1, line 2)"),
        ("a.json", '{"input": 1}', "a.json", "expected a list of cases"),
        ("a.json", "[]", "a.json", "holds no cases"),
        ("a.json", '[{"input": null}]', "a.json: [0].input", "expected an input"),
        ("a.yaml", "- input: a\n- {}\n", "a.yaml: [1].input", "expected an input"),
        ("a.csv", "input,target\na,b\n,c\n", "a.csv: line 3, input", "expected an input"),
        ("a.csv", 'input,target\n"a\nb",c\n,d\n', "a.csv: line 4, input", "expected an input"),
        ("a.csv", 'input,target\n,"c\nd"\n', "a.csv: line 2, input", "expected an input"),
        ("a.csv", "asked,target\na,b\n", "a.csv: line 2, input", "got a row with 'asked', 'target'"),
        ("a.csv", "input,input\na,b\n", "a.csv: line 1", "appears twice"),
        ("a.csv", "input,\na,b\n", "a.csv: line 1", "without a name"),
        ("a.csv", "input\na,b\n", "a.csv: line 2", "expected 1 columns, got 2"),
        ("a.csv", 'input\n"a\n', "a.csv: line 2", "not valid CSV"),
        ("a.csv", "input,turns\na,nope\n", "a.csv: line 2, turns", "not valid JSON"),
        ("a.csv", "", "a.csv", "holds no cases"),
        ("a.csv", "input\n", "a.csv", "holds no cases"),
        ("a.txt", "x", "a.txt", "expected a data file"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(
    write: Write, name: str, content: str | bytes, where: str, message: str
) -> None:
    error = refused(write(name, content))
    assert (error.where or "").startswith(where)
    assert message in error.message


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as file:
        file.truncate(10 * 2**30)  # sparse: it takes no room
    error = refused(path)
    assert error.message == "expected at most 64 MiB of cases, the file has 10,240 MiB"


def test_too_many_rows_are_refused(write: Write) -> None:
    error = refused(write("many.jsonl", "1\n".replace("1", '"a"') * 100_001))
    assert error.message == "expected at most 100,000 cases, there are more"


def test_a_generator_in_a_file_is_asked_for_its_size_and_seed(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "import random\n"
        "def sums(n, seed, digits=1):\n"
        "    rng = random.Random(seed)\n"
        "    for i in range(n):\n"
        "        a, b = (rng.randrange(10 ** digits) for _ in 'ab')\n"
        "        yield {'input': f'{a} + {b}', 'target': a + b, 'digits': digits}\n"
    )
    dataset: dict[str, object] = {"generator": "data.py@sums", "size": 5, "options": {"digits": 3}}
    suite = generated(tmp_path, dataset)
    (benchmark,) = suite.benchmarks
    assert [case.id for case in benchmark.cases] == [f"g-{i:03d}" for i in range(1, 6)]
    assert benchmark.cases[0].metadata == {"digits": 3}
    assert benchmark.data_source == "generator data.py@sums"
    assert suite.digest == generated(tmp_path, dataset).digest
    assert suite.digest == generated(tmp_path, dataset, seed=99).digest  # the run's seed is not the data's
    assert suite.digest != generated(tmp_path, {**dataset, "seed": 1}).digest
    assert generated(tmp_path, {"data_source": "data.py@sums", "size": 5}).benchmarks[0].cases


def test_a_registered_generator_is_found_through_imports(tmp_path: Path) -> None:
    (tmp_path / "registered_data.py").write_text(
        "from agentdyno.model import Case\n"
        "from agentdyno.registry import register_dataset\n"
        "@register_dataset('three-cases-of-a-test')\n"
        "def three():\n"
        "    return [Case(str(i), i) for i in range(3)]\n"
    )
    suite = generated(tmp_path, {"generator": "three-cases-of-a-test"}, imports=["registered_data.py"])
    assert [case.id for case in suite.benchmarks[0].cases] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("body", "dataset", "message"),
    [
        ("def f(n):\n    yield 1", {}, "missing a required argument: 'n'"),
        ("def f():\n    raise ValueError('no data today')", {}, "f raised ValueError: no data today"),
        ("def f():\n    return 5", {}, "got an integer 5"),
        ("async def f():\n    return []", {}, "expected cases"),
        ("def f():\n    return []", {}, "yields no cases"),
        ("def f():\n    yield {}", {}, "an empty row"),
        ("def f():\n    while True: yield 'x'", {}, "expected at most 100,000 cases"),
        ("def f(n):\n    return ['a']", {"size": 2}, "expected 2 cases as size says, got 1"),
        ("def f(level):\n    return ['a']", {"options": {"levl": 1}}, "no parameter 'levl'"),
        ("def g():\n    return ['a']", {}, "no dataset called 'f'"),
        ("import nothing_of_that_name\n", {}, "nothing_of_that_name"),
    ],
)
def test_a_generator_that_fails_is_named(tmp_path: Path, body: str, dataset: dict[str, object], message: str) -> None:
    (tmp_path / "data.py").write_text(body)
    with pytest.raises(SpecError) as caught:
        generated(tmp_path, {"generator": "data.py@f", **dataset})
    assert (caught.value.where or "").startswith("suite: dataset")
    assert message in caught.value.message
    assert caught.value.remedy


def test_an_unknown_generator_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="unknown dataset 'nothing-like-it'"):
        generated(tmp_path, {"generator": "nothing-like-it"})


def test_a_missing_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(SpecError) as caught:
        parse_suite({"dataset": "hf:openai/gsm8k"})
    assert "needs the library datasets" in caught.value.message
    assert "agentdyno[hf]" in (caught.value.remedy or "")


def test_hugging_face_rows_are_mapped_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def load_dataset(name: str, subset: str | None, *, split: str, revision: str | None) -> list[dict[str, object]]:
        asked.append((name, subset, split, revision))
        if split == "gone":
            raise ValueError("no split gone\nand more")
        return [{"question": "q", "answer": "a", "level": 1, "picture": object()}]

    library = ModuleType("datasets")
    library.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", library)
    dataset: dict[str, object] = {
        "hf": "org/name",
        "subset": "main",
        "split": "test[:1]",
        "columns": {"input": "question", "target": "answer"},
    }
    (benchmark,) = parse_suite({"name": "h", "dataset": dataset}).suite.benchmarks
    assert asked == [("org/name", "main", "test[:1]", None)]
    assert benchmark.cases == (Case("h-001", "q", "a", {"level": 1}),)
    assert benchmark.data_source == "hf:org/name"
    with pytest.raises(SpecError, match="org/name cannot be loaded: ValueError: no split gone"):
        parse_suite({"dataset": {**dataset, "split": "gone"}})


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("question;expected", ("question", "expected")),
        ("Prompt,Reference", ("Prompt", "Reference")),
        ("prompt,answer", ("prompt", "answer")),
        ("question,label", ("question", "label")),
        ("answer,expected,prompt,question", ("question", "expected")),
    ],
)
def test_usual_column_names_are_taken_and_it_is_said_which(
    tmp_path: Path, header: str, taken: tuple[str, str]
) -> None:
    sign = ";" if ";" in header else ","
    cells = sign.join(f"the {name}" for name in header.split(sign))
    (tmp_path / "cases.csv").write_text(f"{header}\n{cells}\n", encoding="utf-8")
    suite = parse_suite({"dataset": "cases.csv"}, base_dir=tmp_path).suite
    case = suite.benchmarks[0].cases[0]
    assert (case.input, case.target) == (f"the {taken[0]}", f"the {taken[1]}")
    told = f"cases.csv (input from column {taken[0]}, target from column {taken[1]})"
    assert suite.benchmarks[0].data_source == told
    assert Dataset.from_file(tmp_path / "cases.csv")[0].target == case.target


def test_columns_that_are_named_go_before_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("question;expected;prompt\nq;e;p\n", encoding="utf-8")
    case = Dataset.from_file(tmp_path / "cases.csv", columns={"input": "prompt"})[0]
    assert (case.input, case.target, case.metadata) == ("p", "e", {"question": "q"})


def test_a_semicolon_within_a_header_of_commas_is_text(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text('input,"a;b;c",target\n"1;2",x,3\n', encoding="utf-8")
    case = Dataset.from_file(tmp_path / "cases.csv")[0]
    assert (case.input, case.target) == ("1;2", "3")


def test_metadata_of_other_formats_stays_metadata_beside_an_input(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"input": "q", "answer": "a"}\n', encoding="utf-8")
    case = Dataset.from_file(tmp_path / "cases.jsonl")[0]
    assert (case.target, case.metadata) == (None, {"answer": "a"})
    (tmp_path / "cases.jsonl").write_text('{"question": "q", "answer": "a"}\n', encoding="utf-8")
    case = Dataset.from_file(tmp_path / "cases.jsonl")[0]
    assert (case.input, case.target) == ("q", "a")
