"""Anything that can watch, as an ``Instrument`` whose own failures cannot pass for those of the measured code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from numbers import Integral, Real
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from agentdyno.contracts import Instrument
from agentdyno.errors import PluginError, RunError

Watch: TypeAlias = Callable[[dict[str, Any], Path], AbstractContextManager[object]]
_DEEPEST = 8


class InstrumentFailed(RunError):
    """An instrument's own start or end raised ``error``; the measured code did not."""

    def __init__(self, name: str, error: Exception | str) -> None:
        self.name = name
        self.error = error
        self.cause = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        super().__init__(
            f"the instrument {name} failed: {self.cause}",
            remedy=f"Take {name} out of the spec's instruments to measure without it.",
        )

    def __reduce__(self) -> tuple[object, ...]:
        # The error itself may not survive a trip between processes; its text does.
        return (InstrumentFailed, (self.name, self.cause))


def adapt(obj: object, name: str, options: Mapping[str, object] | None = None) -> Instrument:
    """``obj`` as an instrument called ``name``.

    ``obj`` is a subclass of ``Instrument`` (built with ``options``), an instance of one (without options), or a
    function that takes a dict to write readings into, and returns a context manager; it receives ``options`` as
    keywords, and the folder for files where it has a parameter ``artifacts_dir``. A function counts as
    perturbing unless it has the attribute ``perturbs = False``.

    Whatever it is, numbers in a nested dict come out one level up as ``<key>.<inner key>``, and values that JSON
    cannot hold as text. Raises ``PluginError`` when ``obj`` is none of these or refuses its options.
    """
    given = dict(options or {})
    if isinstance(obj, Instrument):
        if given:
            raise PluginError(
                f"the instrument {name} takes no options: it is already built",
                remedy="Register its class instead of an instance to give it options.",
            )
        return _Guarded(name, obj.watch, obj.perturbs)
    if isinstance(obj, type) and issubclass(obj, Instrument):
        built = _build(obj, name, given)
        return _Guarded(name, built.watch, built.perturbs)
    if not callable(obj):
        raise PluginError(
            f"the instrument {name} is {type(obj).__name__}, which can watch nothing",
            remedy="Give a subclass of agentdyno.contracts.Instrument or a @contextmanager function.",
        )
    if inspect.isgeneratorfunction(obj):
        raise PluginError(
            f"the instrument {name} is a generator function, not a context manager",
            remedy="Put @contextlib.contextmanager above it.",
        )
    return _Guarded(name, _watch_of(obj, name, given), getattr(obj, "perturbs", True) is not False)


def _build(kind: type[Instrument], name: str, options: dict[str, object]) -> Instrument:
    try:
        return kind(**options)
    except (TypeError, ValueError) as error:
        raise PluginError(f"the instrument {name} refuses its options: {error}") from error


def _watch_of(function: Callable[..., Any], name: str, options: dict[str, object]) -> Watch:
    try:
        parameters = inspect.signature(function).parameters
        takes_folder = "artifacts_dir" in parameters and "artifacts_dir" not in options
        extra: dict[str, object] = {"artifacts_dir": Path()} if takes_folder else {}
        inspect.signature(function).bind({}, **options, **extra)
    except (TypeError, ValueError) as error:
        raise PluginError(
            f"the instrument {name} cannot be called with a dict and its options: {error}",
            remedy="Its first parameter receives the readings; each further one is an option.",
        ) from error

    def watch(readings: dict[str, Any], artifacts_dir: Path) -> AbstractContextManager[object]:
        folder = {"artifacts_dir": artifacts_dir} if takes_folder else {}
        manager = function(readings, **options, **folder)
        if not hasattr(manager, "__enter__") or not hasattr(manager, "__exit__"):
            raise TypeError(f"it returned {type(manager).__name__}, not a context manager")
        return manager  # type: ignore[no-any-return]

    return watch


class _Guarded(Instrument):
    """The instrument that ``adapt`` hands out."""

    def __init__(self, name: str, watch: Watch, perturbs: bool) -> None:
        self.name = name
        self.perturbs = perturbs
        self._watch = watch

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> AbstractContextManager[None]:
        return _Guard(self.name, self._watch, readings, artifacts_dir)


class _Guard(AbstractContextManager[None]):
    """Tells the two kinds of failure apart, and lets no instrument swallow what the measured code raised."""

    def __init__(self, name: str, watch: Watch, readings: dict[str, Any], artifacts_dir: Path) -> None:
        self._name = name
        self._watch = watch
        self._readings = readings
        self._artifacts_dir = artifacts_dir
        self._manager: AbstractContextManager[object] | None = None

    def __enter__(self) -> None:
        try:
            manager = self._watch(self._readings, self._artifacts_dir)
            self._manager = manager
            manager.__enter__()
        except Exception as error:
            raise InstrumentFailed(self._name, error) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._manager is not None, "left before it was entered"
        try:
            self._manager.__exit__(kind, error, traceback)
        except Exception as own:
            if error is None:
                raise InstrumentFailed(self._name, own) from own
            if own is not error:
                self._readings["instrument_error"] = f"{type(own).__name__}: {own}"
        finally:
            flatten(self._readings)


def flatten(readings: dict[str, Any]) -> None:
    """Moves numbers of nested dicts one level up and turns what JSON cannot hold into text, in place."""
    for key, value in list(readings.items()):
        if not isinstance(value, Mapping):
            readings[key] = _plain(value)
            continue
        rest = {}
        for inner, item in value.items():
            if _is_number(item):
                readings[f"{key}.{inner}"] = _plain(item)
            else:
                rest[str(inner)] = _plain(item)
        if rest or not value:
            readings[key] = rest
        else:
            del readings[key]


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _plain(value: object, depth: int = 0) -> object:
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if (
        depth < _DEEPEST
        and isinstance(value, (Sequence, set, frozenset))
        and not isinstance(value, (bytes, bytearray))
    ):
        return [_plain(item, depth + 1) for item in value]
    return str(value)
