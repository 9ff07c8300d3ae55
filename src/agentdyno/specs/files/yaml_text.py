"""YAML text as plain values.

Read by the core schema of version 1.2 (with ``1_000`` and merge keys): ``off``, ``no`` and ``1:30`` are text and
only ``true`` and ``false`` are booleans, so that a sweep over ``[OFF, NORMAL, FULL]`` stays one of texts.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable

import yaml
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import Resolver
from yaml.scanner import Scanner

from agentdyno.errors import SpecError
from agentdyno.specs.files.plain import MAX_DEPTH, MAX_VALUES, plain_document
from agentdyno.specs.files.problems import FileProblem, dotted, shorten, spec_error

SYNTAX_REMEDY = "Check the indentation, quotes and brackets at and just before that place."
_TAG = "tag:yaml.org,2002:"


class RefusedYaml(Exception):
    """A place in the text that is well-formed YAML and still not acceptable."""

    def __init__(self, path: tuple[str | int, ...], message: str, remedy: str) -> None:
        super().__init__(message)
        self.problem = FileProblem(dotted(path), message, remedy)


class _Composing(Composer, Resolver):
    """Composes nodes only; depth is bounded here because composing recurses."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012
    depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        self.depth += 1
        if self.depth > MAX_DEPTH + 2:
            raise RefusedYaml(
                (), f"nested more than {MAX_DEPTH} levels deep", "Flatten it, or keep data in another file."
            )
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Loader(Reader, Scanner, Parser, _Composing):
    """Says exactly what is wrong with a text, and where."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        Resolver.__init__(self)


_LENIENT = re.compile(r"\t|[|>][-+0-9]*#")
"""What libyaml lets pass and YAML does not: tabs between tokens, a comment that touches the mark of a block."""
_quick: Callable[[str], _Composing] = _Loader
if yaml.__with_libyaml__:
    from yaml._yaml import CParser

    class _QuickLoader(_Composing, CParser):
        """The same nodes from libyaml's events, in about a fifth of the time."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            Composer.__init__(self)
            Resolver.__init__(self)

    _quick = _QuickLoader


