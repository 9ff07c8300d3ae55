"""Which agent, suite or run a client means. What is not there is a 404 with the nearest names."""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from uuid import UUID

from agentdyno.errors import SpecError
from agentdyno.findings.record.ask_names import AgentName, UnknownName, agent_named, run_named, suite_named
from agentdyno.store.runs.pages import After
from agentdyno.web.problems import FieldProblem, RefusedRequest, finding
from agentdyno.web.state import Services

MOST_AGENTS = 50
LONGEST_NAME = 500


def find_agent(services: Services, reference: str, field: str = "agent_id") -> AgentName:
    """An agent that has run, or is registered: by name, ``NAME@VERSION`` or UUID."""
    store = services.store
    with finding(field):
        try:
            return agent_named(store, reference)
        except UnknownName as error:
            catalogue = services.catalogue
            try:
                found = catalogue.find_agent(reference)
            except SpecError:
                known = {*catalogue.agents, *(row.name for row in store.boards.agents())}
                if reference.rpartition("@")[0] in known:
                    raise error from None
                raise UnknownName.of("agent", reference, known) from None
            return AgentName(found.name)


def find_suite(services: Services, reference: str | None, field: str = "suite_id") -> str | None:
    """A digest or the id of a suite (all its versions); ``None`` where none was asked for."""
    if not reference:
        return None
    store = services.store
    with finding(field):
        try:
            return suite_named(store, reference)
        except UnknownName:
            catalogue = services.catalogue
            try:
                return catalogue.find_suite(reference).suite_id
            except SpecError:
                known = {*catalogue.suites, *(row.suite_id for row in store.boards.suites())}
                raise UnknownName.of("suite", reference, known) from None


def find_stored_suite(services: Services, reference: str | None, field: str = "suite_id") -> str | None:
    """Like ``find_suite``, for questions about runs: a suite that was never run is a 404 too."""
    found = find_suite(services, reference, field)
    if found is not None and not any(found in (row.suite_id, row.digest) for row in services.store.boards.suites()):
        message = f"the suite {found!r} has not been run yet"
        remedy = f"`dyno run {found} --agent AGENT` does."
        raise RefusedRequest(404, message, remedy, errors=(FieldProblem(field, message),))
    return found


def find_run(services: Services, reference: str, field: str = "run_id") -> str:
    """The full id of a run."""
    with finding(field):
        return run_named(services.store, reference)


def find_agents(services: Services, listed: str | None, field: str = "agent_ids") -> list[str]:
    """Labels of the agents in a list with commas; empty where none is named."""
    names = [name.strip() for name in (listed or "").split(",") if name.strip()]
    if len(names) > MOST_AGENTS:
        message = f"{len(names)} agents are more than {MOST_AGENTS}"
        raise RefusedRequest(422, message, "Name fewer.", errors=(FieldProblem(f"query.{field}", message),))
    return [find_agent(services, name, field).label for name in names]


def place_after(cursor: str | None) -> After | None:
    """Where a list by time goes on; ``cursor_after`` made the cursor."""
    parts = decode_cursor(cursor, int, str)
    if parts is None:
        return None
    try:
        return After(int(parts[0]), str(UUID(str(parts[1]))))
    except ValueError:
        raise SpecError("this is no cursor of this list", where="cursor") from None


def cursor_after(at: int, uid: str) -> str:
    """The cursor of the page behind the row of that time and UUID."""
    return encode_cursor([at, uid])


Part = int | str
_LONGEST = 1024
_LARGEST = 2**63 - 1


def encode_cursor(parts: Sequence[Part]) -> str:
    """Base64url of what identifies the last item that was given."""
    text = json.dumps(list(parts), separators=(",", ":"), ensure_ascii=True)
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: type) -> tuple[Part, ...] | None:
    """What ``encode_cursor`` was given, checked to be of these ``kinds`` (``int`` or ``str``), in order.

    ``None`` without a cursor. Raises ``SpecError`` at a text that is no cursor of this list.
    """
    if not cursor:
        return None
    wrong = SpecError("this is no cursor of this list", where="cursor", remedy="Give back `next` as it came.")
    if len(cursor) > _LONGEST or not cursor.isascii():
        raise wrong
    try:
        parts = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise wrong from None
    if not isinstance(parts, list) or [type(part) for part in parts] != list(kinds):
        raise wrong
    if any(isinstance(part, int) and abs(part) > _LARGEST for part in parts):
        raise wrong
    return tuple(parts)
