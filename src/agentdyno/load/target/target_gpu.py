"""What some processes take of the NVIDIA GPUs of this machine, where there are any and ``pynvml`` is installed."""

from __future__ import annotations

from collections.abc import Container, Iterator
from importlib import import_module
from typing import Any, NamedTuple


class GpuReading(NamedTuple):
    """Memory in bytes, and the mean utilisation (0 to 1) of the GPUs that it is on."""

    memory_bytes: float
    utilisation: float


class GpuProbe:
    """Asks NVML; ``open_gpu_probe`` makes one."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._devices = [nvml.nvmlDeviceGetHandleByIndex(place) for place in range(nvml.nvmlDeviceGetCount())]

    def read(self, pids: Container[int]) -> GpuReading | None:
        """``None`` where none of these processes is on a GPU, or NVML does not say."""
        used, shares = 0.0, []
        for device in self._devices:
            try:
                mine = [found for found in self._running(device) if found.pid in pids]
                if mine:
                    used += sum(found.usedGpuMemory or 0 for found in mine)
                    shares.append(self._nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
            except self._nvml.NVMLError:
                continue
        return GpuReading(used, sum(shares) / len(shares)) if shares else None

    def close(self) -> None:
        self._nvml.nvmlShutdown()

    def _running(self, device: Any) -> Iterator[Any]:
        yield from self._nvml.nvmlDeviceGetComputeRunningProcesses(device)


def open_gpu_probe(nvml: Any = None) -> GpuProbe | None:
    """A probe, or ``None`` where there is no package ``pynvml``, no driver or no GPU."""
    if nvml is None:
        try:
            nvml = import_module("pynvml")
        except ImportError:
            return None
    try:
        nvml.nvmlInit()
        return GpuProbe(nvml) if nvml.nvmlDeviceGetCount() else None
    except nvml.NVMLError:
        return None
