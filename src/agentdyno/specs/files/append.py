"""One more item for a list within a YAML or JSON text, whose other bytes stay as they are, comments among them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, SequenceNode

from agentdyno.errors import SpecError
from agentdyno.specs.files.read import parse_json
from agentdyno.specs.files.yaml_text import parse_yaml

_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON leaves as they are and YAML does not take."""
_PLAIN_KEY = re.compile("(?!true$|false$|null$)[a-z_]+")
_REMEDY = "Add it by hand, or keep the cases in a .jsonl file."


def append_item(text: str, path: Sequence[str | int], item: object, where: str) -> str:
    """``text`` with ``item`` at the end of the list at ``path``, in that list's own style.

    Raises ``SpecError`` where there is no such list, or where the text would say something else in another place too
    (a list that an alias repeats).
    """
    found = _node(text, path)
    if not isinstance(found, SequenceNode):
        raise SpecError("there is no list to add to", where=where, remedy=_REMEDY)
    parse = parse_json if where.endswith(".json") else parse_yaml
    before = parse(text, where)
    changed = _in_flow(text, found, item) if found.flow_style else _in_block(text, found, item)
    if parse(changed, where) != _appended(before, path, item):
        raise SpecError("nothing can be added to this list without changing others", where=where, remedy=_REMEDY)
    return changed


def _node(text: str, path: Sequence[str | int]) -> Node | None:
    node: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    for key in path:
        if isinstance(node, MappingNode):
            node = next((value for name, value in node.value if name.value == key), None)
        elif isinstance(node, SequenceNode) and isinstance(key, int) and key < len(node.value):
            node = node.value[key]
        else:
            return None
    return node


def _in_flow(text: str, found: SequenceNode, item: object) -> str:
    if not found.value:
        place = found.start_mark.index + 1
        return text[:place] + _written(item) + text[place:]
    place = found.value[-1].end_mark.index
    return f"{text[:place]}, {_written(item)}{text[place:]}"


def _in_block(text: str, found: SequenceNode, item: object) -> str:
    """An object has a line for each of its keys; what they hold is JSON, which YAML reads as it is."""
    fields = [f"{_key(name)}: {_written(value)}" for name, value in item.items()] if isinstance(item, dict) else []
    indent = " " * found.start_mark.column
    written = f"\n{indent}  ".join(fields or [_written(item)])
    lines = text.splitlines(keepends=True)
    end = _last_leaf(found).end_mark
    place = end.line if end.column == 0 else end.line + 1
    head = "".join(lines[:place])
    gap = "" if head.endswith("\n") else "\n"
    return f"{head}{gap}{indent}- {written}\n{''.join(lines[place:])}"


def _written(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _key(name: object) -> str:
    return str(name) if _PLAIN_KEY.fullmatch(str(name)) else _written(str(name))


def _last_leaf(node: Node) -> Node:
    """Where the text of a collection ends: its own end lies behind the comments that follow it."""
    while isinstance(node, CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _appended(document: object, path: Sequence[str | int], item: object) -> object:
    if not path:
        return [*document, item] if isinstance(document, list) else document
    key, *rest = path
    if isinstance(document, dict):
        return {**document, key: _appended(document[str(key)], rest, item)}
    assert isinstance(document, list)
    return [_appended(one, rest, item) if number == key else one for number, one in enumerate(document)]
