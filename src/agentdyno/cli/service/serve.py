"""``dyno serve``."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from agentdyno.cli.options import settings_options
from agentdyno.cli.shared import open_store, say, store_option, store_url
from agentdyno.settings.setting import SERVE

if TYPE_CHECKING:
    import uvicorn

    from agentdyno.store import Store
    from agentdyno.web.settings import ServiceSettings


class _Options(TypedDict):
    cors: tuple[str, ...]
    store: str | None
    keyless_read: bool


BACKLOG = 1024
FINISH_S = 5
"""Seconds that requests in progress get to end when the service stops."""
TURN_S = 0.0005
"""Seconds for which a thread that computes keeps the others of the service waiting. A request changes threads several
times: with Python's 5 ms it would wait for as long each time while an answer is made anew."""


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno serve                                       for this machine: http://127.0.0.1:8321\n"
    "  dyno keys create ci --scope run                  a key, to start runs from outside\n"
    "  dyno serve --host 0.0.0.0 --store postgresql://host/dyno --workers 4"
)
@settings_options(SERVE)
@click.option(
    "--cors", "cors", multiple=True, metavar="ORIGIN", help="A site whose pages may call the API; repeatable."
)
@store_option
def command(host: str, port: int, workers: int, lease_s: float, **options: Unpack[_Options]) -> int:
    """Serve the dashboard, the REST API and the workers until Ctrl-C. Prints its address.

    On this machine anybody may read while there is no key; starting a run needs one.
    """
    from agentdyno.errors import SpecError
    from agentdyno.extras import need_extra
    from agentdyno.jobs.processes import WorkerPool
    from agentdyno.web.settings import ServiceSettings, is_loopback

    need_extra("service", "dyno serve")
    store, keyless = options["store"], options["keyless_read"]
    url = store_url(store)
    with open_store(store) as opened:
        has_key = _has_key(opened)
    if keyless and not is_loopback(host):
        raise SpecError(
            f"listening at {host} without asking for a key would let everybody read",
            where="--keyless-read",
            remedy="Leave it out, or listen at 127.0.0.1.",
        )
    if not has_key and not is_loopback(host):
        raise SpecError(
            f"listening at {host} would let everybody in: there is no key",
            where="dyno serve",
            remedy="Make one first: dyno keys create admin --scope admin.",
        )
    with closing(listen(host, port)) as listening:
        settings = ServiceSettings(
            url, Path.cwd(), host, workers, tuple(options["cors"]), keyless_beside_keys=keyless, warm_up=True
        )
        server, token = server_for(settings)
        with WorkerPool(url, Path.cwd(), workers, round(lease_s * 1000)):
            _announce(address_of(host, listening), settings, token, has_key=has_key)
            sys.setswitchinterval(TURN_S)
            server.run(sockets=[listening])
    say("Stopped.")
    return 0


def server_for(settings: ServiceSettings) -> tuple[uvicorn.Server, str]:
    """One that SIGINT and SIGTERM end cleanly, from now on; and the token of its link."""
    import logging
    import signal

    import uvicorn

    from agentdyno.web.app import create_app
    from agentdyno.web.slow_headers import impatient
    from agentdyno.web.state import Services

    app = create_app(settings)
    services: Services = app.state.services
    config = uvicorn.Config(
        app,
        http=impatient(settings.header_timeout_s),
        log_config=None,
        access_log=logging.getLogger().isEnabledFor(logging.INFO),
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=FINISH_S,
    )
    server = uvicorn.Server(config)

    def end(*_: object) -> None:
        """The server has handlers of its own while it runs, and raises again afterwards what they caught."""
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    return server, services.link.make(services.now_ms())


def _announce(address: str, settings: ServiceSettings, token: str, *, has_key: bool) -> None:
    workers = settings.workers
    click.echo(address)
    say(f"Dashboard  {address}/")
    say(f"Sign in    {address}/sign-in#{token} (to read and run; once, within an hour)")
    say(f"API        {address}/docs")
    say(f"Workers    {workers}" + ("" if workers else ": jobs wait until somebody starts `dyno worker`"))
    if settings.keyless_beside_keys:
        say("Every program of this machine may read without a key (--keyless-read).")
    elif has_key:
        say("Requests need a key; `dyno keys create NAME --scope run` makes another.")
    else:
        say("Reading needs no key on this machine. To start runs: dyno keys create NAME --scope run")
    say("Ctrl-C stops it.")


def _has_key(store: Store) -> bool:
    rows = store.service.keys()
    return any(key.revoked_at is None for key in rows)


def listen(host: str, port: int) -> socket.socket:
    from agentdyno.errors import RunError

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise RunError(
            f"cannot listen there: {error.strerror or error}",
            where=f"{host}:{port}",
            remedy="Another program may: choose a --port, or 0 for any free one.",
        ) from None
    return listening


def address_of(host: str, listening: socket.socket) -> str:
    """What a browser on this machine can open."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host.strip('[]')}]" if ":" in host else host)
    return f"http://{shown}:{listening.getsockname()[1]}"
