"""What agents do in one step, all of them at once: perceive, choose, act.

Whatever an index returns is used in the order of places, so that every index gives the same history.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from agentdyno_workloads.simulation.config import Rules
from agentdyno_workloads.simulation.state import Flags, Floats, Ints, State

NOBODY = -1


class Action(IntEnum):
    """What an agent did in a step; the code that the log keeps."""

    WANDER = 0
    SEEK = 1
    GATHER = 2
    SHARE = 3
    FIGHT = 4
    BIRTH = 5
    DEATH = 6


@dataclass(frozen=True, slots=True)
class Perceived:
    """Per agent: the nearest resource with something left and its distance, the nearest enemy, the poorest ally.

    ``NOBODY`` and infinity where there is none in sight.
    """

    resource: Ints
    resource_distance: Floats
    enemy: Ints
    ally: Ints
    neighbours: Ints


@dataclass(frozen=True, slots=True)
class Deeds:
    """What happened: for each agent its action, whom it concerned (a place, or a resource), and how much energy."""

    action: Ints
    target: Ints
    amount: Floats
    born: Ints
    died: Ints


def segment_argmin(values: Floats, indptr: Ints) -> Ints:
    """For each segment the position of its first least value, ``NOBODY`` for an empty one."""
    found = np.full(indptr.size - 1, NOBODY, dtype=np.int64)
    starts, ends = indptr[:-1], indptr[1:]
    filled = np.flatnonzero(ends > starts)
    if not filled.size:
        return found
    least = np.minimum.reduceat(values, starts[filled])
    owner = np.repeat(np.arange(filled.size), (ends - starts)[filled])
    hits = np.flatnonzero(values == least[owner])
    # Of equal ones the first: positions ascend within a segment.
    first_owner, first = np.unique(owner[hits], return_index=True)
    found[filled[first_owner]] = hits[first]
    return found


def perceive(state: State, neighbours: tuple[Ints, Ints], resources: tuple[Ints, Ints]) -> Perceived:
    """From the indexes' answers (rows of places, compressed) to what each agent can act on."""
    indptr, indices = neighbours
    count = len(state)
    owner = np.repeat(np.arange(count), np.diff(indptr))
    other = indices != owner
    squared = np.where(other, _squared(state.x, state.y, owner, state.x[indices], state.y[indices]), np.inf)
    foe = state.kind[owner] != state.kind[indices]
    enemy = _chosen(np.where(foe, squared, np.inf), indptr, indices)
    poorest = np.where(other & ~foe, state.energy[indices], np.inf)
    ally = _chosen(poorest, indptr, indices)
    r_indptr, r_indices = resources
    r_owner = np.repeat(np.arange(count), np.diff(r_indptr))
    gap = _squared(state.x, state.y, r_owner, state.resource_x[r_indices], state.resource_y[r_indices])
    gap = np.where(state.amount[r_indices] > 0.0, gap, np.inf)
    place = segment_argmin(gap, r_indptr)
    seen = (place != NOBODY) & np.isfinite(np.where(place == NOBODY, np.inf, gap[place] if gap.size else np.inf))
    nearest = np.where(seen, r_indices[place] if r_indices.size else NOBODY, NOBODY)
    distance = np.where(seen, np.sqrt(gap[place]) if gap.size else np.inf, np.inf)
    return Perceived(nearest, distance, enemy, ally, np.diff(indptr) - 1)


def _squared(x: Floats, y: Floats, owner: Ints, other_x: Floats, other_y: Floats) -> Floats:
    dx, dy = other_x - x[owner], other_y - y[owner]
    squared: Floats = dx * dx + dy * dy
    return squared


def _chosen(values: Floats, indptr: Ints, indices: Ints) -> Ints:
    if not values.size:
        return np.full(indptr.size - 1, NOBODY, dtype=np.int64)
    place = segment_argmin(values, indptr)
    fits = (place != NOBODY) & np.isfinite(values[place])
    chosen: Ints = np.where(fits, indices[place], NOBODY)
    return chosen


