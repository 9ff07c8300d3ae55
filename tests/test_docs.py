"""The documentation is executed: commands run, files load, Python and SQL work, and the reference is complete.

How a page is read, from top to bottom in a folder of its own:

- A block right after a line that ends with a file name (``Save this as `lookup.py`:``) is written to that file.
- In ``bash`` blocks every line that starts with ``dyno`` or ``git`` is run, ``make`` targets must exist, and
  ``cd`` and ``mkdir`` do what they say. In ``console`` blocks the same holds for lines that start with ``$``, and
  the words of the output shown must be in the real output.
- A command succeeds, unless the line ends with ``# exits with 1`` (or ``# exits with 0 or 1``).
- ``dyno model serve`` and ``dyno model simulate`` are started on a free port and ended with the page; later lines and
  files that name the documented port get the real one.
- ``export DYNO_STORE=postgresql://…`` starts a server and gives the rest of the page an empty database there.
- A ``python`` block without a file name is run as a script, an ``sql`` block against the page's store. A ``yaml``
  block without one is checked as a suite, a load file, ``dyno.yaml`` or a spec, whichever its keys belong to.
- Nothing leaves the machine: there are no API keys, and only the local model and simulated ones are called.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal, get_args

import click
import psycopg
import pytest
import yaml

import agentdyno
from agentdyno.agents.endpoints.http_json import HttpJson
from agentdyno.agents.endpoints.ollama_chat import NUMBERS, OllamaChat
from agentdyno.agents.endpoints.openai_chat import OpenAIChat
from agentdyno.agents.resolve import COMMAND_KEYS
from agentdyno.cli.main import COMMANDS, dyno
from agentdyno.findings.figures.window_readings import LOAD_METRICS
from agentdyno.model import (
    AgentUse,
    ArmResult,
    BaselineScores,
    Benchmark,
    Case,
    CaseFigures,
    Constraints,
    Direction,
    Environment,
    Event,
    MetricSummary,
    Reducer,
    Response,
    Rubric,
    RunResult,
    RunWarning,
    Sample,
    Score,
    ScorerUse,
    Suite,
    Usage,
)
from agentdyno.model.metric import KNOWN_METRICS
from agentdyno.model.result import Artifact, Vcs
from agentdyno.model.sample import Failure, FailureKind, Status
from agentdyno.pricing import CostSource
from agentdyno.registry import GROUPS
from agentdyno.registry.describe import signature_of
from agentdyno.servers.model_wheel import find_model
from agentdyno.specs import json_schema, parse_spec, parse_suite
from agentdyno.specs.commands.build import parse_commands
from agentdyno.specs.files.yaml_text import parse_yaml
from agentdyno.specs.load.build import parse_load
from agentdyno.specs.workspace.load import read_workspace
from agentdyno.store.boards.view import CREATE_VIEW
from agentdyno.workbench.listing import workload_files

from .architecture.test_layers import LAYERS
from .loaded_commands import Commands
from .postgres import Postgres

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PROSE = [
    *PAGES,
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "packages").rglob("README.md")),
]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`([\w./-]+\.(?:py|yaml|yml|toml|jsonl|csv|json|sh|mjs|rs|go))`:$")
_EXITS = re.compile(r"\s+# exits with ([\d or]+)$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced block; ``file`` is the name that the line before it ends with."""

    language: str
    text: str
    file: str | None


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found = []
    for match in _FENCE.finditer(text):
        before = text[: match.start()].rstrip().rpartition("\n")[2]
        named = _FILE.search(before)
        found.append(Block(match[1], match[2], named[1] if named else None))
    return found


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def databases(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Gives the URL of an empty PostgreSQL database; the server is started by the first page that asks."""

    def fresh() -> str:
        server: Postgres = request.getfixturevalue("postgres")
        return server.url(server.create_database())

    return fresh


_NOT_PASSED_ON = re.compile(r"^(DYNO_|GIT_|PYTHON|OLLAMA_)|(KEY|TOKEN|SECRET|PASSWORD)$")
_PORTS = {"serve": "8080", "simulate": "8081"}
_PATIENCE_S = 280
"""Of one block of a page: fourteen runs beside a machine full of other work took more than two minutes."""


class Folder:
    """The folder of one page, where its files are written and its commands run."""

    def __init__(
        self, root: Path, served: Commands | None = None, databases: Callable[[], str] | None = None
    ) -> None:
        self.here = root
        self._served = served
        self._databases = databases
        self._models: list[subprocess.Popen[str]] = []
        self._addresses: dict[str, str] = {}
        self.environ = {
            **{key: value for key, value in os.environ.items() if not _NOT_PASSED_ON.search(key)},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "160",
            "GIT_AUTHOR_NAME": "Reader",
            "GIT_AUTHOR_EMAIL": "reader@example.org",
            "GIT_COMMITTER_NAME": "Reader",
            "GIT_COMMITTER_EMAIL": "reader@example.org",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    def write(self, block: Block) -> None:
        assert block.file is not None
        path = self.here / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._real(block.text))
        if path.suffix == ".py":
            compile(block.text, block.file, "exec")

    def run(self, line: str) -> str:
        """Runs one line of a shell block if it is of a kind that is run; what it printed."""
        exits = _EXITS.search(line)
        allowed = {int(code) for code in re.findall(r"\d+", exits[1])} if exits else {0}
        command = self._real(_EXITS.sub("", line).strip())
        word = command.partition(" ")[0]
        if word in ("cd", "mkdir"):
            folder = self.here / shlex.split(command)[-1]
            folder.mkdir(parents=True, exist_ok=True)
            self.here = folder if word == "cd" else self.here
        elif word == "make":
            self._shell(f"make --no-print-directory --dry-run {command.partition(' ')[2]}", ROOT, {0})
        elif word == "export":
            name, _, value = command.removeprefix("export ").partition("=")
            self.environ[name] = self._databases() if self._databases and value.startswith("postgresql:") else value
        elif command.startswith(("dyno model serve", "dyno model simulate")):
            self._start_model(command)
        elif word in ("dyno", "git"):
            if command.startswith("dyno model install"):
                assert find_model() is not None, "the local model is not here: run `dyno model install` first"
            if "--calibrate" in command and "--comparisons" not in command:
                command += " --comparisons 5"
            return self._shell(command, self.here, allowed)
        return ""

    def python(self, text: str) -> str:
        return self._checked([sys.executable, "-W", "error", "-c", text], "the python block", self.here, {0})

    def sql(self, text: str) -> list[tuple[object, ...]]:
        """The rows that a statement gives; at least one, or the page shows nothing."""
        url = self.environ.get("DYNO_STORE", "")
        if url:
            with psycopg.connect(url) as there:
                rows = there.execute(text.encode()).fetchall()
        else:
            with contextlib.closing(sqlite3.connect(self.here / ".dyno" / "dyno.db")) as here:
                rows = here.execute(text).fetchall()
        assert rows, f"no rows: {text}"
        return rows

    def close(self) -> None:
        """Ends the models that the page has started."""
        for model in self._models:
            model.send_signal(signal.SIGINT)
            model.communicate(timeout=30)

    def _start_model(self, command: str) -> None:
        words = shlex.split(command)
        documented = words[words.index("--port") + 1] if "--port" in words else _PORTS[words[2]]
        if "--port" in words:
            del words[words.index("--port") : words.index("--port") + 2]
        model = subprocess.Popen(
            [*words, "--port", "0"],
            cwd=self.here,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._models.append(model)
        assert model.stdout is not None
        url = re.search(r"127\.0\.0\.1:\d+", model.stdout.readline())
        assert url is not None, f"{command} does not say where it listens"
        self._addresses[f"127.0.0.1:{documented}"] = url[0]

    def _real(self, text: str) -> str:
        """With the addresses of the models that run in place of the documented ones."""
        for documented, real in self._addresses.items():
            text = text.replace(documented, real)
        return text

    def _shell(self, command: str, folder: Path, allowed: set[int]) -> str:
        alone = re.fullmatch(r"(dyno [^>|;&$]+?)(?: > ([\w.-]+))?", command)
        if self._served is not None and alone:
            into = folder / alone[2] if alone[2] else None
            code, output = self._served.run(shlex.split(alone[1]), folder, self.environ, into)
            assert code in allowed, f"{command} exits with {code}, not {allowed}:\n{output}"
            return output
        return self._checked(["bash", "-o", "pipefail", "-c", command], command, folder, allowed)

    def _checked(self, arguments: list[str], what: str, folder: Path, allowed: set[int]) -> str:
        done = subprocess.run(
            arguments, cwd=folder, env=self.environ, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
        output = done.stderr + done.stdout
        assert done.returncode in allowed, f"{what} exits with {done.returncode}, not {allowed}:\n{output}"
        return output


def lines_of(text: str) -> Iterator[str]:
    """Logical lines: a backslash at the end joins the next one."""
    yield from text.replace("\\\n", " ").splitlines()


def missing_words(shown: list[str], output: str) -> list[str]:
    """Words of lines without figures that the real output does not have. Lines of ``...`` stand for what was cut."""
    words = set(re.findall(r"[A-Za-z_.]{3,}", output))
    wanted = [
        word for line in shown if not re.search(r"\d|\.\.\.", line) for word in re.findall(r"[A-Za-z_.]{3,}", line)
    ]
    return [word for word in wanted if word not in words]


def run_page(page: Path, folder: Folder) -> None:
    for block in blocks(page):
        if block.file is not None:
            folder.write(block)
        elif block.language == "bash":
            for line in lines_of(block.text):
                folder.run(line)
        elif block.language == "console":
            run_console(block, folder)
        elif block.language == "python":
            folder.python(block.text)
        elif block.language == "sql":
            folder.sql(block.text)


def run_console(block: Block, folder: Folder) -> None:
    shown: list[str] = []
    output = ""
    for line in [*lines_of(block.text), "$"]:
        if not line.startswith("$"):
            shown.append(line)
            continue
        assert not output or not missing_words(shown, output), (
            f"shown, but not in the output: {missing_words(shown, output)}\n{output}"
        )
        shown, output = [], folder.run(line[1:])


_RUN = ("bash", "console", "python", "sql")
RUNNABLE = [page for page in PAGES if any(block.language in _RUN for block in blocks(page))]


@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_everything_a_page_shows_works(
    page: Path, tmp_path: Path, loaded_commands: Commands, databases: Callable[[], str]
) -> None:
    with contextlib.closing(Folder(tmp_path, loaded_commands, databases)) as folder:
        run_page(page, folder)


Kind = Literal["spec", "suite", "load", "workspace"]


def properties_of(kind: Kind) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Every key of a kind of file, with what the schema says of it."""
    schema = json_schema(kind)
    definitions = schema.get("$defs", {})
    assert isinstance(definitions, dict)
    for table in (schema, *definitions.values()):
        yield from table.get("properties", {}).items()


def has_keys_of(kind: Kind, document: Mapping[str, object]) -> bool:
    own = json_schema(kind)["properties"]
    return isinstance(own, dict) and document.keys() <= own.keys()


def kind_of(document: Mapping[str, object]) -> Kind:
    """What a block of YAML is: whole or in part, its keys are those of one kind of file."""
    if "load" in document:
        return "load"
    if {"dataset", "benchmarks"} & document.keys():
        return "suite"
    if isinstance(document.get("agents"), dict):
        return "workspace"
    kinds: tuple[Kind, ...] = ("workspace", "spec", "suite")
    return next(kind for kind in kinds if has_keys_of(kind, document))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_suites_specs_and_workspaces_on_a_page_are_valid(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.file is not None:
            Folder(tmp_path).write(block)
        if block.language != "yaml":
            continue
        document = parse_yaml(block.text, name_of(page))
        assert isinstance(document, dict)
        if "jobs" in document:  # a workflow of the continuous integration
            continue
        if "commands" in document:
            parse_commands(document, source=name_of(page))
            continue
        kind = kind_of(document)
        if kind == "workspace":
            (tmp_path / "checked.yaml").write_text(block.text)
            read_workspace(tmp_path / "checked.yaml")
        elif kind == "suite":
            whole = {"dataset", "benchmarks"} & document.keys()
            suite = document if whole else {**document, "dataset": [{"input": "?"}]}
            parse_suite(suite, source=name_of(page), base_dir=tmp_path)
        elif kind == "load":
            parse_load(document, source=name_of(page), base_dir=tmp_path)
        else:
            whole = {"experiment", "experiments"} & document.keys()
            spec = document if whole else {**document, "experiment": "retrieval"}
            parse_spec(spec, source=name_of(page), base_dir=tmp_path)


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for match in _LINK.finditer(_FENCE.sub("", page.read_text())):
        target, _, anchor = (match[1] or match[2]).partition("#")
        if "://" in target:
            continue
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{name_of(page)} links to {target}, which does not exist"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{name_of(page)} links to {target}#{anchor}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PROSE, ids=name_of)
def test_pages_are_reachable_and_tidy(page: Path) -> None:
    text = page.read_text()
    assert text.startswith("# "), "a page starts with its title"
    assert text.count("\n```") % 2 == 0, "a fenced block is not closed"
    if page.is_relative_to(DOCS) and page != DOCS / "README.md":
        assert str(page.relative_to(DOCS)) in (DOCS / "README.md").read_text(), "the index does not name this page"


# The reference names everything there is.


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(dyno)
    for name in COMMANDS:
        command = dyno.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", item) for below, item in command.commands.items())
        else:
            yield name, command


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda item: item if isinstance(item, str) else ""
)
def test_the_command_reference_names_every_option(name: str, command: click.Command) -> None:
    page = (DOCS / "reference" / "cli.md").read_text()
    heading = f"## dyno {name}\n"
    assert heading in page
    section = page.partition(heading)[2].partition("\n## ")[0]
    for parameter in command.params:
        spelled = (
            parameter.opts
            if isinstance(parameter, click.Option)
            else [parameter.make_metavar(click.Context(command))]
        )
        for option in spelled:
            assert f"`{option}" in section or f", {option}" in section or option in heading + section, (
                f"dyno {name}: {option} is not described"
            )


def test_the_command_reference_names_nothing_that_does_not_exist() -> None:
    page = (DOCS / "reference" / "cli.md").read_text()
    known = {option for _, command in commands() for item in command.params for option in item.opts}
    known |= {option for item in dyno.params for option in item.opts} | {"--help", "-h"}
    for option in re.findall(r"^\| `(--?[a-z-]+)", page, re.MULTILINE):
        assert option in known, f"{option} does not exist"


def test_the_spec_reference_names_every_field_and_default() -> None:
    page = (DOCS / "reference" / "spec-file.md").read_text()
    schema = json_schema()
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    for table in (schema, *definitions.values()):
        properties = table["properties"]
        assert isinstance(properties, dict)
        for name, row in properties.items():
            line = next((line for line in page.splitlines() if line.startswith(f"| `{name}`")), None)
            assert line is not None, f"the field {name} is not described"
            default = row.get("default")
            if isinstance(default, str | int | float) and not isinstance(default, bool):
                assert f"`{default:g}`" in line if isinstance(default, float) else f"`{default}`" in line, (
                    f"the default of {name} is {default}"
                )


@pytest.mark.parametrize("kind", ["suite", "load", "workspace"])
def test_the_references_of_suites_loads_and_workspaces_name_every_key_and_default(kind: Kind) -> None:
    page = (DOCS / "reference" / f"{kind}-file.md").read_text()
    rows = {line.partition("` |")[0].removeprefix("| `"): line for line in page.splitlines() if line[:3] == "| `"}
    zero_means_none = {"cached", "compute_price_per_cpu_hour", "size", "limit"}
    for name, row in properties_of(kind):
        assert name in rows, f"the key {name} is not described"
        default = row.get("default")
        if not default or isinstance(default, bool) or name in zero_means_none:
            continue
        shown = f"`{default:g}`" if isinstance(default, float) else f"`{default}`"
        assert shown in rows[name], f"the default of {name} is {default}"


@pytest.mark.parametrize(
    "kind",
    [
        *(RunResult, ArmResult, MetricSummary, Sample, Failure, Environment, Vcs, RunWarning, Artifact, CaseFigures),
        *(Suite, Benchmark, Rubric, ScorerUse, Constraints, BaselineScores, AgentUse),
        *(Case, Response, Usage, Event, Score),
    ],
    ids=lambda kind: str(kind.__name__),
)
def test_the_result_reference_names_every_field(kind: type) -> None:
    assert is_dataclass(kind)
    page = (DOCS / "reference" / "result-json.md").read_text()
    for field in fields(kind):
        if not field.name.startswith("_"):
            assert f"`{field.name}`" in page, f"{kind.__name__}.{field.name} is not described"


def test_the_result_reference_names_every_status_and_kind_of_failure() -> None:
    page = (DOCS / "reference" / "result-json.md").read_text()
    for value in (*Status, *FailureKind):
        assert f"`{value}`" in page, f"{value} is not described"


def test_the_metrics_reference_names_every_built_in_metric() -> None:
    page = (DOCS / "reference" / "metrics.md").read_text()
    for name in KNOWN_METRICS:
        assert f"| `{name}` |" in page


def test_the_metrics_reference_names_every_reading_of_a_window_of_load() -> None:
    section = (DOCS / "reference" / "metrics.md").read_text().partition("\n## Of load\n")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    named = {name: row[3].strip() for row in rows for name in re.findall(r"`(\w+)`", row[1])}
    better = {Direction.HIGHER: "higher", Direction.LOWER: "lower", Direction.UNKNOWN: ""}
    assert named == {name: better[metric.direction] for name, metric in LOAD_METRICS.items()}


def test_the_pages_about_models_name_every_figure_and_parameter() -> None:
    from agentdyno_workloads.llm import multi_agent, single_agent

    page = (DOCS / "guides" / "llm-benchmarks.md").read_text()
    reference = (DOCS / "reference" / "metrics.md").read_text()
    for module, kind in ((single_agent, single_agent.SingleAgent), (multi_agent, multi_agent.MultiAgent)):
        for name in module.METRICS:
            assert f"`{name}`" in page, f"the figure {name} is not described"
            assert f"`{name}`" in reference, f"the figure {name} is not named in the reference"
        for option in signature_of(kind.__init__, skip_first=True)[0]:
            assert f"`{option.name}`" in page, f"the parameter {option.name} is not described"


def scorers() -> list[tuple[str, str]]:
    found = entry_points(group="agentdyno.scorers")
    return [(item.name, item.value) for item in found if item.value.startswith("agentdyno.")]


@pytest.mark.parametrize(("name", "place"), scorers(), ids=lambda item: item.rpartition(":")[2])
def test_the_guide_to_scorers_names_every_scorer_and_option(name: str, place: str) -> None:
    module, _, attribute = place.partition(":")
    page = (DOCS / "guides" / "scorers.md").read_text()
    assert f"\n### {name}\n" in page, f"the scorer {name} is not described"
    section = page.partition(f"\n### {name}\n")[2].partition("\n##")[0]
    options, _ = signature_of(getattr(import_module(module), attribute).__init__, skip_first=True)
    wanted = {option.name for option in options} - {"judge", "judges", "prices"}  # those are given by the runner
    assert {row[1] for row in re.finditer(r"^\| `(\w+)` \|", section, re.MULTILINE)} == wanted


def test_the_guide_to_scorers_names_every_reducer() -> None:
    page = (DOCS / "guides" / "scorers.md").read_text()
    assert all(f"| `{reducer}` |" in page for reducer in Reducer)


@pytest.mark.parametrize(
    ("heading", "kind"), [("HTTP endpoints", HttpJson), ("OpenAI-compatible endpoints", OpenAIChat)]
)
def test_the_guide_to_agents_names_the_configuration_of_endpoints(heading: str, kind: type) -> None:
    section = (DOCS / "guides" / "agents.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    options, _ = signature_of(kind.__init__, skip_first=True)  # type: ignore[misc]
    for option in options:
        if option.name not in ("name", "version", "environ", "url", "model") or (
            option.name == "model" and kind is HttpJson
        ):
            assert re.search(rf"^\| [^|]*`{option.name}`", section, re.MULTILINE), f"{option.name} is not described"


def test_the_guide_to_agents_names_the_configuration_of_commands_and_ollama() -> None:
    page = (DOCS / "guides" / "agents.md").read_text()
    shared = {item.name for item in signature_of(OpenAIChat.__init__, skip_first=True)[0]}
    own = {item.name for item in signature_of(OllamaChat.__init__, skip_first=True)[0]} - shared
    for name in (*COMMAND_KEYS, *NUMBERS, *own):
        assert f"`{name}`" in page, f"{name} is not described"


def test_the_guide_to_costs_names_every_source() -> None:
    page = (DOCS / "guides" / "costs.md").read_text()
    assert all(f"| `{source}` |" in page for source in get_args(CostSource))


def test_the_page_about_the_store_names_every_column_of_the_view() -> None:
    page = (DOCS / "concepts" / "store.md").read_text()
    columns = re.findall(r" AS (\w+)(?=,\n|\nFROM executions)", CREATE_VIEW["sqlite"])
    assert len(columns) > 20
    for column in columns:
        assert f"`{column}`" in page, f"the column {column} is not described"


def test_the_python_reference_names_every_public_name() -> None:
    page = (DOCS / "reference" / "python-api.md").read_text()
    for name in agentdyno.__all__:
        assert f"`{name}" in page, f"{name} is not described"


def test_the_environment_reference_names_every_variable() -> None:
    page = (DOCS / "reference" / "environment.md").read_text()
    source = "\n".join(path.read_text() for path in (ROOT / "src" / "agentdyno").rglob("*.py"))
    for name in sorted(set(re.findall(r"\bDYNO_[A-Z_]+\b", source)) | {"NO_COLOR", "XDG_CACHE_HOME"}):
        assert f"`{name}`" in page, f"{name} is not described"


def test_the_plugin_guide_names_every_entry_point_group() -> None:
    page = (DOCS / "guides" / "plugins.md").read_text()
    for group in GROUPS:
        assert f'[project.entry-points."agentdyno.{group}"]' in page


DRAWN = {
    "findings/ask": "findings/*/ask*",
    "findings/tables": "findings/*/tables*, charts*, findings/conclusions, findings/catalogue",
    "findings/judge": "findings/*/judge*, words*, findings/engine, findings/figures",
    "findings/model": "findings/*/model*",
}
"""How the page names the parts of ``findings``, which are layers by the beginning of a file's name."""


def test_the_architecture_page_draws_the_layers_that_are_checked() -> None:
    drawn = next(block.text for block in blocks(DOCS / "architecture.md") if block.language == "text")
    without_remarks = [re.split(r" {3,}", line)[0] for line in drawn.splitlines() if line.strip()]
    shown = [[word.strip() for word in line.split(" | ")] for line in without_remarks]
    assert shown == [[DRAWN.get(part, part) for part in layer] for layer in LAYERS]


# Continuous integration runs what the documentation says.


def test_workflows_run_what_exists(tmp_path: Path) -> None:
    workflows = ROOT / ".github" / "workflows"
    tests = (workflows / "test.yml").read_text()
    assert ".ci/run" in tests
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    text = (workflows / "benchmarks.yml").read_text()
    assert "GITHUB_STEP_SUMMARY" in text
    command = re.search(r"dyno run (\S+)", text)
    assert command is not None
    spec = ROOT / command[1]
    assert spec.is_file(), f"benchmarks.yml runs {command[1]}, which does not exist"
    folder = Folder(tmp_path)
    plan = folder.run(f"dyno run {spec} --dry-run")
    assert "Nothing was run" in plan
    database = (workflows / "database-performance-baseline.yml").read_text()
    named = re.findall(r"[a-z_]+_baseline(?=[ ;\n])", database)
    assert len(set(named)) == 3
    assert {f"workload:simulation/{name}" for name in named} <= {item.name for item in workload_files("specs")}
    for name in workflows.glob("*.yml"):
        document = yaml.safe_load(name.read_text())
        assert document["jobs"]
