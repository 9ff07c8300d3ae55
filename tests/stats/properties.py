"""Settings of the property tests: no deadline, because a busy machine must not fail a correct statistic."""

from hypothesis import settings

quick = settings(deadline=None, max_examples=60)