def act(state: State, seen: Perceived, rules: Rules, size: tuple[float, float], rng: np.random.Generator) -> Deeds:
    """Everybody chooses by what it saw and acts at the same time; births and deaths come last."""
    count = len(state)
    luck = rng.random((3, count))
    angle = rng.random(count) * (2.0 * np.pi)
    action = np.full(count, Action.WANDER, dtype=np.int64)
    target = np.full(count, NOBODY, dtype=np.int64)
    amount = np.zeros(count)
    in_reach = seen.resource_distance <= rules.gather_reach
    fights = (seen.enemy != NOBODY) & (luck[0] < rules.fight_rate) & (state.energy > rules.start_energy * 0.5)
    shares = ~fights & (seen.ally != NOBODY) & (state.energy > rules.share_above)
    gathers = ~fights & ~shares & in_reach
    seeks = ~fights & ~shares & ~gathers & (seen.resource != NOBODY)
    for chosen, code, whom in (
        (fights, Action.FIGHT, seen.enemy),
        (shares, Action.SHARE, seen.ally),
        (gathers, Action.GATHER, seen.resource),
        (seeks, Action.SEEK, seen.resource),
    ):
        action[chosen] = code
        target[chosen] = whom[chosen]
    change = np.full(count, -rules.living_cost)
    _fight(fights, target, change, amount, rules)
    _share(shares, target, change, amount, rules)
    _gather(state, gathers, target, change, amount, rules)
    _move(state, action, target, angle, change, size, rules)
    state.energy = state.energy + change
    state.age = state.age + 1
    state.amount = np.minimum(state.amount + rules.regrowth, rules.resource_limit)
    return _renew(state, Deeds(action, target, amount, _NONE, _NONE), luck, rules, size)


_NONE: Ints = np.zeros(0, dtype=np.int64)


def _fight(fights: Flags, target: Ints, change: Floats, amount: Floats, rules: Rules) -> None:
    change[fights] -= rules.fight_cost
    amount[fights] = rules.fight_damage
    hits = np.bincount(target[fights], minlength=change.size)
    change -= hits * rules.fight_damage


def _share(shares: Flags, target: Ints, change: Floats, amount: Floats, rules: Rules) -> None:
    change[shares] -= rules.share_amount
    amount[shares] = rules.share_amount
    change += np.bincount(target[shares], minlength=change.size) * rules.share_amount


def _gather(state: State, gathers: Flags, target: Ints, change: Floats, amount: Floats, rules: Rules) -> None:
    """Those at one resource divide what is left of it."""
    wanted = target[gathers]
    takers = np.bincount(wanted, minlength=state.amount.size)
    each = np.minimum(rules.gather_rate, state.amount / np.maximum(takers, 1))
    change[gathers] += each[wanted]
    amount[gathers] = each[wanted]
    state.amount = state.amount - takers * each


def _move(
    state: State,
    action: Ints,
    target: Ints,
    angle: Floats,
    change: Floats,
    size: tuple[float, float],
    rules: Rules,
) -> None:
    """Towards a resource that is sought, else anywhere; the world has walls."""
    dx, dy = np.cos(angle), np.sin(angle)
    seeks = action == Action.SEEK
    if seeks.any():
        to_x = state.resource_x[target[seeks]] - state.x[seeks]
        to_y = state.resource_y[target[seeks]] - state.y[seeks]
        length = np.maximum(np.sqrt(to_x * to_x + to_y * to_y), 1e-12)
        dx[seeks], dy[seeks] = to_x / length, to_y / length
    moves = (action == Action.WANDER) | seeks
    state.x = np.where(moves, np.clip(state.x + rules.speed * dx, 0.0, size[0]), state.x)
    state.y = np.where(moves, np.clip(state.y + rules.speed * dy, 0.0, size[1]), state.y)
    change[moves] -= rules.move_cost


def _renew(state: State, deeds: Deeds, luck: Floats, rules: Rules, size: tuple[float, float]) -> Deeds:
    dies = (state.energy <= 0.0) | (state.age > rules.max_age)
    births = np.flatnonzero(~dies & (state.energy > rules.birth_above) & (luck[1] < rules.birth_rate))
    half = state.energy[births] * 0.5
    state.energy[births] = half
    turn = luck[2][births] * (2.0 * np.pi)
    x = np.clip(state.x[births] + np.cos(turn), 0.0, size[0])
    y = np.clip(state.y[births] + np.sin(turn), 0.0, size[1])
    died = state.ids[dies]
    alive = np.concatenate([~dies, np.ones(births.size, dtype=np.bool_)])
    born = state.add(births, x, y, half)
    state.keep(alive)
    return Deeds(deeds.action, deeds.target, deeds.amount, born, died)