_INT = r"[-+]?[0-9]+(?:_[0-9]+)*|0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = (
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", _INT, "-+0123456789"),
    ("float", _FLOAT, "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _Composing.add_implicit_resolver(_TAG + _name, re.compile(rf"^(?:{_pattern})$"), list(_first))


def parse_yaml(text: str, where: str) -> object:
    """A plain document from YAML text; raises ``SpecError`` with line and column, or with the key."""
    try:
        node = compose(text)
        return None if node is None else plain_document(_Walk().value(node, ()), where)
    except RefusedYaml as error:
        raise spec_error(where, [error.problem]) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1
        raise SpecError(
            "not valid YAML: a character that cannot be printed",
            where=f"{where}: line {line}, column {column}",
            remedy='Remove it, or write it as an escape in double quotes, as in "\\x07".',
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = where if mark is None else f"{where}: line {mark.line + 1}, column {mark.column + 1}"
        reason = error.problem or error.context or "syntax error"
        remedy = "Indent with spaces: YAML allows no tabs there." if r"'\t'" in reason else SYNTAX_REMEDY
        raise SpecError(f"not valid YAML: {reason}", where=place, remedy=remedy) from None
    except (ValueError, OverflowError) as error:
        raise SpecError(f"not valid YAML: {error}", where=where, remedy=SYNTAX_REMEDY) from None


def parse_value(text: str, where: str) -> object:
    """A scalar or flow collection in YAML; nothing at all is empty text. Raises ``SpecError``."""
    if not text.strip():
        return ""
    value = parse_yaml(text, where)
    node = compose(text)
    quoting = "Put the value in quotes within quotes if text is meant, as in -p 'name=\"a: b\"'."
    if node is None or node.end_mark.index < len(text.rstrip()):
        raise SpecError(f"{shorten(repr(text))} holds a YAML comment", where=where, remedy=quoting)
    if isinstance(node, (MappingNode, SequenceNode)) and not node.flow_style:
        raise SpecError(
            f"expected a scalar, [a, list] or {{a: mapping}}, got {shorten(repr(text))}", where=where, remedy=quoting
        )
    return value


@functools.lru_cache(maxsize=1)
def compose(text: str) -> Node | None:
    """The root node of one YAML document, to be read only: whoever asks what a file is reads it next."""
    if _LENIENT.search(text) is None:
        with contextlib.suppress(yaml.YAMLError, UnicodeError):
            return _root(_quick(text))
    return _root(_Loader(text))


def _root(loader: _Composing) -> Node | None:
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()  # type: ignore[attr-defined]  # of either's parser


class _Walk:
    """Nodes to values. Aliases are expanded, so what is counted is what would be held in memory."""

    def __init__(self) -> None:
        self.count = 0

    def value(self, node: Node, path: tuple[str | int, ...]) -> object:
        self.count += 1
        if self.count > MAX_VALUES:
            raise RefusedYaml(
                (), f"more than {MAX_VALUES:,} values with aliases expanded", "Keep data in a file of its own."
            )
        if len(path) > MAX_DEPTH:
            raise RefusedYaml(path[:3], "nested too deeply, or an alias that contains itself", "Flatten the value.")
        if isinstance(node, MappingNode):
            self._tag(node, "map", path)
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            self._tag(node, "seq", path)
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        return _scalar(node, path)

    def _tag(self, node: Node, expected: str, path: tuple[str | int, ...]) -> None:
        if node.tag != _TAG + expected:
            raise _unknown_tag(node, path)

    def _mapping(self, node: MappingNode, path: tuple[str | int, ...]) -> dict[str, object]:
        found: dict[str, object] = {}
        lines: dict[str, int] = {}
        merged: dict[str, object] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == f"{_TAG}merge":
                merged = {**self._merged(value_node, path, line), **merged}
                continue
            key = self.value(key_node, path) if isinstance(key_node, ScalarNode) else None
            if not isinstance(key, str):
                shown = shorten(
                    str(getattr(key_node, "value", "")) if isinstance(key_node, ScalarNode) else "a collection"
                )
                raise RefusedYaml(
                    path, f"expected text as a key, got {shown} (line {line})", "Put the key in quotes."
                )
            if key in found:
                raise RefusedYaml(
                    (*path, key),
                    f"the key {shorten(repr(key))} appears twice, on lines {lines[key]} and {line}",
                    "Keep one of the two.",
                )
            lines[key] = line
            found[key] = self.value(value_node, (*path, key))
        return {**merged, **found}

    def _merged(self, node: Node, path: tuple[str | int, ...], line: int) -> dict[str, object]:
        value = self.value(node, (*path, "<<"))
        result: dict[str, object] = {}
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, dict):
                raise RefusedYaml((*path, "<<"), f"expected a mapping to merge (line {line})", "Write `<<: *anchor`.")
            result = {**item, **result}
        return result


def _scalar(node: Node, path: tuple[str | int, ...]) -> object:
    text = str(node.value)
    kind = node.tag.removeprefix(_TAG)
    try:
        if kind in ("str", "merge"):
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return {"true": True, "false": False}[text.lower()]
        if kind == "int":
            return int(text.replace("_", ""), 0 if text[:2] in ("0x", "0o") else 10)
        if kind == "float":
            return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
    except (ValueError, KeyError):
        message = f"{shorten(repr(text))} cannot be read as {kind} (line {node.start_mark.line + 1})"
        raise RefusedYaml(path, message, "Put the value in quotes if text is meant.") from None
    raise _unknown_tag(node, path)


def _unknown_tag(node: Node, path: tuple[str | int, ...]) -> RefusedYaml:
    tag = shorten(str(node.tag).replace(_TAG, "!!"))
    return RefusedYaml(path, f"the tag {tag} is not allowed (line {node.start_mark.line + 1})", "Remove the tag.")
