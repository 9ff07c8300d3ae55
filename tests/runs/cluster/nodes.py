"""Nodes of a Ray cluster as processes of this machine, which can be killed and started."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

MEMORY_BYTES = 80 * 1024 * 1024
PATIENCE_MS = 120_000
"""How long a node may take to say that it is alive: a busy machine's are slow. Killed ones refuse at once."""


class TwoNodes:
    """``address`` is what RAY_ADDRESS has to be."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Ray's own
            from ray.cluster_utils import Cluster

        self._folder, self._count = folder, 0
        often = {"health_check_period_ms": 300, "health_check_initial_delay_ms": 300}
        head = {"_system_config": {**often, "health_check_timeout_ms": PATIENCE_MS}}
        self._cluster = _patiently(lambda: Cluster(initialize_head=True, head_node_args={**self._given(), **head}))
        self.others: list[Any] = []
        self.add()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self) -> Any:
        node = _patiently(lambda: self._cluster.add_node(**self._given()))
        self.others.append(node)
        return node

    def kill(self) -> None:
        """The last node that was added, with all its processes, as when a machine loses its power."""
        node = self.others.pop()
        processes = [psutil.Process(info.process.pid) for found in node.all_processes.values() for info in found]
        family = [child for process in processes for child in process.children(recursive=True)]
        for process in [*processes, *family]:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self._cluster.remove_node(node, allow_graceful=False)

    def close(self) -> None:
        import ray

        ray.shutdown()
        self._cluster.shutdown()

    def _given(self) -> dict[str, Any]:
        self._count += 1
        host = {"DYNO_STATE": str(self._folder / f"host{self._count}")}
        return {"num_cpus": 2, "include_dashboard": False, "object_store_memory": MEMORY_BYTES, "env_vars": host}


def _patiently(make: Callable[[], Any]) -> Any:
    """Ray waits 30 s for a node, which a busy machine may not keep: what it has started then is ended, and it tries
    again."""
    here = psutil.Process(os.getpid())
    for left in (3, 2, 1, 0):
        before = {child.pid for child in here.children(recursive=True)}
        try:
            return make()
        except Exception as error:  # Ray raises no other
            for child in here.children(recursive=True):
                if child.pid not in before:
                    child.kill()
            if not left or "timed out during startup" not in str(error):
                raise
    raise AssertionError("tried and raised")
