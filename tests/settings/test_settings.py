"""The settings themselves: consistent, and one definition for one name in one place."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import agentdyno.settings
from agentdyno.settings import settings_of
from agentdyno.settings.run import PROCESSES, SEED
from agentdyno.settings.setting import BENCHMARK, CHECK, JOB, LOAD, SPEC, SUITE, Setting
from agentdyno.settings.suite import EPOCHS

from ..every_setting import all_settings


@pytest.mark.parametrize(
    "setting", all_settings(), ids=lambda item: f"{item.name} of {', '.join(sorted(item.scopes))}"
)
def test_a_default_is_a_value_of_its_setting(setting: Setting[object]) -> None:
    nothing_chosen = setting.default in (None, 0, "", ())
    assert nothing_chosen or setting.problem(setting.default) is None


@pytest.mark.parametrize("scope", sorted({scope for setting in all_settings() for scope in setting.scopes}))
def test_a_scope_has_one_setting_of_a_name(scope: str) -> None:
    names = [setting.form_key for setting in settings_of(frozenset({scope}))]
    assert len(names) == len(set(names))


def test_a_module_that_is_only_loaded_for_some_scopes_has_no_settings_of_others() -> None:
    for home, only in agentdyno.settings._HOMES.items():
        defined = vars(import_module(f"agentdyno.settings.{home}")).values()
        scopes = frozenset[str]().union(*(value.scopes for value in defined if isinstance(value, Setting)))
        assert only is None or only == scopes, f"say in settings/__init__.py that {home} has {sorted(scopes)}"


def test_options_of_dyno_run_load_nothing_of_loads_and_services() -> None:
    code = "import sys, agentdyno.cli.bench.run; print(*(name for name in sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "agentdyno.settings.suite" in told
    assert {"agentdyno.settings.load", "agentdyno.settings.service", "urllib.request"} & set(told) == set()


def test_every_setting_is_described() -> None:
    assert [setting.name for setting in all_settings() if not setting.description] == []


def test_epochs_have_one_limit_everywhere() -> None:
    assert EPOCHS.maximum == 10_000
    assert EPOCHS.scopes >= SUITE | BENCHMARK | JOB | CHECK


def test_every_new_run_has_seed_42() -> None:
    from agentdyno.model import Spec

    assert SEED.default == 42
    assert Spec("new", ()).seed == 42


def test_processes_of_experiments_and_of_a_load_client_are_two_settings() -> None:
    assert PROCESSES.default is None
    assert PROCESSES.scopes == SPEC
    assert [item.default for item in settings_of(LOAD) if item.name == "processes"] == [1]


def test_a_bound_that_is_not_itself_allowed_is_refused() -> None:
    share = Setting("share", ("number",), default=0.5, above=0, maximum=1)

    assert share.problem(0) == "expected more than 0, got 0"
    assert share.problem(1) is None
