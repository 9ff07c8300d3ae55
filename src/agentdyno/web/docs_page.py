"""The API for people: the OpenAPI document as one HTML page, without script and without anybody else's files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

Document = Mapping[str, Any]  # a JSON document

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
body { overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; }
details { border: 1px solid #8888; border-radius: 6px; margin: .5rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid #8884; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 600; }
"""


def page(document: Document) -> str:
    """One section per tag, one entry per operation, then every schema."""
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} API</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/docs/style.css"></head>'
        f"<body><h1>{title}</h1><p>{escape(info.get('description', ''))}</p>"
        '<p>For programs: <a href="/openapi.json">/openapi.json</a>. '
        "Keys are sent as <code>Authorization: Bearer KEY</code>.</p>"
    ]
    for tag, operations in _by_tag(document).items():
        parts.append(f"<h2>{escape(tag)}</h2>")
        parts += [_operation(path, method, operation) for path, method, operation in operations]
    parts.append('<h2 id="schemas">Schemas</h2>')
    parts += [_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]
    return "".join(parts) + "</body></html>"


def _by_tag(document: Document) -> dict[str, list[tuple[str, str, Document]]]:
    found: dict[str, list[tuple[str, str, Document]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            found.setdefault(tag, []).append((path, method.upper(), operation))
    return found


def _operation(path: str, method: str, operation: Document) -> str:
    parts = [
        f'<details><summary><span class="method">{escape(method)}</span> <code>{escape(path)}</code></summary>',
        f"<p>{escape(operation.get('description') or operation.get('summary') or '')}</p>",
    ]
    rows = [
        (item["name"], item["in"], _kind(item.get("schema", {})), item.get("description", ""))
        for item in operation.get("parameters", ())
    ]
    if rows:
        parts.append(_table(("parameter", "in", "type", "meaning"), rows))
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Body, <code>{escape(media)}</code>: {_linked(content.get('schema', {}))}</p>")
    answers = "".join(
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td>"
        f"<td>{_content(answer)}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    return "".join(parts) + f"<table><tr><th>status</th><th>meaning</th><th>body</th></tr>{answers}</table></details>"


def _content(answer: Document) -> str:
    return ", ".join(
        f"<code>{escape(media)}</code> {_linked(content.get('schema', {}))}"
        for media, content in answer.get("content", {}).items()
    )


def _schema(name: str, schema: Document) -> str:
    required = schema.get("required", ())
    rows = [
        (key, _kind(item), "required" if key in required else "", item.get("description", ""))
        for key, item in schema.get("properties", {}).items()
    ]
    shown = (
        _table(("field", "type", "", "meaning"), rows)
        if rows
        else f"<pre>{escape(json.dumps(schema, indent=2, ensure_ascii=False))}</pre>"
    )
    meaning = escape(schema.get("description", ""))
    head = f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
    return f"{head}<p>{meaning}</p>{shown}</details>"


def _table(heads: tuple[str, ...], rows: list[tuple[str, str, str, str]]) -> str:
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _linked(schema: Document) -> str:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else escape(_kind(schema))


def _kind(schema: Document) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(_kind(choice) for choice in choices)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
