"""Frames of pandas or polars, whichever is installed; neither is needed for anything else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentdyno.errors import PluginError, SpecError, StoreError, nearest
from agentdyno.model import RunResult
from agentdyno.store import Store
from agentdyno.workbench.export.rows import SAMPLES, rows_of
from agentdyno.workbench.location import project_store

LIBRARIES = ("pandas", "polars")
NEEDS = "pip install 'agentdyno[frames]'"


def frame_of(
    results: Sequence[RunResult], what: str = SAMPLES, library: str | None = None
) -> Any:  # a DataFrame of a library that may not be there
    """Rows of ``samples``, ``cases`` or ``arms`` as a frame; of ``library``, else of the first that is installed."""
    if library is not None and library not in LIBRARIES:
        raise SpecError(f"no frames of {library!r}", where="to_frame", remedy=nearest(library, LIBRARIES))
    found = library or next((name for name in LIBRARIES if find_spec(name) is not None), None)
    if found is None or find_spec(found) is None:
        remedy = NEEDS if found != "polars" else "pip install polars"  # the extra brings pandas
        raise PluginError(f"{found or 'neither pandas nor polars'} is not installed", where="to_frame", remedy=remedy)
    whole = [with_samples(result) for result in results] if what != "arms" else results
    rows = rows_of(whole, what)
    make = import_module(found).DataFrame
    return make(rows) if found == "pandas" else make(rows, infer_schema_length=None)


def with_samples(result: RunResult) -> RunResult:
    """The run with all its samples; those of a suite stay in the store when it is run, and are read from there."""
    if all(len(arm.samples) >= arm.samples_total for arm in result.arms):
        return result
    url = project_store(Path.cwd(), os.environ)
    try:
        with Store.open(url, must_exist=True) as store:
            return store.runs.load(result.run_id)
    except StoreError:
        raise StoreError(
            f"the samples of run {result.run_id[:13]} are in the store that it was made with, which is not {url}",
            where="to_frame",
            remedy="Set DYNO_STORE, or read it: agentdyno.load_run(RUN, store=...).to_frame().",
        ) from None
