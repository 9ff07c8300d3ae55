"""Writes the tables of settings in docs/reference between their markers; ``--check`` only compares.

``<!-- settings SCOPE: name name -->`` begins a table of a file's keys, ``<!-- options COMMAND: name name -->`` one of
a command's options, each ending with ``<!-- end -->``. ``*`` stands for all that nothing else on the page (of a
command: in its section) describes, so that a new setting is never missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from agentdyno.cli.options import SCOPES_OF_COMMANDS
from agentdyno.settings import settings_of
from agentdyno.settings.setting import Setting

PAGES = Path(__file__).parents[1] / "docs" / "reference"
TABLE = re.compile(r"(<!-- (settings|options) ([\w ]+): ([\w *]+) -->\n).*?(<!-- end -->)", re.DOTALL)
ALL = "*"


def main(arguments: Sequence[str]) -> int:
    """Exit code 1 where ``--check`` finds a page that is not as the settings say."""
    outdated = []
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        written = render(text)
        if written != text:
            outdated.append(page.name)
            if "--check" not in arguments:
                page.write_text(written, encoding="utf-8")
    if outdated and "--check" in arguments:
        print(f"docs/reference: {', '.join(outdated)} not as settings/ says; run scripts/reference.py")
        return 1
    return 0


def render(text: str) -> str:
    """A page with its tables as the settings say."""
    parts = re.split(r"(?m)^(?=## dyno )", text)
    return "".join(_render_part(part) for part in parts)


def _render_part(text: str) -> str:
    by_hand = set(re.findall(r"(?m)^\| (?:`-\w`, )?`(?:--)?([\w-]+)", TABLE.sub("", text)))
    taken = [(kind, scope, name) for _, kind, scope, names, _ in TABLE.findall(text) for name in names.split()]

    def table(found: re.Match[str]) -> str:
        start, kind, scope, names, end = found.groups()
        settings = _settings(kind, scope)
        named = [name for name in names.split() if name != ALL]
        if ALL in names.split():
            other = {name for place in taken if place[:2] == (kind, scope) for name in place[2:]}
            named += [name for name in settings if name not in other and not _spellings(settings[name]) & by_hand]
        rows = [_ROWS[kind](settings[name], frozenset({scope})) for name in named]
        return "\n".join([start.rstrip(), *(("", *_HEADS[kind], *rows, "") if rows else ()), end])

    return TABLE.sub(table, text)


def _spellings(setting: Setting[object]) -> set[str]:
    return {setting.form_key, *(option.lstrip("-") for option in setting.option.split())}


def _settings(kind: str, scope: str) -> dict[str, Setting[object]]:
    if kind == "settings":
        return {setting.form_key: setting for setting in settings_of(frozenset({scope}))}
    found: dict[str, Setting[object]] = {}
    for setting in settings_of(SCOPES_OF_COMMANDS[scope]):
        if setting.option:
            found.setdefault(setting.asked, setting)
    return found


def _key_row(setting: Setting[object], scope: frozenset[str]) -> str:
    meaning = _phrase(setting.wording(scope).description)
    note = f"; {setting.note}" if setting.note else ""
    return f"| `{setting.form_key}` | {_kind(setting)} | {_default(setting)} | {meaning}{note} |"


def _option_row(setting: Setting[object], scope: frozenset[str]) -> str:
    spelled = ", ".join(f"`{option}`" for option in setting.option.split()[:-1])
    last = setting.option.split()[-1]
    value = _value(setting)
    shown = f"`{last} {value}`" if value else f"`{last}`"
    help_text = re.sub(r"^Suites: |  \[default.*\]$", "", setting.wording(SCOPES_OF_COMMANDS[next(iter(scope))]).help)
    shared = [item for item in settings_of(SCOPES_OF_COMMANDS[next(iter(scope))]) if item.asked == setting.asked]
    default = f" ({_default(setting)})" if _default(setting).startswith("`") and len(shared) == 1 else ""
    repeated = ". Repeatable" if setting.takes_list and "epeatable" not in help_text else ""
    note = f"; {setting.note}" if setting.note else ""
    return f"| {', '.join(filter(None, (spelled, shown)))} | {_phrase(help_text)}{default}{note}{repeated} |"


def _kind(setting: Setting[object]) -> str:
    if setting.choices:
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    if setting.spelled == "inner_loops":
        return "`auto` or an integer"
    if setting.takes_list:
        return "list of text"
    word = {"integer": "integer", "number": "number", "boolean": "true or false", "string": "text"}[setting.types[0]]
    return f"{word}{_range(setting)}{' or null' if 'null' in setting.types else ''}"


def _range(setting: Setting[object]) -> str:
    low, high = setting.minimum, setting.maximum
    if setting.above is not None:
        return f", above {setting.above:g}" + ("" if high is None else f", at most {high:,}")
    if low is None:
        return ""
    return f", {low:g} or more" if high is None else f", {low:g} to {high:,}"


def _default(setting: Setting[object]) -> str:
    if setting.shown_default:
        return setting.shown_default
    value = setting.default
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value == () or (value == 0 and setting.minimum == 1):
        return "none"
    if value == "":
        return "empty"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def _value(setting: Setting[object]) -> str:
    if setting.types == ("boolean",):
        return ""
    if setting.metavar:
        return setting.metavar.replace("|", "\\|")
    if setting.choices:
        return "\\|".join(str(choice) for choice in setting.choices)
    if setting.spelled in ("file", "existing file"):
        return "FILE"
    return {"integer": "N", "number": "X"}.get(setting.types[0], "TEXT")


def _phrase(text: str) -> str:
    """A sentence as a phrase within a table."""
    begins = text if text.split()[0] in _NAMES else text[:1].lower() + text[1:]
    return begins.rstrip(".")


_NAMES = ("HTTP", "JSON", "Python", "US")
_HEADS = {
    "settings": ("| key | type | default | meaning |", "|---|---|---|---|"),
    "options": ("| option | meaning |", "|---|---|"),
}
_ROWS: dict[str, Callable[[Setting[object], frozenset[str]], str]] = {"settings": _key_row, "options": _option_row}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
