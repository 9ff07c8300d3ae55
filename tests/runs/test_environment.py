"""What a result says about machine, interpreter and code: enough to compare, nothing that is private."""

from __future__ import annotations

import os
import platform
import re
import socket
import subprocess
from email.message import Message
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import agentdyno
from agentdyno.model.codec import encode
from agentdyno.model.result import Vcs
from agentdyno.runs.environment import (
    allowed_variables,
    capture_environment,
    capture_vcs,
    installed_packages,
    machine_id,
)

MACHINE = {
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Fast  CPU 9000\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\n",
    "proc/meminfo": "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n",
    "proc/loadavg": "0.50 0.40 0.30 1/100 99\n",
    "proc/sys/kernel/randomize_va_space": "2\n",
    "proc/self/cgroup": "0::/\n",
    "sys/fs/cgroup/cpu.max": "150000 100000\n",
    "sys/devices/system/cpu/online": "0-3,6\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    "sys/devices/system/cpu/smt/active": "1\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "etc/os-release": 'ID=x\nPRETTY_NAME="Example Linux 1"\n',
}


def tree(root: Path, changes: dict[str, str] | None = None) -> Path:
    for name, text in {**MACHINE, **(changes or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_machine_is_described_from_what_the_kernel_tells(tmp_path: Path) -> None:
    environment = capture_environment(tree(tmp_path), {})
    assert environment.cpu_model == "Fast CPU 9000"
    assert environment.cpu_count == 5
    assert environment.memory_bytes == 16 * 1024**3
    assert environment.python == platform.python_version()
    assert environment.agentdyno == agentdyno.__version__
    assert environment.details["distribution"] == "Example Linux 1"
    expected = {
        "governor": "powersave",
        "turbo": True,
        "smt": True,
        "cpu_quota": 1.5,
        "load_1min": 0.5,
        "aslr": 2,
        "clock_source": "tsc",
        "virtual_machine": True,
    }
    assert {name: environment.details[name] for name in expected} == expected


def test_facts_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    details = capture_environment(tmp_path, {}).details
    assert not {"governor", "turbo", "smt", "cpu_quota", "load_1min", "aslr", "container"} & details.keys()
    assert None not in details.values()


def test_the_machine_id_depends_on_cpu_cores_and_whole_gibibytes_only(tmp_path: Path) -> None:
    first = machine_id(tree(tmp_path / "a"))
    same = machine_id(
        tree(tmp_path / "b", {"proc/meminfo": "MemTotal: 16700000 kB\n", "proc/loadavg": "9 9 9 1/1 1\n"})
    )
    bigger = machine_id(tree(tmp_path / "c", {"sys/devices/system/cpu/online": "0-7\n"}))
    assert len(first) == 16
    assert int(first, 16) >= 0
    assert first == same != bigger


def test_no_secret_name_or_value_of_the_environment_reaches_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "OPENAI_API_KEY": "sk-verysecret-1",
        "ANTHROPIC_API_KEY": "verysecret-2",
        "AWS_SECRET_ACCESS_KEY": "verysecret-3",
        "DATABASE_URL": "postgresql://ann:verysecret-4@db/prod",
        "PYTHONPATH": "/home/verysecret-5/lib",
        "PYTHONHASHSEED_TOKEN": "verysecret-6",
        "OMP_PROC_BIND": "verysecret-7 with blanks that no library would take as a setting",
        "LD_PRELOAD_KEY": "verysecret-8",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    text = encode(capture_environment())
    assert "verysecret" not in text
    assert "API_KEY" not in text
    assert "DATABASE_URL" not in text
    assert '"OMP_NUM_THREADS": "2"' in text
    assert '"OMP_PROC_BIND": "(set)"' in text


def test_hostname_and_home_folder_do_not_reach_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "box-of-ann")
    monkeypatch.setattr(platform, "node", lambda: "box-of-ann")
    monkeypatch.setenv("HOME", "/home/ann-the-user")
    text = encode(capture_environment())
    assert "box-of-ann" not in text
    assert "ann-the-user" not in text


def test_of_preloaded_libraries_only_the_file_names_are_kept() -> None:
    variables = {"LD_PRELOAD": "/home/ann/lib/libjemalloc.so.2:/opt/x/libprof.so"}
    assert allowed_variables(variables) == {"LD_PRELOAD": "libjemalloc.so.2:libprof.so"}


class _Installed:
    def __init__(self, name: str | None, version: str | None, text: str | None = None) -> None:
        self.text = text
        self.metadata = Message()
        if name:
            self.metadata["Name"] = name
        if version:
            self.metadata["Version"] = version

    def read_text(self, _file: str) -> str | None:
        return self.text


def test_packages_are_sorted_and_normalised_and_broken_ones_are_passed_over() -> None:
    found: list[Any] = [
        _Installed("Zope.Interface", "6.0"),
        _Installed("my__Package", "1.0"),
        _Installed("my-package", "0.9"),
        _Installed(None, "1"),
        _Installed("leftover", None),
        object(),
    ]
    assert list(installed_packages(found).items()) == [("my-package", "1.0"), ("zope-interface", "6.0")]


def test_the_head_of_a_packages_file_says_its_name_and_version_and_what_follows_it_does_not() -> None:
    told = "Metadata-Version: 2.1\nName: Told\nVersion: 1.0 \nSummary: Name: x\n\nName: another\nVersion: 9\n"
    half = "Metadata-Version: 2.1\nVersion: 3\n\nName: below\n"
    found: list[Any] = [_Installed("parsed", "0", told), _Installed("whole", "2", half), _Installed("old-egg", "4")]
    assert installed_packages(found) == {"old-egg": "4", "told": "1.0", "whole": "2"}


def test_every_package_is_listed_as_the_standard_library_reads_it() -> None:
    parsed = {
        re.sub(r"[-_.]+", "-", item.metadata["Name"]).lower(): item.metadata["Version"]
        for item in reversed([*metadata.distributions()])
    }
    assert installed_packages(metadata.distributions()) == dict(sorted(parsed.items()))


def test_the_packages_of_this_interpreter_are_listed() -> None:
    packages = capture_environment().packages
    assert packages["pytest"] == pytest.__version__
    assert list(packages) == sorted(packages)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-b", "trunk")
    (folder / "code.py").write_text("x = 1\n")
    (folder / ".gitignore").write_text("*.log\n")
    git(folder, "add", ".")
    commit(folder)
    return folder


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> None:
    git(folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "change")


def test_a_clean_checkout_is_named_by_commit_and_branch(repository: Path) -> None:
    (repository / "noise.log").write_text("ignored")
    (repository / ".dyno" / "runs").mkdir(parents=True)
    (repository / ".dyno" / "runs" / "result.json").write_text("{}")
    inner = repository / "inner"
    inner.mkdir()
    assert capture_vcs(inner) == Vcs(git(repository, "rev-parse", "HEAD"), "trunk", dirty=False)


def test_changed_and_new_files_make_it_dirty(repository: Path) -> None:
    (repository / "code.py").write_text("x = 2\n")
    changed = capture_vcs(repository)
    assert changed is not None
    assert changed.dirty
    git(repository, "checkout", "code.py")
    (repository / "new.py").write_text("")
    added = capture_vcs(repository)
    assert added is not None
    assert added.dirty


def test_a_detached_head_has_no_branch(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    found = capture_vcs(repository)
    assert found is not None
    assert found.branch is None


def test_the_repository_of_the_folder_is_read_even_inside_a_hook_of_another(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(repository.parent / "elsewhere.git"))
    found = capture_vcs(repository)
    assert found is not None
    assert found.commit == expected


def test_outside_a_repository_and_before_a_first_commit_there_is_nothing(repository: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    assert capture_vcs(outside) is None
    git(outside, "init")
    assert capture_vcs(outside) is None
    assert capture_vcs(tmp_path / "missing") is None


def test_without_git_there_is_nothing(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert capture_vcs(repository) is None


def test_when_git_cannot_tell_the_status_the_commit_is_kept_and_marked_dirty(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = git(repository, "rev-parse", "HEAD")
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\ncase "$*" in *status*) exit 1;; esac\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    assert capture_vcs(repository) == Vcs(expected, "trunk", dirty=True)
