"""Sorting."""


def sorting(size: int = 200) -> float:
    """Sort numbers that are the wrong way round."""
    return float(sorted(range(size, 0, -1))[0])
