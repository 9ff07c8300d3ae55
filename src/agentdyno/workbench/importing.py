"""Taking results of other tools into the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.contracts import Importer
from agentdyno.errors import ImportFailed, PluginError, nearest
from agentdyno.importers.inflated import ImportLimits, check_sizes
from agentdyno.importers.sniff import find_importer
from agentdyno.model import Arm, RunResult, RunStatus
from agentdyno.registry import registered
from agentdyno.registry.installed import installed, load
from agentdyno.store import Store

log = logging.getLogger("agentdyno.import")


@dataclass(frozen=True, slots=True)
class Imported:
    """One run that was read from a file; ``known`` when it was in the store already."""

    path: str
    importer: str
    result: RunResult
    known: bool = False


def importers() -> dict[str, Importer]:
    """Every importer by name, those of installed packages and those registered here."""
    names = sorted({*installed("importers"), *registered("importers")})
    found: dict[str, Importer] = {}
    for name in names:
        try:
            made = load("importers", name)
        except PluginError as error:  # one that is broken does not stop the others
            log.warning("the importer %s cannot be loaded: %s", name, error.message)
            continue
        found[name] = made() if isinstance(made, type) else made
    return found


def read_file(path: Path, format_name: str | None = None) -> tuple[str, Sequence[RunResult]]:
    """The importer's name and the runs in a file (or folder); nothing is stored."""
    known = importers()
    if format_name is not None:
        if format_name not in known:
            raise ImportFailed(f"no format {format_name!r}", where="--format", remedy=nearest(format_name, known))
        chosen = known[format_name]
    else:
        chosen = find_importer(path, known.values())
    return chosen.name, chosen.read(path)


def read_files(
    paths: Sequence[Path],
    format_name: str | None = None,
    limits: ImportLimits | None = None,
    on_file: Callable[[Path], None] = lambda _: None,
) -> list[Imported]:
    """The runs in files; nothing is stored. Raises ``ImportTooLarge`` before one is read; ``None``: no limits."""
    if limits is not None:
        check_sizes(paths, limits)
    read: list[Imported] = []
    for path in paths:
        on_file(path)
        name, results = read_file(path, format_name)
        read += [Imported(str(path), name, result) for result in results]
    return read


def import_files(
    store: Store,
    paths: Sequence[Path],
    *,
    format_name: str | None = None,
    limits: ImportLimits | None = None,
    on_file: Callable[[Path], None] = lambda _: None,
) -> list[Imported]:
    """All files or none: every file is read and checked before the first run is stored."""
    read = read_files(paths, format_name, limits, on_file)
    done, seen = [], set[str]()
    for item in read:
        known = item.result.run_id in seen or _is_whole(store, item.result.run_id)
        seen.add(item.result.run_id)
        if not known:
            save_imported(store, item.result)
        done.append(Imported(item.path, item.importer, item.result, known))
    return done


def _is_whole(store: Store, run_id: str) -> bool:
    """Whether the store holds the run to its end; an import that was killed half-way is done again."""
    if not store.runs.has(run_id):
        return False
    return store.runs.load(run_id, samples=False).status is not RunStatus.RUNNING


def save_imported(store: Store, result: RunResult) -> None:
    arms = [
        Arm(
            arm_id=arm.arm_id,
            name=arm.name,
            experiment=arm.experiment,
            params=arm.params,
            benchmark=arm.benchmark,
            agent=arm.agent,
            side=arm.side,
        )
        for arm in result.arms
    ]
    begun = store.runs.has(result.run_id)
    if not begun:
        header = replace(result, status=RunStatus.RUNNING, finished_at=None)
        store.runs.begin(header, arms, {arm.arm_id: arm.planned for arm in result.arms})
    recorded = {sample.key for sample in store.runs.iter_samples(result.run_id)} if begun else set()
    for arm in result.arms:
        for sample in arm.samples:
            if sample.key not in recorded:
                store.runs.append(result.run_id, sample)
    store.runs.finish(result)
