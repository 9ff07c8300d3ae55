"""What a GPU was doing meanwhile; nothing where none is used."""

from __future__ import annotations

import contextlib


class DeviceWatch:
    """Peak memory by torch and utilisation by NVML, since the last reading. On a CPU it reads nothing."""

    def __init__(self, device: str) -> None:
        self._cuda = device.startswith("cuda")
        self._index = int(device.partition(":")[2] or 0)

    @property
    def name(self) -> str:
        """What the run says it was trained on: the GPU by its name, else ``cpu``."""
        if not self._cuda:
            return "cpu"
        import torch

        return str(torch.cuda.get_device_name(self._index))

    def readings(self) -> dict[str, float]:
        """``gpu_memory_bytes`` is the peak that torch had allocated; ``gpu_utilisation`` what NVML says right now."""
        if not self._cuda:
            return {}
        import torch

        found = {"gpu_memory_bytes": float(torch.cuda.max_memory_allocated(self._index))}
        torch.cuda.reset_peak_memory_stats(self._index)
        with contextlib.suppress(ImportError):
            import pynvml

            with contextlib.suppress(pynvml.NVMLError):
                pynvml.nvmlInit()
                handle = pynvml.nvmlDeviceGetHandleByIndex(self._index)
                found["gpu_utilisation"] = pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100
        return found
