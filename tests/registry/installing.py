"""Distributions as an installer leaves them, and without one that is there."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

import pytest


def install(site: Path, package: str, points: str, metadata: str | None = None) -> Path:
    """A distribution as an installer leaves it."""
    folder = site / f"{package}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(metadata or f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(points)
    return folder


def point(name: str, value: str, kind: str = "experiments") -> str:
    return f"[agentdyno.{kind}]\n{name} = {value}\n"


def hide(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if ``package`` were not installed; what was cached before is not asked."""
    every = importlib.metadata.distributions

    def distributions() -> Iterator[Distribution]:
        return (item for item in every() if item.metadata["Name"] != package)

    monkeypatch.setattr(importlib.metadata, "distributions", distributions)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
