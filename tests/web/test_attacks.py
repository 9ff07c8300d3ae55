"""What somebody might try who means harm. Who may ask at all: ``test_auth``; on the wire: ``test_wire_attacks``."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agentdyno.model import Response
from agentdyno.model.job import Scope
from agentdyno.store import Store
from tests.suites import Room
from tests.workbench.answering import put

from .routes.asking import Client, Json, Told, client_of, refused
from .service import WORKSPACE, Bench

MARKUP = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\"'><svg onload=alert(3)>",
    "javascript:alert(4)",
    "{{7*7}}${7*7}",
    "</textarea></title></style><b onclick=alert(5)>",
]
FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", '=cmd|" /C calc"!A0', "\n=1+1"]
DEEP = 100_000


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path, Store.open(tmp_path / "dyno.db"))


class Tags(HTMLParser):
    """The elements and attributes that a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "action")}


def hostile_run(room: Room, texts: list[str]) -> tuple[str, list[str]]:
    """A run in which the texts are inputs, targets, outputs, errors, and parts of names; and the ids of its cases."""
    rows = [{"id": f"c{number}", "input": text, "target": text} for number, text in enumerate(texts)]
    answers: dict[str, object] = {f"c{number}": Response(text) for number, text in enumerate(texts)}
    agents = [Told(f"{text}", "1", answers) for text in texts[:2]]
    result = put(room, room.suite(name="hostile", dataset={"cases": rows}), *agents)
    return result.run_id, [row["id"] for row in rows]


def test_markup_comes_out_as_the_text_it_is_and_never_as_a_page(room: Room) -> None:
    run_id, ids = hostile_run(room, MARKUP)
    client = client_of(room)
    paths = ["/api/agents", "/api/runs", f"/api/runs/{run_id}", f"/api/runs/{run_id}/samples", "/api/matrix"]
    paths += [f"/api/runs/{run_id}/cases/{case_id}" for case_id in ids]
    texts = []
    for path in paths:
        found = client.get(path)
        assert found.status_code == 200, found.text
        assert found.headers["content-type"] == "application/json"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in found.headers["content-security-policy"]
        assert "unsafe" not in found.headers["content-security-policy"]
        texts += strings(found.json())
    assert set(MARKUP) <= set(texts)
    client.app.state.services.close()
    room.store.close()


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return [value] if isinstance(value, str) else []


def test_a_report_in_html_has_no_element_that_came_from_an_agent(room: Room) -> None:
    plain, _ = hostile_run(room, [f"{letter}, a/long.name-with_places to:break" for letter in "ab"])
    hostile, _ = hostile_run(room, MARKUP)
    client = client_of(room)
    harmless, found = (Tags(client.get(f"/api/runs/{run_id}/report").text) for run_id in (plain, hostile))
    assert found.names - harmless.names == set()
    assert found.attributes - harmless.attributes == set()
    assert not any(name.startswith("on") for name in found.attributes)
    assert not any(link.lower().lstrip().startswith("javascript:") for link in found.links)
    client.app.state.services.close()
    room.store.close()


