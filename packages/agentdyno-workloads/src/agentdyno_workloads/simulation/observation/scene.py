"""What every agent sees at one moment, before it is put into any storage: who is in which cell of whose window."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agentdyno_workloads.simulation.observation.channels import (
    ALLIES,
    DANGER,
    ENEMIES,
    ENERGY,
    FOOD,
    KNOWN_EMPTY,
    RESOURCES,
    FieldOfView,
    Flags,
    Ints,
    Picture,
)
from agentdyno_workloads.simulation.spatial import make_index
from agentdyno_workloads.simulation.state import Floats, State

BRUTE_PAIRS = 20_000
"""Up to so many pairs of agent and thing, comparing all of them is faster than an index."""
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Motion:
    """Per agent: its row at the step before (``NOBODY`` where it is new or came from beyond its window), and by how
    many cells it has moved."""

    source: Ints
    dx: Ints
    dy: Ints


@dataclass(frozen=True, slots=True)
class ListedValues:
    """Values at positions of the array ``(agents, channels, side, side)``, rows ascending; equal positions add up."""

    at: Ints
    value: Picture

    def between(self, low: int, high: int) -> ListedValues:
        """Those at positions from ``low`` to before ``high``, both at the start of a row, counted from ``low``."""
        first, last = np.searchsorted(self.at, (low, high))
        return ListedValues(self.at[first:last] - low, self.value[first:last])

    @property
    def nbytes(self) -> int:
        return self.at.nbytes + self.value.nbytes


@dataclass(frozen=True, slots=True)
class Scene:
    """``kin`` are allies and enemies, ``energy`` theirs, ``resources`` what lies about; ``danger`` and ``food`` are
    what memory has to take up, each position once; ``taken`` are positions of ``known_empty`` that hold something.

    ``walled`` are the rows whose window reaches beyond the world, ``beyond`` ``(walled, side, side)`` where it does.
    """

    count: int
    motion: Motion
    own: Picture
    kin: ListedValues
    energy: ListedValues
    resources: ListedValues
    danger: ListedValues
    food: ListedValues
    taken: Ints
    walled: Ints
    beyond: Flags


class Eye:
    """Looks at the world for all agents at once, and remembers who was where the last time."""

    def __init__(self, world: tuple[float, float], view: FieldOfView) -> None:
        self.view = view
        self._columns, self._rows = max(1, math.ceil(world[0])), max(1, math.ceil(world[1]))
        self._seen = view.in_sight().ravel()
        self._ids: Ints = np.zeros(0, dtype=np.int64)
        self._cx = self._cy = self._ids

    def look(self, state: State) -> Scene:
        """The scene of this moment."""
        view, count = self.view, len(state)
        cx, cy = _cells(state.x, self._columns), _cells(state.y, self._rows)
        motion = self._motion(state.ids, cx, cy)
        self._ids, self._cx, self._cy = state.ids, cx, cy
        stride = view.floats
        owner, other, cell, weight = self._pairs((state.x, state.y), same=True)
        enemy = state.kind[owner] != state.kind[other]
        base = owner * stride + cell
        kin = ListedValues(base + np.where(enemy, ENEMIES * view.cells, ALLIES * view.cells), weight)
        energy = ListedValues(base + ENERGY * view.cells, weight * state.energy.astype(np.float32)[other])
        left = np.flatnonzero(state.amount > 0.0)
        r_owner, r_other, r_cell, r_weight = self._pairs((state.resource_x[left], state.resource_y[left]), same=False)
        r_base = r_owner * stride + r_cell
        amount = state.amount[left].astype(np.float32)
        resources = ListedValues(r_base + RESOURCES * view.cells, r_weight * amount[r_other])
        threat, food = add_up(ListedValues(kin.at[enemy], weight[enemy])), add_up(resources)
        walled, beyond = self._walls()
        return Scene(
            count=count,
            motion=motion,
            own=state.energy.astype(np.float32),
            kin=kin,
            energy=energy,
            resources=resources,
            danger=ListedValues(
                threat.at + (DANGER - ENEMIES) * view.cells, np.minimum(threat.value, np.float32(1.0))
            ),
            food=ListedValues(food.at + (FOOD - RESOURCES) * view.cells, food.value),
            taken=np.concatenate([base, r_base]) + KNOWN_EMPTY * view.cells,
            walled=walled,
            beyond=beyond,
        )

    def _motion(self, ids: Ints, cx: Ints, cy: Ints) -> Motion:
        if ids.size == self._ids.size and np.array_equal(ids, self._ids):
            source: Ints = np.arange(ids.size, dtype=np.int64)
            dx, dy = cx - self._cx, cy - self._cy
        else:
            if not self._ids.size:
                none = np.zeros(ids.size, dtype=np.int64)
                return Motion(none + NOBODY, none, none)
            place = np.minimum(np.searchsorted(self._ids, ids), self._ids.size - 1)
            source = np.where(self._ids[place] == ids, place, NOBODY)
            dx, dy = cx - self._cx[place], cy - self._cy[place]
        far = (np.abs(dx) >= self.view.side) | (np.abs(dy) >= self.view.side)
        source = np.where(far, NOBODY, source)
        gone = source == NOBODY
        return Motion(source, np.where(gone, 0, dx), np.where(gone, 0, dy))

    def _pairs(self, things: tuple[Floats, Floats], *, same: bool) -> tuple[Ints, Ints, Ints, Picture]:
        """Agent, thing, cell of the agent's window and weight, for everything in sight; ``same``: the things are the
        agents, none of which sees itself."""
        view, radius = self.view, self.view.radius
        if view.interpolation == "nearest":
            px, py = _cells(things[0], self._columns), _cells(things[1], self._rows)
            owner, other = self._near(px, py, view.reach)
            if same:
                others = owner != other
                owner, other = owner[others], other[others]
            column, row = px[other] - self._cx[owner] + radius, py[other] - self._cy[owner] + radius
            return owner, other, row * view.side + column, np.ones(owner.size, dtype=np.float32)
        base_x, x_cells, x_share = _spread(things[0], self._columns)
        base_y, y_cells, y_share = _spread(things[1], self._rows)
        owner, other = self._near(base_x, base_y, view.reach + math.sqrt(2.0))
        if same:
            others = owner != other
            owner, other = owner[others], other[others]
        # (pairs, 2, 2): rows of the window first, as a window is stored.
        column = x_cells[other][:, None, :] - self._cx[owner][:, None, None] + radius
        row = y_cells[other][:, :, None] - self._cy[owner][:, None, None] + radius
        weight = (y_share[other][:, :, None] * x_share[other][:, None, :]).astype(np.float32)
        inside = (column >= 0) & (column < view.side) & (row >= 0) & (row < view.side) & (weight > 0.0)
        cell = np.where(inside, row * view.side + column, 0)
        inside &= self._seen[cell]
        pair = np.nonzero(inside)[0]
        return owner[pair], other[pair], cell[inside], weight[inside]

    def _near(self, px: Ints, py: Ints, reach: float) -> tuple[Ints, Ints]:
        """Pairs of agent and thing whose cells are at most ``reach`` apart; agents ascend, and things for each."""
        cx, cy = self._cx, self._cy
        if cx.size * px.size <= BRUTE_PAIRS:
            dx, dy = px[None, :] - cx[:, None], py[None, :] - cy[:, None]
            owner, other = np.nonzero(dx * dx + dy * dy <= reach * reach)
            return owner, other
        index = make_index("hash_grid", radius_hint=reach)
        index.build(px.astype(np.float64), py.astype(np.float64))
        indptr, indices = index.radius(cx.astype(np.float64), cy.astype(np.float64), reach)
        return np.repeat(np.arange(cx.size), np.diff(indptr)), indices

    def _walls(self) -> tuple[Ints, Flags]:
        """Rows of windows that reach beyond the world, and where they do."""
        radius, cx, cy = self.view.radius, self._cx, self._cy
        out = (cx < radius) | (cx >= self._columns - radius) | (cy < radius) | (cy >= self._rows - radius)
        walled = np.flatnonzero(out)
        steps = np.arange(-radius, radius + 1)
        x, y = cx[walled][:, None] + steps, cy[walled][:, None] + steps
        beyond_x, beyond_y = (x < 0) | (x >= self._columns), (y < 0) | (y >= self._rows)
        beyond: Flags = beyond_y[:, :, None] | beyond_x[:, None, :]
        return walled, beyond


def add_up(listed: ListedValues) -> ListedValues:
    """The same with every position once, ascending; values are added in their order, as in an array."""
    at, group = np.unique(listed.at, return_inverse=True)
    value = np.zeros(at.size, dtype=np.float32)
    np.add.at(value, group, listed.value)
    return ListedValues(at, value)


def _cells(place: Floats, limit: int) -> Ints:
    """The cells that places are in; the far edge of the world belongs to the last cell."""
    cells: Ints = np.minimum(place.astype(np.int64), limit - 1)
    return cells


def _spread(place: Floats, limit: int) -> tuple[Ints, Ints, Floats]:
    """The two cells whose middles are around each place, and its share in each; at an edge both are the last one."""
    base = np.floor(place - 0.5)
    share = place - 0.5 - base
    first = base.astype(np.int64)
    cells = np.clip(np.stack([first, first + 1], axis=1), 0, limit - 1)
    return first, cells, np.stack([1.0 - share, share], axis=1)
