"""Entry points of installed packages: listed from their metadata, cached, loaded one by one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from agentdyno import register_experiment
from agentdyno.errors import PluginError
from agentdyno.registry.installed import WORKLOADS_PACKAGE, installed, load, package_to_install, unknown
from agentdyno.registry.local import Target

from .installing import hide, install, point

pytestmark = pytest.mark.usefixtures("empty_registry", "own_cache")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "agentdyno"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_the_built_in_parts_are_entry_points_too() -> None:
    assert {"retrieval", "busy"} <= set(installed("experiments"))
    assert {"timing", "psutil", "cprofile", "tracemalloc", "gc", "pressure"} <= set(installed("instruments"))
    assert {"md", "html", "csv", "json", "png", "junit"} <= set(installed("reporters"))
    assert installed("experiments")["busy"].package == "agentdyno"


def test_an_installed_object_is_known_by_its_name_without_being_imported(site: Path) -> None:
    (site / "heavy_of_test.py").write_text("raise RuntimeError('imported')\n")
    install(site, "heavy-of-test", point("heavy", "heavy_of_test:Work"))
    found = installed("experiments")["heavy"]
    assert (found.value, found.package) == ("heavy_of_test:Work", "heavy-of-test")
    assert found.target == Target("Work", module="heavy_of_test")
    assert "heavy_of_test" not in sys.modules
    with pytest.raises(PluginError, match=r"cannot be loaded: RuntimeError: imported \(.*heavy_of_test\.py:1\)"):
        load("experiments", "heavy")


def test_an_entry_point_with_extras_and_blanks_is_understood(site: Path) -> None:
    install(site, "extras", point("spaced", "some.module : Deep.Work [fast, gpu]"))
    assert installed("experiments")["spaced"].target == Target("Deep.Work", module="some.module")


def test_a_package_installed_later_is_seen_although_the_list_is_cached(site: Path, own_cache: Path) -> None:
    assert "late" not in installed("experiments")
    assert len(list(own_cache.glob("entry-points-*.json"))) == 1
    folder = install(site, "late", point("late", "late:work"))
    os.utime(site, ns=(1, 2_000_000_000_000_000_000))
    assert "late" in installed("experiments")
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert "late" not in installed("experiments")


def test_the_cache_is_used_as_long_as_nothing_changes(site: Path, own_cache: Path) -> None:
    installed("experiments")
    (cache,) = own_cache.glob("entry-points-*.json")
    content = json.loads(cache.read_text())
    content["rows"] = [["experiments", "only", "cached:one", "somewhere"]]
    cache.write_text(json.dumps(content))
    assert list(installed("experiments")) == ["only"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "3",
        "{}",
        '{"stamps": STAMPS}',
        '{"stamps": STAMPS, "rows": 7}',
        '{"stamps": STAMPS, "rows": [1]}',
        '{"stamps": STAMPS, "rows": [["experiments"]]}',
        '{"stamps": STAMPS, "rows": [["experiments", "x", 5, null]]}',
        "\udcff",
    ],
)
def test_a_corrupt_cache_is_harmless_and_repaired(own_cache: Path, content: str) -> None:
    before = installed("experiments")
    (cache,) = own_cache.glob("entry-points-*.json")
    good = json.loads(cache.read_text())
    cache.write_bytes(content.replace("STAMPS", json.dumps(good["stamps"])).encode("utf-8", "surrogateescape"))
    assert installed("experiments") == before
    assert json.loads(cache.read_text()) == good


def test_a_cache_that_cannot_be_written_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert "busy" in installed("experiments")
    assert blocked.read_text() == "not a folder"


def test_a_user_without_a_home_can_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "expanduser", no_home)
    assert "busy" in installed("experiments")


@pytest.mark.parametrize(
    ("metadata", "points"),
    [
        (None, "[agentdyno.experiments]\nno equals sign\n"),
        (None, "no section = x:y\n"),
        ("Version: 1\n", "[other]\nx = y:z\n"),
        ("\x00", "[[["),
    ],
)
def test_a_broken_package_on_the_path_disturbs_nobody(site: Path, metadata: str | None, points: str) -> None:
    install(site, "broken", points, metadata)
    install(site, "whole", point("whole", "whole:work"))
    assert {"busy", "whole"} <= set(installed("experiments"))


def test_a_folder_without_metadata_disturbs_nobody(site: Path) -> None:
    (site / "empty-1.0.dist-info").mkdir()
    install(site, "whole", point("whole", "whole:work"))
    assert "whole" in installed("experiments")


def test_groups_of_others_are_left_alone(site: Path) -> None:
    install(
        site, "other", "[agentdyno.nonsense]\na = b:c\n[console_scripts]\nd = e:f\n[other.experiments]\ng = h:i\n"
    )
    names = {name for kind in ("experiments", "instruments", "reporters") for name in installed(kind)}
    assert not names & {"a", "d", "g"}


def test_two_packages_with_one_name_are_refused_naming_both(site: Path) -> None:
    install(site, "one-package", point("same", "one:work"))
    install(site, "two-package", point("same", "two:work"))
    with pytest.raises(PluginError) as caught:
        installed("experiments")
    for part in ("'same'", "one:work of one-package", "two:work of two-package"):
        assert part in caught.value.message
    assert caught.value.remedy == "Uninstall one of the two packages."
    assert "timing" in installed("instruments")


def test_the_first_of_two_installations_of_a_package_counts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "twice", point("twice", "old:work"))
    newer = tmp_path / "newer"
    newer.mkdir()
    monkeypatch.syspath_prepend(str(newer))
    install(newer, "twice", point("twice", "new:work"))
    assert installed("experiments")["twice"].value == "new:work"


def test_a_name_is_loaded_from_local_code_or_from_a_package(site: Path) -> None:
    (site / "pack_of_test.py").write_text("def work():\n    return 5\n")
    install(site, "pack", point("packed", "pack_of_test:work"))

    @register_experiment("local")
    def local() -> None: ...

    assert load("experiments", "local") is local
    assert load("experiments", "packed")() == 5


def test_a_local_name_may_not_hide_an_installed_one(site: Path) -> None:
    (site / "pack_of_test.py").write_text("def work():\n    return 5\n")
    install(site, "pack", point("packed", "pack_of_test:work"))

    @register_experiment("packed")
    def local() -> None: ...

    with pytest.raises(
        PluginError, match=r"two experiments are called 'packed': .*test_installed\.py:\d+ and pack_of"
    ):
        load("experiments", "packed")


def test_a_package_may_register_what_it_also_declares(site: Path) -> None:
    (site / "pack_of_test.py").write_text(
        "from agentdyno import register_experiment\n@register_experiment('both')\ndef work():\n    return 5\n"
    )
    install(site, "pack", point("both", "pack_of_test:work"))
    assert load("experiments", "both")() == 5
    assert load("experiments", "both")() == 5


def test_an_unknown_name_is_answered_with_the_nearest_ones_and_where_to_look() -> None:
    error = unknown("experiments", "retrival")
    assert error.message == "unknown experiment 'retrival'"
    assert str(error.remedy).startswith("Did you mean retrieval?")
    assert "`dyno list experiments`" in str(error.remedy)
    assert "file.py@name" in str(error.remedy)
    with pytest.raises(PluginError, match="unknown reporter 'htm'"):
        load("reporters", "htm")


@pytest.mark.parametrize(
    ("kind", "name"), [("experiments", "memory_db"), ("reporters", "llm"), ("workloads", "simulation")]
)
def test_a_name_of_a_package_of_ours_that_is_missing_says_what_to_install(
    kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed(kind)[name].package == WORKLOADS_PACKAGE
    assert package_to_install(kind, name) is None
    hide(WORKLOADS_PACKAGE, monkeypatch)
    assert package_to_install(kind, name) == WORKLOADS_PACKAGE
    error = unknown(kind, name)
    assert error.message == f"unknown {kind[:-1]} {name!r}: it comes with agentdyno-workloads, which is not installed"
    assert error.remedy == "Install it: pip install agentdyno-workloads"


def test_a_name_that_another_package_brings_instead_is_taken_from_there(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(WORKLOADS_PACKAGE, monkeypatch)
    install(site, "other", point("memory_db", "other_of_test:Work"))
    assert installed("experiments")["memory_db"].package == "other"
    assert package_to_install("experiments", "memory_db") is None
