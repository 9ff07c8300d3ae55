"""Custom instruments of every form, and failures that name who failed."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from agentdyno.contracts import Instrument
from agentdyno.errors import PluginError
from agentdyno.instruments.timing import Timing
from agentdyno.registry.adapt import InstrumentFailed, adapt


class Counter(Instrument):
    """Counts."""

    perturbs = False

    def __init__(self, step: int = 1) -> None:
        if step < 1:
            raise ValueError(f"step must be at least 1, got {step}")
        self.step = step

    @contextmanager
    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> Iterator[None]:
        yield
        readings["steps"] = self.step


@contextmanager
def my_custom_instrument(context: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    finally:
        context["my_custom_metric"] = {"duration": 1.5, "memory_delta": 20}


def read(instrument: Instrument, folder: Path) -> dict[str, Any]:
    readings: dict[str, Any] = {}
    with instrument.watch(readings, folder):
        pass
    return readings


def test_a_context_manager_function_yields_flat_metrics_and_counts_as_perturbing(tmp_path: Path) -> None:
    instrument = adapt(my_custom_instrument, "my_custom_instrument", {})
    assert instrument.perturbs
    assert instrument.name == "my_custom_instrument"
    assert read(instrument, tmp_path) == {"my_custom_metric.duration": 1.5, "my_custom_metric.memory_delta": 20}


def test_a_function_may_declare_that_it_does_not_perturb() -> None:
    @contextmanager
    def light(context: dict[str, Any]) -> Iterator[None]:
        yield

    light.perturbs = False  # type: ignore[attr-defined]
    assert not adapt(light, "light", {}).perturbs


def test_a_function_receives_its_options_and_the_folder_for_files(tmp_path: Path) -> None:
    @contextmanager
    def saving(context: dict[str, Any], artifacts_dir: Path, lines: int = 1) -> Iterator[None]:
        yield
        (artifacts_dir / "log.txt").write_text("x\n" * lines)
        context["lines"] = lines

    assert read(adapt(saving, "saving", {"lines": 3}), tmp_path) == {"lines": 3}
    assert (tmp_path / "log.txt").read_text() == "x\nx\nx\n"


def test_a_class_is_built_with_its_options_and_an_instance_is_taken_as_it_is(tmp_path: Path) -> None:
    assert read(adapt(Counter, "counter", {"step": 4}), tmp_path) == {"steps": 4}
    ready = adapt(Counter(step=7), "counter", {})
    assert read(ready, tmp_path) == {"steps": 7}
    assert not ready.perturbs


@pytest.mark.parametrize(
    ("obj", "options", "says"),
    [
        (Counter, {"stride": 1}, "stride"),
        (Counter, {"step": 0}, "step must be at least 1"),
        (Counter(), {"step": 2}, "already built"),
        (my_custom_instrument, {"depth": 1}, "depth"),
        (lambda: None, {}, "called with a dict"),
        (42, {}, "can watch nothing"),
    ],
)
def test_what_cannot_be_an_instrument_is_refused_before_anything_runs(
    obj: object, options: dict[str, object], says: str
) -> None:
    with pytest.raises(PluginError, match=says):
        adapt(obj, "odd", options)


def test_a_generator_function_is_told_about_the_missing_decorator() -> None:
    def forgotten(context: dict[str, Any]) -> Iterator[None]:
        yield

    with pytest.raises(PluginError, match=r"@contextlib\.contextmanager"):
        adapt(forgotten, "forgotten", {})


def test_an_instrument_that_fails_to_start_or_to_end_is_named(tmp_path: Path) -> None:
    @contextmanager
    def no_start(context: dict[str, Any]) -> Iterator[None]:
        if not context:
            raise OSError("no counters")
        yield

    @contextmanager
    def no_end(context: dict[str, Any]) -> Iterator[None]:
        yield
        raise KeyError("gone")

    def no_manager(context: dict[str, Any]) -> int:
        return 1

    for function, cause in ((no_start, OSError), (no_end, KeyError), (no_manager, TypeError)):
        with pytest.raises(InstrumentFailed) as caught:
            read(adapt(function, "broken", {}), tmp_path)
        assert caught.value.name == "broken"
        assert isinstance(caught.value.error, cause)
        assert "the instrument broken failed" in str(caught.value)


def test_the_measured_codes_own_exception_arrives_untouched(tmp_path: Path) -> None:
    @contextmanager
    def swallowing(context: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        except ValueError:
            context["swallowed"] = 1

    @contextmanager
    def failing_too(context: dict[str, Any]) -> Iterator[None]:
        try:
            yield
        finally:
            raise OSError("second failure")

    @contextmanager
    def plain(context: dict[str, Any]) -> Iterator[None]:
        yield

    for function in (swallowing, failing_too, plain, my_custom_instrument):
        own = ValueError("measured")
        readings: dict[str, Any] = {}
        with (
            pytest.raises(ValueError, match="measured") as caught,
            adapt(function, "f", {}).watch(readings, tmp_path),
        ):
            raise own
        assert caught.value is own
        assert ("second failure" in str(readings.get("instrument_error"))) is (function is failing_too)


def test_interrupts_inside_an_instrument_are_not_instrument_failures(tmp_path: Path) -> None:
    @contextmanager
    def interrupted(context: dict[str, Any]) -> Iterator[None]:
        if not context:
            raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        read(adapt(interrupted, "interrupted", {}), tmp_path)


def test_numbers_of_any_kind_become_plain_and_the_rest_becomes_json(tmp_path: Path) -> None:
    @contextmanager
    def mixed(context: dict[str, Any]) -> Iterator[None]:
        yield
        context["share"] = Fraction(1, 4)
        context["inner"] = {"n": 1, "ready": True, "label": "a", 7: [date(2024, 1, 2)]}
        context["empty"] = {}
        context["places"] = {"only": {"deep": 1}}

    assert read(adapt(mixed, "mixed", {}), tmp_path) == {
        "share": 0.25,
        "inner.n": 1,
        "inner": {"ready": True, "label": "a", "7": ["2024-01-02"]},
        "empty": {},
        "places": {"only": {"deep": 1}},
    }


def test_a_failure_survives_the_way_between_processes() -> None:
    class Local(Exception):
        pass

    failure = InstrumentFailed("gpu", Local("no device"))
    copy = pickle.loads(pickle.dumps(failure))
    assert isinstance(copy, InstrumentFailed)
    assert (copy.name, str(copy)) == ("gpu", str(failure))


def test_timing_reads_nothing_of_its_own_and_does_not_perturb(tmp_path: Path) -> None:
    timing = adapt(Timing, "timing", {})
    assert read(timing, tmp_path) == {}
    assert not timing.perturbs
