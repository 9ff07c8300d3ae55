"""Reinforcement learning, measured by training: algorithms and frameworks on one task.

numpy reads how many threads it may use when it is loaded, so that is said here, before any module below loads it:
one, because arms that take turns must not differ by how many cores were free.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
