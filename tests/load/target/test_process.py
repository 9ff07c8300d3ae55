"""Watching a real process: which one listens, what it uses, and that its children count."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from types import SimpleNamespace

import pytest

from agentdyno.load.target.process import (
    NO_GPU,
    NOTHING,
    TargetWatch,
    Use,
    is_loopback,
    listening_pid,
)
from agentdyno.sandbox.gpu import GpuProbe, GpuReading, GpuWatch, open_gpu_probe
from agentdyno.servers.simulated.server import simulated_server

MIB = 1024 * 1024
OBEDIENT = """
import subprocess, sys, time
held, children = [], []
def obey(order, number):
    if order == "spin":
        start = time.process_time()
        while time.process_time() < start + number / 1000:
            pass
        return round((time.process_time() - start) * 1e9)
    if order == "hold":
        held.append(bytearray(b"x") * number)
    if order == "child":
        code = f"held = bytearray(b'x') * {number}; print('ready', flush=True); input()"
        child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        child.stdout.readline()
        children.append(child)
    return 0
for line in sys.stdin:
    order, number = line.split()
    try:
        answer = obey(order, int(number))
    except MemoryError:
        answer = -1
    print(answer, flush=True)
for child in children:
    child.communicate(b"\\n")
"""


class Obedient:
    """A process that does what it is told and says when it has."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process, self.pid = process, process.pid

    def tell(self, order: str, number: int = 0) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{order} {number}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def obedient() -> Iterator[Obedient]:
    command = [sys.executable, "-c", OBEDIENT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        found = Obedient(process)
        found.tell("ready")
        yield found


def test_the_process_behind_an_address_is_found() -> None:
    with simulated_server() as server:
        assert listening_pid(server.url) == server.pid
        assert listening_pid(server.openai_url) == server.pid
        assert listening_pid(f"http://localhost:{server.port}/v1") == server.pid
    assert listening_pid(server.url) is None


def test_of_a_parent_and_its_workers_it_is_the_parent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port, fd = listener.getsockname()[1], listener.fileno()
        code = "print('ready', flush=True); input()"
        command = [sys.executable, "-c", code]
        worker = subprocess.Popen(command, pass_fds=[fd], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with worker:
            assert worker.stdout is not None
            worker.stdout.readline()
            assert listening_pid(f"http://127.0.0.1:{port}") == os.getpid()
            worker.communicate(b"\n")


@pytest.mark.parametrize("url", ["http://192.0.2.1:80", "http://example.test:8000/v1", "nonsense", "http://10.0.0.1"])
def test_another_machine_s_process_is_unknown(url: str) -> None:
    assert listening_pid(url) is None


def test_loopback_addresses_are_known() -> None:
    assert all(is_loopback(host) for host in ("localhost", "127.0.0.1", "127.8.9.1", "::1"))
    assert not any(is_loopback(host) for host in ("", "0.0.0.0", "192.168.0.1", "localhost.example"))


def look(watch: TargetWatch) -> Use:
    """What it uses just now."""
    watch.sample()
    from_ns = perf_counter_ns()
    watch.sample()
    watch.sample()
    return watch.between(from_ns, perf_counter_ns())


def test_cpu_time_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = 0
    monkeypatch.setattr("agentdyno.load.target.process.perf_counter_ns", lambda: now_ns)
    with obedient() as process:
        watch = TargetWatch(process.pid)
        watch.sample()
        spun_ns = process.tell("spin", 200)
        now_ns = 1_000_000_000
        watch.sample()
        used = watch.between(0, now_ns)
        assert used.cpu is not None
        assert abs(used.cpu * now_ns - spun_ns) < 40_000_000  # the kernel counts in ticks


def test_memory_is_that_of_the_process() -> None:
    with obedient() as process:
        watch = TargetWatch(process.pid)
        before = look(watch)
        process.tell("hold", 50_000_000)
        after = look(watch)
        assert before.rss_bytes is not None
        assert after.rss_bytes is not None
        # The kernel counts pages for each core and adds them up now and then.
        assert 49_000_000 < after.rss_bytes - before.rss_bytes < 55_000_000
        assert watch.alive


def test_children_count() -> None:
    with obedient() as process:
        alone = look(TargetWatch(process.pid))
        process.tell("child", 40_000_000)
        family = look(TargetWatch(process.pid))
        assert alone.rss_bytes is not None
        assert family.rss_bytes is not None
        assert family.rss_bytes - alone.rss_bytes > 40_000_000


def test_time_of_which_no_more_than_half_was_watched_is_unknown() -> None:
    with obedient() as process:
        watch = TargetWatch(process.pid)
        look(watch)
        assert watch.between(0, perf_counter_ns()) == NOTHING
        assert watch.between(perf_counter_ns(), 0) == NOTHING


def test_the_thread_samples_until_it_is_stopped() -> None:
    with obedient() as process:
        watch = TargetWatch(process.pid, interval_s=0.002)
        watch.start()
        from_ns = perf_counter_ns()
        process.tell("spin", 100)
        to_ns = perf_counter_ns()
        watch.stop()  # which looks once more, so that all of the time was watched
        used = watch.between(from_ns, to_ns)
        assert used.cpu is not None
        assert used.cpu > 0
        assert used.rss_bytes is not None
        assert used.rss_bytes > 1_000_000


def test_a_process_that_is_gone_is_unknown_from_then_on() -> None:
    with obedient() as process:
        watch = TargetWatch(process.pid)
        watch.sample()
        process.end()
    from_ns = perf_counter_ns()
    watch.sample()
    watch.sample()
    assert not watch.alive
    assert watch.between(from_ns, perf_counter_ns()) == NOTHING
    never = TargetWatch(process.pid)
    never.start()
    never.stop()
    assert never.between(from_ns, perf_counter_ns()) == NOTHING


class Nvml:
    """What the NVIDIA library would say: two GPUs, the first with process 7 on it."""

    class NVMLError(Exception):
        pass

    def __init__(self, count: int = 2, broken: bool = False) -> None:
        self._count, self._broken = count, broken

    def nvmlInit(self) -> None:
        if self._broken:
            raise self.NVMLError("driver not loaded")

    def nvmlDeviceGetCount(self) -> int:
        return self._count

    def nvmlDeviceGetHandleByIndex(self, place: int) -> int:
        return place

    def nvmlDeviceGetComputeRunningProcesses(self, device: int) -> list[SimpleNamespace]:
        if device == 1:
            raise self.NVMLError("not supported")
        return [SimpleNamespace(pid=7, usedGpuMemory=1000), SimpleNamespace(pid=8, usedGpuMemory=None)]

    def nvmlDeviceGetUtilizationRates(self, device: int) -> SimpleNamespace:
        assert device == 0
        return SimpleNamespace(gpu=25)


def test_the_gpu_is_asked_for_the_target_s_processes_only() -> None:
    probe = open_gpu_probe(Nvml())
    assert probe is not None
    assert probe.read({7}) == GpuReading(1000, 0.25)
    assert probe.read({8}) == GpuReading(0, 0.25)
    assert probe.read({9}) is None


def test_what_a_process_and_its_children_use_of_a_gpu_is_a_mean_over_a_case() -> None:
    watch = GpuWatch(GpuProbe(Nvml()), members=lambda pid: {pid, 7} if pid == 70 else {pid})
    with watch.used_by(70) as readings:
        assert readings() == {"gpu_percent": 25, "gpu_memory_bytes": 1000}
    with watch.used_by(9) as readings:
        assert readings() == {}


def test_without_a_gpu_or_its_driver_nothing_is_made_up() -> None:
    assert open_gpu_probe(Nvml(count=0)) is None
    assert open_gpu_probe(Nvml(broken=True)) is None
    with obedient() as process:
        watch = TargetWatch(process.pid, gpu=GpuProbe(Nvml()))
        watch.sample()
        assert watch.gpu_between(0, perf_counter_ns()) == NO_GPU


def test_of_a_process_that_is_no_target_itself_only_what_it_started_counts() -> None:
    watch = TargetWatch(os.getpid(), children_only=True)
    watch.sample()
    assert not watch.alive or watch.pid not in watch._members
    with obedient() as process:
        process.tell("hold", 30 * MIB)
        child = TargetWatch(os.getpid(), children_only=True)
        child.sample()
        began_ns = perf_counter_ns()
        ended_ns = perf_counter_ns()
        child.sample()
        used = child.between(began_ns, ended_ns)
        assert used.rss_bytes is not None
        assert used.rss_bytes >= 30 * MIB
