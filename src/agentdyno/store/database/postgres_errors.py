"""What PostgreSQL says, in the user's words, with what to do."""

from __future__ import annotations

from sqlalchemy import URL

from agentdyno.errors import StoreError

_KEPT = "everything committed so far is kept"
_EXPLAINED = (
    (
        ("55P03",),
        "the store is locked: another process is writing to it and did not finish in time",
        "Wait for the other dyno to finish its write and try again; "
        "pg_stat_activity shows who holds a transaction open.",
    ),
    (
        ("40001", "40P01"),
        "another process changed the same rows at the same time",
        f"Try again; {_KEPT}.",
    ),
    (
        ("25006",),
        "the store is read-only",
        "Connect to a server that takes writes (not a standby), or name another store with --store or DYNO_STORE.",
    ),
    (
        ("42501",),
        "this user may not do that in the database",
        "Ask for the rights to read, write and create tables, or connect as the owner of the store.",
    ),
    (
        ("53100",),
        "the disk is full",
        f"Free some space on the server and resume the run; {_KEPT}.",
    ),
    (
        ("53",),
        "the server is out of memory, connections or another resource",
        f"Relieve the server and resume the run; {_KEPT}.",
    ),
    (
        ("57P", "08"),
        "the connection to the database was lost",
        f"Check that the server runs, then resume the run; {_KEPT}.",
    ),
    (
        ("57014",),
        "the server cancelled the statement",
        "Raise statement_timeout for this user, or leave it unset.",
    ),
    (
        ("58", "XX"),
        "the server failed to read or write the store",
        f"Look into the server's log; {_KEPT}.",
    ),
)
_DAMAGED = ("42P01", "42703")


def explained(sqlstate: str, message: str, where: str) -> StoreError:
    """An error of a session that was working; ``sqlstate`` is empty where the connection itself broke."""
    said = _first_line(message)
    for prefixes, meaning, remedy in _EXPLAINED:
        if sqlstate.startswith(prefixes):
            return StoreError(meaning, where=where, remedy=remedy)
    if sqlstate in _DAMAGED:
        remedy = "Restore a copy made by `dyno store backup`, or name an empty database to start a new store."
        return StoreError(f"the store is damaged: {said}", where=where, remedy=remedy)
    if sqlstate.startswith("22") or sqlstate.startswith("54"):
        return StoreError(f"a value cannot be stored: {said}", where=where)
    if not sqlstate:
        return StoreError(f"the connection to the database was lost: {said}", where=where, remedy=_EXPLAINED[6][2])
    return StoreError(f"the database refused: {said}", where=where)


def unreachable(message: str, url: URL, where: str) -> StoreError:
    """Why no session came about. libpq gives no code for this, only the server's words."""
    database = url.database or url.username or ""
    if "does not exist" in message and "database" in message:
        return StoreError(f"there is no database {database!r} on this server", where=where, remedy=_createdb(url))
    if "authentication failed" in message or "no password supplied" in message or "role" in message:
        return StoreError(
            f"the server does not let {url.username or 'this user'} in: {_reason(message)}",
            where=where,
            remedy="Check user and password in the URL; PGPASSWORD or ~/.pgpass keep the password out of it.",
        )
    if "no pg_hba.conf entry" in message:
        remedy = "Ask for an entry in pg_hba.conf, or try another host, user or sslmode."
        return StoreError(
            f"the server does not accept this connection: {_reason(message)}", where=where, remedy=remedy
        )
    if "too many clients" in message or "remaining connection slots" in message:
        remedy = "Close other connections, or raise max_connections."
        return StoreError("the server has no free connection", where=where, remedy=remedy)
    return StoreError(
        f"the database cannot be reached: {_reason(message)}",
        where=where,
        remedy="Check host and port and that the server runs (pg_isready tells), "
        "or name another store with --store or DYNO_STORE.",
    )


def _createdb(url: URL) -> str:
    words = ["createdb"]
    host = url.host or url.query.get("host")
    for option, value in (("-h", host), ("-p", url.port), ("-U", url.username)):
        if value:
            words += [option, str(value)]
    return f"Create it: `{' '.join([*words, url.database or ''])}`."


def _reason(message: str) -> str:
    """The server's own words where there are any."""
    _, fatal, rest = message.rpartition("FATAL:")
    return _first_line(rest if fatal else message)


def _first_line(message: str) -> str:
    return message.strip().partition("\n")[0].strip()
