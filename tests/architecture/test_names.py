"""One name for one thing, and nothing that only tests use."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache

from .source import ROOT, SOURCE, modules

# What nobody calls by name: hooks of protocols and libraries, and what other packages are given.
CALLED_BY_OTHERS = frozenset(
    {
        *("connection_made", "connection_lost", "data_received", "eof_received", "pause_writing", "resume_writing"),
        *("list_commands", "get_command", "format_commands", "resolve_command", "parse_args"),
        *("do_GET", "do_POST", "log_message"),  # http.server
        *("bind_processor", "load_dialect_impl", "result_processor", "redirect_request"),
        *("from_file", "from_rows"),  # public API: agentdyno.Dataset
        *("on_chat_model_start", "on_llm_start", "on_llm_end", "on_llm_error"),  # callbacks of agent frameworks
        *("on_tool_start", "on_tool_end", "on_tool_error", "on_retriever_start", "on_retriever_end", "on_handoff"),
        "visitcommand",  # of bashlex
        *("pedantic", "weave", "answers", "median", "stddev", "ops"),  # what tests of users call: the pytest plugin
        "followers",  # what a test of the event stream waits for
    }
)
DECORATED_BY_OTHERS = (
    "router.",
    "app.",
    "command",
    "click.",
    "group",
    "validator",
    "serializer",
    "fixture",
    "overload",
)
WORDS_THAT_NEED_EXPLAINING = ("heart", "desk", "door", "meeting")
CLASSES_THAT_NEED_EXPLAINING = (*WORDS_THAT_NEED_EXPLAINING, "look", "kept", "went")


def test_no_public_class_name_is_defined_twice() -> None:
    homes = defaultdict(list)
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module.name)
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twice, twice


def test_names_explain_themselves() -> None:
    for module in modules():
        assert module.parts[-1] not in WORDS_THAT_NEED_EXPLAINING, module
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                assert node.name.lower() not in CLASSES_THAT_NEED_EXPLAINING, f"{module}: {node.name}"


def _public_definitions() -> dict[str, list[str]]:
    """Functions, methods and classes without a leading underscore, by name, with where they are defined."""
    found: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        if module.parts[0] == "workloads" or "migrations" in module.parts:
            continue
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if node.name.startswith(("_", "pytest_")) or node.name in CALLED_BY_OTHERS:  # the latter: pytest's hooks
                continue
            decorators = [ast.unparse(item) for item in node.decorator_list]
            if any(part in text for text in decorators for part in DECORATED_BY_OTHERS):
                continue
            found[node.name].append(f"{module}:{node.lineno}")
    return found


@cache
def _words() -> dict[str, int]:
    """How often each word stands in what ships or is run for its own sake: sources, entry points, templates."""
    counts: dict[str, int] = defaultdict(int)
    files = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.j2"), *SOURCE.rglob("*.mako"), ROOT / "pyproject.toml"]
    files += [
        *(ROOT / "benchmarks").glob("*.py"),
        *(ROOT / "scripts").glob("*"),
        *(ROOT / "examples").glob("*.py"),
        *ROOT.glob("packages/*/src/**/*.py"),
    ]
    for file in files:
        for word in re.findall(r"\w+", file.read_text()):
            counts[word] += 1
    return counts


def test_nothing_is_there_for_tests_alone() -> None:
    words = _words()
    idle = {name: places for name, places in _public_definitions().items() if words[name] <= len(places)}
    assert not idle, "\n".join(f"{name}: {', '.join(places)}" for name, places in sorted(idle.items()))
