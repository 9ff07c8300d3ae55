"""One name for one thing, names that explain themselves, and nothing that only tests use."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

from .naming import definitions, names_given, prose_of, uses, words_of
from .source import ROOT, SOURCE, modules

# What nobody calls by name: hooks of protocols and libraries, and what other packages are given.
CALLED_BY_OTHERS = frozenset(
    {
        "pause_writing",  # of asyncio
        *("do_GET", "do_POST", "log_message", "redirect_request"),  # of the standard library's http and urllib
        *("list_commands", "get_command", "format_commands"),  # click
        *("load_dialect_impl", "bind_processor", "result_processor"),  # SQLAlchemy
        *("from_rows", "percentage"),  # public API: agentdyno.Dataset, rows of compare_agents
        "_repr_html_",  # of notebooks
        *("on_chat_model_start", "on_llm_start", "on_llm_end", "on_llm_error"),  # callbacks of agent frameworks
        *("on_tool_start", "on_tool_end", "on_tool_error", "on_retriever_start", "on_retriever_end", "on_handoff"),
        "visitcommand",  # of bashlex
        "ops",  # what tests of users call: the pytest plugin
        "followers",  # what a test of the event stream waits for
    }
)
HOOKED = (
    "router.",
    "app.",
    "command",
    "click.",
    "group",
    "validator",
    "serializer",
    "fixture",
    "overload",
    "compiles",
)
WORDS_THAT_NEED_EXPLAINING = frozenset({"heart", "desk", "door", "meeting"})
NAMES_THAT_NEED_EXPLAINING = frozenset({"Look", "Kept", "Went"})
KNOWN = "ToolDesk"
"""The task of the training workload: its results are published under this name."""
PROSE = re.compile(r"\b(hearts?|doors?|meetings?)\b", re.IGNORECASE)
SUSPECT = re.compile("|".join((*WORDS_THAT_NEED_EXPLAINING, *NAMES_THAT_NEED_EXPLAINING)), re.IGNORECASE)
IMPORT = re.compile(r"from agentdyno[\w.]* import (\([^)]*\)|[^\n]*)")
CODE = re.compile(r"^ *(```|~~~).*?^ *\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def _ours() -> list[Path]:
    """Every file in Python: what ships, what measures, what tests."""
    folders = (SOURCE, ROOT / "packages", ROOT / "benchmarks", ROOT / "tests", ROOT / "examples")
    return [path for folder in folders for path in sorted(folder.rglob("*.py")) if "data" not in path.parts]


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_no_public_class_name_is_defined_twice() -> None:
    homes = defaultdict(list)
    for path in [path for folder in (SOURCE, *ROOT.glob("packages/*/src")) for path in folder.rglob("*.py")]:
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twice, twice


def _unclear(name: str) -> bool:
    words = words_of(name.replace(KNOWN, ""))
    return name.lstrip("_") in NAMES_THAT_NEED_EXPLAINING or bool(words & WORDS_THAT_NEED_EXPLAINING)


def test_names_explain_themselves() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in _ours()
        if SUSPECT.search(path.stem + path.read_text())  # to parse all of them takes long
        for line, name in [(0, path.stem), *names_given(_tree(path))]
        if _unclear(name)
    ]
    assert not found, "\n".join(found)


def test_comments_and_documents_need_no_explaining() -> None:
    suspects = [path for path in _ours() if PROSE.search(path.read_text())]
    prose = [(path, said) for path in suspects for _, said in prose_of(path, _tree(path))]
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("packages/**/*.md")]
    prose += [(path, CODE.sub("", path.read_text())) for path in documents]
    found = [f"{path.relative_to(ROOT)}: {match.group()}" for path, text in prose for match in PROSE.finditer(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        *("class _FrontDesk: ...", "Kept = dict[str, int]", "def f(heart): ...", "for door in rows: ..."),
        *("from a import b as Look", "def two_desks(): ...", "self.meeting_point = 1", "class Went: ..."),
    ],
)
def test_a_name_that_needs_explaining_is_found(code: str) -> None:
    assert any(_unclear(name) for _, name in names_given(ast.parse(code)))


@pytest.mark.parametrize("code", ["class Heartbeat: ...", "kept = 1", "def look_up(): ...", "indoors = ToolDesk = 1"])
def test_a_name_that_needs_none_is_not(code: str) -> None:
    assert not any(_unclear(name) for _, name in names_given(ast.parse(code)))


@cache
def _used() -> Counter[str]:
    """How often each name is used by what ships or is run for its own sake: sources, entry points, templates."""
    counts: Counter[str] = Counter()
    others = [*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("benchmarks/*.py")]
    for tree in (*(module.tree for module in modules()), *map(_tree, others)):
        counts.update(uses(tree))
    others = [*SOURCE.rglob("*.j2"), *SOURCE.rglob("*.mako"), ROOT / "pyproject.toml"]
    others += [
        *ROOT.glob("packages/*/pyproject.toml"),
        *ROOT.glob("examples/*.py"),
        *(path for path in ROOT.glob("scripts/*") if path.is_file()),
    ]
    for path in others:
        counts.update(re.findall(r"\w+", path.read_text()))
    return counts


def test_nothing_is_there_for_tests_alone() -> None:
    idle = [
        f"{module}:{found.line}: {found.name}"
        for module in modules()
        if module.parts[0] not in ("workloads", "settings") and "migrations" not in module.parts
        for found in definitions(module.tree)
        if not found.name.startswith(("__", "pytest_")) and found.name not in CALLED_BY_OTHERS
        if not any(part in text for text in found.hooked for part in HOOKED)
        if _used()[found.name] <= 0
    ]
    assert not idle, "\n".join(idle)


def test_every_hook_that_is_let_through_is_there_and_called_by_others_alone() -> None:
    defined = {found.name for module in modules() for found in definitions(module.tree)}
    assert defined >= CALLED_BY_OTHERS, f"gone: {CALLED_BY_OTHERS - defined}"
    used = {name for name in CALLED_BY_OTHERS if _used()[name] > 0}
    assert not used, f"used here as well: {used}"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ('def idle():\n    """idle does nothing."""\n', "idle"),
        ("# idle is good\ndef idle(n):\n    return idle(n - 1)\n", "idle"),
        ("from a import idle\n", "idle"),
        ("class A:\n    def again(self):\n        return self.again()\n", "again"),
        ("UNREAD = 3\n", "UNREAD"),
    ],
)
def test_a_word_in_a_comment_an_import_and_a_call_of_itself_are_no_use(code: str, name: str) -> None:
    assert uses(ast.parse(code))[name] <= 0


@pytest.mark.parametrize(
    "code", ["busy()", "self.busy", "table = {'busy': 'home:busy'}", "from a import busy as b", "super().busy()"]
)
def test_what_is_called_named_in_a_table_or_imported_under_another_name_is_used(code: str) -> None:
    assert uses(ast.parse(code))["busy"] > 0


def test_tests_use_no_private_names_of_ours() -> None:
    """What a test is about is a function with a name of its own, or is seen through one that is public."""
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (*(ROOT / "tests").rglob("*.py"), *ROOT.glob("packages/*/tests/**/*.py"))
        for imported in IMPORT.findall(path.read_text())
        for name in re.findall(r"\b_[a-z]\w*|\b_[A-Z]\w*", imported)
    ]
    assert not found, "\n".join(found)
