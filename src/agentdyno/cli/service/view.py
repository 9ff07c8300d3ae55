"""``dyno view``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from agentdyno.cli.service.serve import address_of, listen, server_for
from agentdyno.cli.shared import open_store, say, store_option, store_url
from agentdyno.errors import SpecError
from agentdyno.settings.service import HOST


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno view                              the last run\n"
    "  dyno view 01a1e4d4                     a run of the store\n"
    "  dyno view results/result.json          a file, without any store"
)
@click.argument("run", default="last", metavar="RUN|FILE")
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@store_option
def command(run: str, no_browser: bool, store: str | None) -> int:
    """Open the page of RUN (an id, `last`, or a result file) in the browser, until Ctrl-C.

    Only this machine can connect. A file is looked at by itself: nothing of it goes into the store.
    """
    from agentdyno.extras import need_extra
    from agentdyno.web.settings import ServiceSettings

    need_extra("service", "dyno view")
    with _shown(run, store) as (url, run_id), closing(listen(HOST.default, 0)) as listening:
        server, token = server_for(ServiceSettings(url, Path.cwd(), HOST.default, 0))
        address = address_of(HOST.default, listening)
        page = f"{address}/runs/{run_id}"
        click.echo(page)
        say(f"Where it asks for a key: {address}/sign-in#{token}")
        say("Ctrl-C closes it.")
        if not no_browser:
            import webbrowser

            # The socket listens already: what the browser asks for is answered as soon as the server runs.
            if not webbrowser.open(page):
                say("No browser could be started here; open the address yourself.")
        server.run(sockets=[listening])
    return 0


@contextmanager
def _shown(run: str, store: str | None) -> Iterator[tuple[str, str]]:
    """The URL of a store that holds the run, and the run's full id."""
    if not Path(run).is_file():
        if Path(run).suffix == ".json" or len(Path(run).parts) > 1:
            raise SpecError(f"there is no file {run}", remedy="Give a result.json, or the id of a run in the store.")
        with open_store(store, must_exist=True) as opened:
            found = opened.runs.find(run)
        yield store_url(store), found
        return
    from agentdyno.findings.comparison.ask_result import result_named
    from agentdyno.store import Store
    from agentdyno.workbench.importing import save_imported

    result = result_named(run, lambda: open_store(store, must_exist=True))
    with TemporaryDirectory(prefix="dyno-view-") as folder:
        url = f"sqlite:///{folder}/view.db"
        with Store.open(url) as own:
            save_imported(own, result)
        yield url, result.run_id
