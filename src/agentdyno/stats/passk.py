"""Success over repeated tries of one case: pass@k (any of k) and pass^k (all of k)."""

from __future__ import annotations

from math import comb

from .samples import require_count


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of k tries succeeds, given c successes in n tries; None when n < k."""
    n, c, k = _check(n, c, k)
    return None if n < k else (comb(n, k) - comb(n - c, k)) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that all of k tries succeed, given c successes in n tries; None when n < k."""
    n, c, k = _check(n, c, k)
    return None if n < k else comb(c, k) / comb(n, k)


def _check(n: int, c: int, k: int) -> tuple[int, int, int]:
    n, c, k = require_count(n, "n"), require_count(c, "c"), require_count(k, "k", at_least=1)
    if c > n:
        raise ValueError(f"c must not exceed n, got {c} successes in {n} tries")
    return n, c, k