def test_no_cell_of_a_download_is_a_formula(room: Room) -> None:
    run_id, _ = hostile_run(room, FORMULAS)
    client = client_of(room)
    archive = zipfile.ZipFile(io.BytesIO(client.get(f"/api/runs/{run_id}/report", format="csv").content))
    seen = 0
    for name in archive.namelist():
        rows = list(csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig"), newline="")))
        for cell in (cell for row in rows for cell in row):
            seen += any(formula in cell for formula in FORMULAS)
            if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")):
                assert is_number(cell), (name, cell)
    assert seen >= len(FORMULAS)
    client.app.state.services.close()
    room.store.close()


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


BODIES = {
    "deep lists": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep and open": b"[" * DEEP,
    "deep inside": b'{"agent_id":"echo","suite_id":"sums","configuration":{"style":'
    + b"[" * DEEP
    + b"]" * DEEP
    + b"}}",
    "a huge integer": b'{"agent_id":"echo","suite_id":"sums","options":{"epochs":' + b"9" * 100_000 + b"}}",
    "a huge setting": b'{"agent_id":"echo","suite_id":"sums","configuration":{"style":' + b"9" * 100_000 + b"}}",
    "an infinite number": b'{"agent_id":"echo","suite_id":"sums","options":{"max_cost_usd":1e999}}',
    "no number": b'{"agent_id":"echo","suite_id":"sums","options":{"max_cost_usd":NaN}}',
    "half a pair": b'{"agent_id":"\\ud800","suite_id":"sums"}',
    "no UTF-8": b'{"agent_id":"\xff\xfe","suite_id":"sums"}',
    "a zero byte": b'{"agent_id":"e\\u0000cho","suite_id":"sums"}',
    "a long name": b'{"agent_id":"' + b"a" * 500_000 + b'","suite_id":"sums"}',
    "many settings": json.dumps(
        {"agent_id": "echo", "suite_id": "sums", "configuration": {f"k{n}": n for n in range(20_000)}}
    ).encode(),
    "YAML": b'a: &a ["x","x"]\nb: &b [*a,*a]\nagent_id: *b\n',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("path", ["/benchmarks/run", "/benchmarks/compare", "/api/keys"])
def test_a_body_that_is_made_to_hurt_is_refused(tmp_path: Path, path: str, body: bytes) -> None:
    bench = Bench(tmp_path)
    client = Client(bench.app, bench.key(Scope.ADMIN))
    answer = client.send("POST", path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 404, 422), answer.text[:500]
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) < 20_000, "what was sent is not sent back in full"
    with bench.store() as store:
        assert store.service.queue_depth() == 0
    bench.app.state.services.close()


IMPORTS = {
    "deep.json": BODIES["deep lists"],
    "deeper.json": BODIES["deep objects"],
    "digits.json": b'{"results":[{"command":"x","times":[' + b"9" * 100_000 + b"]}]}",
    "infinite.json": b'{"results":[{"command":"x","times":[1e999]}]}',
    "none.json": b'{"results":[{"command":"x","times":[NaN]}]}',
    "bomb.yaml": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n".encode()
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ),
    "text.json": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("name", IMPORTS)
def test_a_file_that_is_made_to_hurt_is_not_taken_in(room: Room, name: str) -> None:
    client = client_of(room, Scope.ADMIN)
    problem = refused(client.send("POST", f"/api/import?name={name}", content=IMPORTS[name]), 422)
    assert len(json.dumps(problem)) < 20_000
    assert room.store.runs.newest() == []
    client.app.state.services.close()
    room.store.close()


@pytest.mark.parametrize("packed", ["gzip", "zip"])
def test_a_small_file_that_unpacks_to_a_large_one_is_not_taken_in(room: Room, packed: str) -> None:
    """It is given up long before all of it is in memory."""
    client = client_of(room, Scope.ADMIN)
    if packed == "gzip":
        name, content = "results.json.gz", gzip.compress(bytes(64 << 20), 1) * 64
    else:
        name, content = "log.eval", _zip_bomb()
    before = _peak_bytes()
    problem = refused(client.send("POST", f"/api/import?name={name}", content=content), 413)
    assert "holds a file of more than 64 MiB" in problem["detail"]
    assert _peak_bytes() - before < 1 << 30
    client.app.state.services.close()
    room.store.close()


def _zip_bomb() -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("header.json", "w") as member,
    ):
        for _ in range(64):
            member.write(bytes(16 << 20))
    return file.getvalue()


def _peak_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_a_project_file_that_multiplies_itself_is_a_problem_and_not_the_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n"
    (tmp_path / "dyno.yaml").write_text(WORKSPACE + bomb)
    client = Client(bench.app, bench.key(Scope.ADMIN))
    answer = client.send("POST", "/benchmarks/run", json={"agent_id": "echo", "suite_id": "sums"})
    assert 400 <= answer.status_code < 500, answer.text
    assert client.get("/health").status_code == 200
    bench.app.state.services.close()


def test_a_page_of_another_site_gets_no_leave_to_ask(tmp_path: Path) -> None:
    """Neither by asking first, nor for a form that needs no asking: those have no key, and a key is not a cookie."""
    bench = Bench(tmp_path)
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    with bench.client() as client:
        for path in ("/benchmarks/run", "/api/keys", "/api/session"):
            answer = client.options(path, headers={**asked, "Access-Control-Request-Headers": "authorization"})
            assert answer.status_code >= 400
            assert not any(name.startswith("access-control-") for name in answer.headers)
        form = {"Origin": "http://evil.example", "Content-Type": "text/plain"}
        refused_form = client.post("/benchmarks/run", content=b'{"agent_id":"echo","suite_id":"sums"}', headers=form)
        assert refused_form.status_code == 401
        read = client.get("/api/session", headers={"Origin": "http://evil.example"})
        assert "access-control-allow-origin" not in read.headers
        assert read.headers["cross-origin-resource-policy"] == "same-origin"


def test_an_answer_to_a_guess_is_the_same_whatever_is_wrong_with_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.ADMIN)
    guesses = ["dyno_" + "x" * 40, secret[:-1] + ("a" if secret[-1] != "a" else "b"), secret[:10], secret + "x", "x"]
    client = Client(bench.app)
    bodies: list[Json] = []
    for guess in guesses:
        answer = client.get("/api/session", headers={"Authorization": f"Bearer {guess}"})
        assert answer.status_code == 401
        bodies.append(answer.json())
    assert all(body == bodies[0] for body in bodies)
    bench.app.state.services.close()
