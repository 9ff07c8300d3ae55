"""Only what is not empty, in lists; pictures are put together on demand.

``known_empty`` is 1 in nearly every cell in sight, so its list holds what is out of sight only, and the cells in
sight are those of an agent that sees nothing, less the ones that hold something.
"""

from __future__ import annotations

import numpy as np

from agentdyno_workloads.simulation.observation.base import OnDemand
from agentdyno_workloads.simulation.observation.channels import (
    DANGER,
    FAINT,
    FOOD,
    FORGET_EVERY,
    KNOWN_EMPTY,
    NOW,
    FieldOfView,
    Flags,
    Ints,
    Picture,
)
from agentdyno_workloads.simulation.observation.hybrid import fill_now, scene_bytes
from agentdyno_workloads.simulation.observation.planes import blank
from agentdyno_workloads.simulation.observation.scene import NOBODY, ListedValues, Motion, Scene

_NOTHING = ListedValues(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32))


class Sparse(OnDemand):
    name = "sparse"

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        super().__init__(world, view)
        self._blank = blank(view)
        self._in_sight = view.in_sight().ravel()
        self._gamma = np.float32(view.gamma)
        self._scene: Scene | None = None
        self._danger = self._food = self._known = self._taken = _NOTHING
        self._leaving: dict[tuple[int, int], Ints] = {}

    def _fade(self, scene: Scene, step: int) -> None:
        self._outdate()
        motion, forget = scene.motion, step % FORGET_EVERY == 0
        rows = _new_rows(motion, self.count)
        self._danger = self._faded(self._carried(self._danger, DANGER, motion, rows), forget)
        food = self._faded(self._carried(self._food, FOOD, motion, rows), forget)
        self._food = self._unseen(food)
        known = self._faded(self._carried(self._known, KNOWN_EMPTY, motion, rows), forget)
        taken = self._carried(self._taken, KNOWN_EMPTY, motion, rows)
        self._known = _merged(self._unseen(known), self._left_behind(scene, taken.at))

    def _take_up(self, scene: Scene) -> None:
        self._scene = scene
        taken = np.unique(scene.taken)
        self._taken = ListedValues(taken, np.zeros(taken.size, dtype=np.float32))
        self._food = _merged(self._food, scene.food)
        self._danger = _greater(self._danger, scene.danger)

    def _fill(self, target: Picture, first: int, last: int) -> None:
        scene = self._scene
        if scene is None:
            return
        fill_now(target, scene, first, last)
        target[:, NOW:KNOWN_EMPTY] = 0.0
        target[:, KNOWN_EMPTY] = self._blank
        low, high = np.searchsorted(scene.walled, (first, last))
        target[scene.walled[low:high] - first, KNOWN_EMPTY] *= ~scene.beyond[low:high]
        flat, floats = target.reshape(-1), self.view.floats
        for listed in (self._danger, self._food, self._known, self._taken):
            part = listed.between(first * floats, last * floats)
            flat[part.at] = part.value

    def _bytes(self) -> int:
        lists = (self._danger, self._food, self._known, self._taken)
        return sum(item.nbytes for item in lists) + scene_bytes(self._scene)

    def _carried(self, listed: ListedValues, channel: int, motion: Motion, rows: Ints) -> ListedValues:
        """The same seen from where the agents are now, without what has left the window."""
        view = self.view
        row, rest = np.divmod(listed.at, view.floats)
        lives = rows[row] != NOBODY
        to, rest, value = rows[row[lives]], rest[lives], listed.value[lives]
        y, x = np.divmod(rest - channel * view.cells, view.side)
        x, y = x - motion.dx[to], y - motion.dy[to]
        stays = (x >= 0) & (x < view.side) & (y >= 0) & (y < view.side)
        at = to * view.floats + channel * view.cells + y * view.side + x
        return ListedValues(at[stays], value[stays])

    def _faded(self, listed: ListedValues, forget: bool) -> ListedValues:
        if forget:
            kept = listed.value >= FAINT
            listed = ListedValues(listed.at[kept], listed.value[kept])
        return ListedValues(listed.at, listed.value * self._gamma)

    def _unseen(self, listed: ListedValues) -> ListedValues:
        out = ~self._in_sight[listed.at % self.view.cells]
        return ListedValues(listed.at[out], listed.value[out])

    def _left_behind(self, scene: Scene, taken: Ints) -> ListedValues:
        """``known_empty`` of cells that were in sight and no longer are."""
        motion, view = scene.motion, self.view
        known = np.flatnonzero(motion.source != NOBODY)
        key = motion.dy[known] * (4 * view.side) + motion.dx[known]
        rows: list[Ints] = []
        cells: list[Ints] = []
        for first in np.unique(key, return_index=True)[1].tolist():
            which = known[key == key[first]]
            left = self._leaves_sight(int(motion.dx[known[first]]), int(motion.dy[known[first]]))
            rows.append(np.repeat(which, left.size))
            cells.append(np.tile(left, which.size))
        if not rows:
            return _NOTHING
        row, cell = np.concatenate(rows), np.concatenate(cells)
        inside = ~_beyond(scene, row, cell)
        at = row[inside] * view.floats + KNOWN_EMPTY * view.cells + cell[inside]
        at = np.sort(at[~np.isin(at, taken)])
        return ListedValues(at, np.full(at.size, self._gamma, dtype=np.float32))

    def _leaves_sight(self, dx: int, dy: int) -> Ints:
        """Cells of the window that are out of sight now and were in sight before the move."""
        if (dx, dy) not in self._leaving:
            side = self.view.side
            cell = np.flatnonzero(~self._in_sight)
            y, x = np.divmod(cell, side)
            x, y = x + dx, y + dy
            was = (x >= 0) & (x < side) & (y >= 0) & (y < side)
            seen = self._blank.ravel()[np.where(was, y * side + x, 0)] > 0.0
            self._leaving[dx, dy] = cell[was & seen]
        return self._leaving[dx, dy]


def _new_rows(motion: Motion, before: int) -> Ints:
    """For each row of the step before where its agent is now."""
    rows = np.full(before, NOBODY, dtype=np.int64)
    here = np.flatnonzero(motion.source != NOBODY)
    rows[motion.source[here]] = here
    return rows


def _beyond(scene: Scene, row: Ints, cell: Ints) -> Flags:
    """Which of these cells lie beyond the world."""
    place = np.full(scene.count, NOBODY, dtype=np.int64)
    place[scene.walled] = np.arange(scene.walled.size)
    at = place[row]
    out = np.zeros(row.size, dtype=np.bool_)
    walled = at != NOBODY
    out[walled] = scene.beyond[at[walled], *np.divmod(cell[walled], scene.beyond.shape[-1])]
    return out


def _merged(first: ListedValues, second: ListedValues) -> ListedValues:
    """Both lists, ascending as they are, in one; they have no position in common."""
    before = np.searchsorted(first.at, second.at)
    return ListedValues(np.insert(first.at, before, second.at), np.insert(first.value, before, second.value))


def _greater(old: ListedValues, new: ListedValues) -> ListedValues:
    """Both lists in one, of two values at one position the greater."""
    if not old.at.size:
        return new
    place = np.minimum(np.searchsorted(old.at, new.at), old.at.size - 1)
    known = old.at[place] == new.at
    value = old.value.copy()
    value[place[known]] = np.maximum(value[place[known]], new.value[known])
    return _merged(ListedValues(old.at, value), ListedValues(new.at[~known], new.value[~known]))
