"""Points halved by turns along their two axes."""

from __future__ import annotations

import math

import numpy as np

from agentdyno_workloads.simulation.spatial.box_tree import LEAF, BoxTree, Nodes
from agentdyno_workloads.simulation.spatial.compressed import Floats, Ints


class KdTree(BoxTree):
    """Balanced: all leaves are at one depth and hold as many points, but for one."""

    name = "kd_tree"

    def divide(self, x: Floats, y: Floats) -> tuple[Ints, Nodes]:
        count = x.size
        depth = max(0, math.ceil(math.log2(count / LEAF))) if count > LEAF else 0
        order: Ints = np.arange(count, dtype=np.int64)
        bounds: Ints = np.array([0, count], dtype=np.int64)
        starts, ends, firsts, kids = [bounds[:-1]], [bounds[1:]], [], []
        made = 1
        for level in range(depth):
            owner = np.repeat(np.arange(bounds.size - 1), np.diff(bounds))
            values = (x if level % 2 == 0 else y)[order]
            order = order[np.lexsort((order, values, owner))]
            middles = (bounds[:-1] + bounds[1:]) // 2
            fresh = np.empty(2 * bounds.size - 1, dtype=np.int64)
            fresh[0::2], fresh[1::2] = bounds, middles
            firsts.append(made + 2 * np.arange(bounds.size - 1, dtype=np.int64))
            kids.append(np.full(bounds.size - 1, 2, dtype=np.int64))
            made += 2 * (bounds.size - 1)
            bounds = fresh
            starts.append(bounds[:-1])
            ends.append(bounds[1:])
        leaves = bounds.size - 1
        firsts.append(np.zeros(leaves, dtype=np.int64))
        kids.append(np.zeros(leaves, dtype=np.int64))
        return order, Nodes(
            np.concatenate(starts), np.concatenate(ends), np.concatenate(firsts), np.concatenate(kids), depth
        )
