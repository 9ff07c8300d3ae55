"""Spec files written and refused, as fixtures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import Spec
from agentdyno.specs import load_spec

WriteSpec = Callable[..., Spec]
Refuse = Callable[..., SpecError]


@pytest.fixture
def load(tmp_path: Path) -> WriteSpec:
    """Writes a text to a file and loads it."""

    def run(text: str | bytes, *, name: str = "spec.yaml", **options: object) -> Spec:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_spec(path, **options)  # type: ignore[arg-type]

    return run


@pytest.fixture
def refused(tmp_path: Path, load: WriteSpec) -> Refuse:
    """Loads a text that must be refused; ``where`` comes back without the folder."""

    def run(text: str | bytes, *, name: str = "spec.yaml", **options: object) -> SpecError:
        with pytest.raises(SpecError) as caught:
            load(text, name=name, **options)
        error = caught.value
        assert error.message
        assert error.remedy
        assert error.where is not None
        error.where = error.where.replace(f"{tmp_path}/", "")
        assert error.where.startswith((name, "command line"))
        return error

    return run
