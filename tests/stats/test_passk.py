"""pass@k and pass^k against counting every choice of k tries."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats import pass_at_k, pass_hat_k

from .properties import quick


@pytest.mark.parametrize("n", range(1, 8))
def test_both_equal_the_count_over_all_choices(n: int) -> None:
    for c in range(n + 1):
        tries = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            choices = list(combinations(tries, k))
            assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices))
            assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_too_few_tries_are_unknown_not_zero() -> None:
    assert pass_at_k(3, 3, 4) is None
    assert pass_hat_k(3, 3, 4) is None
    assert pass_at_k(0, 0, 1) is None


@quick
@given(st.integers(1, 400), st.data())
def test_more_tries_help_any_and_hurt_all(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    at_k, hat_k = pass_at_k(n, c, k), pass_hat_k(n, c, k)
    assert at_k is not None
    assert hat_k is not None
    assert 0.0 <= hat_k <= c / n + 1e-12
    assert c / n - 1e-12 <= at_k <= 1.0


def test_large_counts_do_not_overflow() -> None:
    assert pass_at_k(100_000, 1, 100) == pytest.approx(0.001)


@pytest.mark.parametrize(("n", "c", "k"), [(2, 3, 1), (-1, 0, 1), (2, -1, 1), (2, 1, 0)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="must"):
        pass_at_k(n, c, k)
    with pytest.raises(ValueError, match="must"):
        pass_hat_k(n, c, k)
