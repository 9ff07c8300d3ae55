"""What agents see: pictures by hand, and every storage like a slow reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import examples

from agentdyno import SpecError
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.observation import CHANNELS, STORAGES, FieldOfView, make_observer, planes, scene
from agentdyno_workloads.simulation.observation.channels import (
    ALLIES,
    DANGER,
    ENEMIES,
    ENERGY,
    FOOD,
    KNOWN_EMPTY,
    OBSTACLES,
    RESOURCES,
    SELF,
)
from agentdyno_workloads.simulation.observation.reference import Reference, prove
from agentdyno_workloads.simulation.simulate import Simulation, simulate
from agentdyno_workloads.simulation.state import State

WORLD = (20.0, 20.0)
Agent = tuple[int, float, float, int]
"""Id, x, y, kind."""


def world_of(agents: list[Agent], resources: list[tuple[float, float, float]] | None = None) -> State:
    """Agents with an energy of ten times their id and one; resources as x, y and amount."""
    ids = np.array([agent[0] for agent in agents], dtype=np.int64)
    things = np.array(resources or [], dtype=float).reshape(-1, 3)
    return State(
        ids=ids,
        x=np.array([agent[1] for agent in agents], dtype=float),
        y=np.array([agent[2] for agent in agents], dtype=float),
        energy=(ids * 10 + 1).astype(np.float64),
        age=np.zeros(ids.size, dtype=np.int64),
        kind=np.array([agent[3] for agent in agents], dtype=np.int64),
        parent=np.full(ids.size, -1, dtype=np.int64),
        resource_x=things[:, 0],
        resource_y=things[:, 1],
        amount=things[:, 2],
        next_id=int(ids.max(initial=-1)) + 1,
    )


def filled(picture: np.ndarray) -> dict[tuple[int, int], float]:
    """Row and column, counted from the agent's own cell, of every number other than 0."""
    middle = picture.shape[-1] // 2
    return {(int(y) - middle, int(x) - middle): float(picture[y, x]) for y, x in np.argwhere(picture)}


@pytest.mark.parametrize("storage", STORAGES)
def test_a_picture_shows_who_and_what_is_in_which_cell(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=3))
    agents = [(0, 10.5, 10.5, 0), (1, 12.1, 10.9, 0), (2, 10.2, 8.3, 1), (3, 12.9, 10.0, 0), (4, 14.5, 10.5, 1)]
    observer.observe(world_of(agents, [(9.5, 11.5, 4.0), (9.9, 11.1, 0.5), (8.5, 10.5, 0.0)]), 1)
    picture = observer.tensor(0)
    assert picture.shape == (9, 7, 7)
    assert picture.dtype == np.float32
    assert filled(picture[SELF]) == {(0, 0): 1.0}
    assert filled(picture[ALLIES]) == {(0, 2): 2.0}, "two in one cell add up; it is not its own ally"
    assert filled(picture[ENEMIES]) == {(-2, 0): 1.0}, "the one four cells away is out of the window"
    assert filled(picture[ENERGY]) == {(0, 2): 11.0 + 31.0, (-2, 0): 21.0}
    assert filled(picture[RESOURCES]) == {(1, -1): 4.5}, "what is used up is not there"
    assert filled(picture[DANGER]) == {(-2, 0): 1.0}
    assert filled(picture[FOOD]) == {(1, -1): 4.5}
    assert not picture[OBSTACLES].any()
    empty = set(filled(picture[KNOWN_EMPTY]))
    assert len(empty) == 29 - 4, "a disc of radius 3 has 29 cells; itself, allies, enemy and resource take four"
    assert not empty & {(0, 0), (0, 2), (-2, 0), (1, -1), (3, 3)}


def test_cells_beyond_the_world_are_obstacles_and_never_known_to_be_empty() -> None:
    observer = make_observer("dense", (20.0, 20.0), FieldOfView(radius=2))
    observer.observe(world_of([(0, 0.0, 20.0, 0)]), 1)
    picture = observer.tensor(0)
    beyond = {(y, x) for y in range(-2, 3) for x in range(-2, 3) if x < 0 or y > 0}
    assert set(filled(picture[OBSTACLES])) == beyond, "the far edge belongs to the last cell"
    assert set(filled(picture[KNOWN_EMPTY])) == {(-1, 0), (-2, 0), (0, 1), (0, 2), (-1, 1)}


@pytest.mark.parametrize("storage", STORAGES)
def test_obstacles_are_gone_when_the_agent_has_left_the_edge(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=2))
    for x, walls in ((1.5, {(y, -2) for y in range(-2, 3)}), (2.5, set())):
        observer.observe(world_of([(0, x, 10.5, 0)]), 1)
        assert set(filled(observer.batch()[0][OBSTACLES])) == walls


def test_bilinear_spreads_a_thing_over_the_four_cells_around_it() -> None:
    observer = make_observer("dense", WORLD, FieldOfView(radius=3, interpolation="bilinear"))
    observer.observe(world_of([(0, 10.5, 10.5, 0)], [(11.75, 9.75, 8.0)]), 1)
    assert filled(observer.tensor(0)[RESOURCES]) == {(-1, 1): 4.5, (-1, 2): 1.5, (0, 1): 1.5, (0, 2): 0.5}


@pytest.mark.parametrize("storage", STORAGES)
def test_memory_stays_in_its_place_in_the_world_and_fades_out_of_sight(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=3, sight=1.0, gamma=0.5))
    food = [(11.5, 10.5, 4.0)]
    enemy = (1, 10.5, 11.5, 1)
    observer.observe(world_of([(0, 10.5, 10.5, 0), enemy], food), 1)
    observer.observe(world_of([(0, 9.5, 10.5, 0)], food), 2)
    picture = observer.tensor(0)
    assert filled(picture[FOOD]) == {(0, 2): 2.0}, "one to the left, so that it is one more to the right"
    assert filled(picture[DANGER]) == {(1, 1): 0.5}
    assert filled(picture[RESOURCES]) == {}
    known = filled(picture[KNOWN_EMPTY])
    assert known == {(0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0, (0, 1): 1.0, (-1, 1): 0.5}
    observer.observe(world_of([(0, 7.5, 10.5, 0)], food), 3)
    assert filled(observer.tensor(0)[FOOD]) == {}, "what leaves the window is forgotten"
    observer.observe(world_of([(0, 8.5, 10.5, 0)], food), 4)
    assert filled(observer.tensor(0)[FOOD]) == {}
    assert filled(observer.tensor(0)[DANGER]) == {(1, 2): 0.125}


@pytest.mark.parametrize("storage", STORAGES)
def test_food_that_is_gone_is_forgotten_when_the_cell_is_seen_again(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=2))
    observer.observe(world_of([(0, 10.5, 10.5, 0)], [(11.5, 10.5, 4.0)]), 1)
    observer.observe(world_of([(0, 10.5, 10.5, 0)], [(11.5, 10.5, 0.0)]), 2)
    picture = observer.tensor(0)
    assert filled(picture[FOOD]) == {}
    assert picture[KNOWN_EMPTY][2, 3] == 1.0


@pytest.mark.parametrize("storage", STORAGES)
def test_pictures_follow_ids_when_others_are_born_and_die(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=3, gamma=0.5))
    enemy = (5, 10.5, 11.5, 1)
    observer.observe(world_of([(2, 3.5, 3.5, 0), (3, 10.5, 10.5, 0), enemy]), 1)
    observer.observe(world_of([(3, 10.5, 10.5, 0), (6, 10.5, 9.5, 0), (7, 3.5, 3.5, 0)]), 2)
    assert observer.batch().shape == (3, 9, 7, 7)
    assert filled(observer.tensor(0)[DANGER]) == {(1, 0): 0.5}
    assert filled(observer.tensor(1)[DANGER]) == {}, "the newborn remembers nothing"
    observer.observe(world_of([]), 3)
    assert observer.batch().shape == (0, 9, 7, 7)
    observer.observe(world_of([(9, 10.5, 10.5, 0)]), 4)
    assert filled(observer.tensor(0)[DANGER]) == {}


@pytest.mark.parametrize("storage", STORAGES)
def test_what_is_faint_is_forgotten_at_every_sixteenth_step(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=2, gamma=0.25))
    observer.observe(world_of([(0, 10.5, 10.5, 0), (1, 10.5, 11.5, 1)]), 10)
    alone = world_of([(0, 10.5, 10.5, 0)])
    for step in range(11, 16):
        observer.observe(alone, step)
    assert observer.tensor(0)[DANGER][3, 2] == np.float32(0.25**5) < 1e-3
    observer.observe(alone, 16)
    assert not observer.tensor(0)[DANGER].any()


places = st.one_of(
    st.floats(0.0, 1.0).map(lambda part: part * 9.5), st.sampled_from([0.0, 0.5, 1.0, 4.0, 4.5, 9.0, 9.5])
)


@st.composite
def histories(draw: st.DrawFn) -> list[State]:
    """A few steps of a small world: agents move a little or far, are born, die."""
    living: dict[int, Agent] = {}
    states, fresh = [], 0
    for _ in range(draw(st.integers(1, 5))):
        for number in list(living):
            fate = draw(st.sampled_from(["stay", "move", "move", "jump", "die"]))
            _, x, y, kind = living[number]
            if fate == "die":
                del living[number]
            elif fate == "move":
                step = st.floats(-1.0, 1.0)
                moved = np.clip([x + draw(step), y + draw(step)], 0.0, 9.5)
                living[number] = (number, float(moved[0]), float(moved[1]), kind)
            elif fate == "jump":
                living[number] = (number, draw(places), draw(places), kind)
        for _ in range(draw(st.integers(0, 3))):
            living[fresh] = (fresh, draw(places), draw(places), draw(st.integers(0, 1)))
            fresh += 1
        resources = draw(st.lists(st.tuples(places, places, st.floats(0.0, 8.0)), max_size=4))
        states.append(world_of(list(living.values()), resources))
    return states


@examples(40)
@given(
    history=histories(),
    radius=st.integers(1, 4),
    bilinear=st.booleans(),
    gamma=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    near=st.booleans(),
    first=st.integers(1, 16),
)
def test_every_storage_shows_bit_for_bit_what_the_slow_reference_shows(
    history: list[State], radius: int, bilinear: bool, gamma: float, near: bool, first: int
) -> None:
    view = FieldOfView(radius, "bilinear" if bilinear else "nearest", gamma, sight=radius / 2 + 0.3 if near else None)
    for storage in STORAGES:
        observer, reference = make_observer(storage, (9.5, 9.5), view), Reference((9.5, 9.5), view)
        for step, state in enumerate(history, start=first):
            prove(observer, reference, state, step)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_an_index_finds_the_same_neighbours_as_comparing_all(
    interpolation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = SimulationConfig(agents=150, steps=3)
    view = FieldOfView(radius=5, interpolation=interpolation)  # type: ignore[arg-type]
    simulation = Simulation(config)
    all_compared, indexed = (make_observer("dense", config.size, view) for _ in range(2))
    for step in range(3):
        simulation.step()
        all_compared.observe(simulation.state, step)
        with monkeypatch.context() as patch:
            patch.setattr(scene, "BRUTE_PAIRS", -1)
            indexed.observe(simulation.state, step)
        assert np.array_equal(all_compared.batch(), indexed.batch())


def test_memory_that_is_moved_in_parts_is_the_same_while_agents_are_born_and_die(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = SimulationConfig(agents=60, steps=40)
    simulation = Simulation(config)
    whole, parts = (make_observer("dense", config.size, FieldOfView(radius=3)) for _ in range(2))
    for step in range(1, 41):
        simulation.step()
        whole.observe(simulation.state, step)
        with monkeypatch.context() as patch:
            patch.setattr(planes, "_PART_FLOATS", 7 * 3 * 49)
            parts.observe(simulation.state, step)
        assert np.array_equal(whole.batch(), parts.batch())
    assert simulation.births > 0
    assert simulation.deaths > 0


@pytest.mark.parametrize("storage", ["sparse", "hybrid"])
def test_a_picture_is_put_together_once_a_step_and_then_comes_from_the_cache(storage: str) -> None:
    observer = make_observer(storage, WORLD, FieldOfView(radius=2))
    state = world_of([(0, 10.5, 10.5, 0), (1, 11.5, 10.5, 1)])
    observer.observe(state, 1)
    first = observer.tensor(1)
    assert observer.tensor(1) is first
    assert (observer.stats.rebuilds, observer.stats.cache_hits) == (1, 1)
    assert observer.stats.cache_bytes == first.nbytes == 9 * 25 * 4
    observer.batch()
    observer.batch()
    assert (observer.stats.rebuilds, observer.stats.cache_hits) == (3, 3)
    observer.observe(state, 2)
    observer.tensor(0)
    assert (observer.stats.rebuilds, observer.stats.cache_hits) == (4, 3), "a new step outdates the cache"


@pytest.mark.parametrize("storage", STORAGES)
def test_pictures_can_not_be_written_to(storage: str) -> None:
    observer = make_observer(storage, WORLD)
    observer.observe(world_of([(0, 10.5, 10.5, 0)]), 1)
    for picture in (observer.tensor(0), observer.batch()):
        with pytest.raises(ValueError, match="read-only"):
            picture[...] = 1.0


def test_a_sparse_storage_keeps_less_than_a_hybrid_and_that_less_than_a_dense_one() -> None:
    config = SimulationConfig(agents=60, steps=5)
    kept = {}
    for storage in STORAGES:
        observer = make_observer(storage, config.size, FieldOfView(radius=10))
        simulate(config, observer=observer)
        kept[storage] = observer.stats.bytes
    assert kept["sparse"] < kept["hybrid"] < kept["dense"]
    assert kept["dense"] >= 60 * len(CHANNELS) * 21 * 21 * 4


def test_a_configured_storage_observes_every_agent_at_every_step_and_changes_no_history() -> None:
    config = SimulationConfig(agents=30, steps=10)
    bare = simulate(config)
    observed = simulate(replace(config, observation_storage="dense", observation_radius=3))
    assert bare.observations == 0
    assert observed.observations >= 10 * min(30, observed.agents)
    assert observed.history_hash == bare.history_hash


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"radius": 0}, "params.radius"),
        ({"gamma": 1.5}, "params.gamma"),
        ({"gamma": float("nan")}, "params.gamma"),
        ({"sight": 7.0}, "params.sight"),
        ({"interpolation": "cubic"}, "params.interpolation"),
    ],
)
def test_a_view_that_can_not_be_is_refused(wrong: dict[str, object], where: str) -> None:
    with pytest.raises(SpecError) as refused:
        FieldOfView(**wrong)  # type: ignore[arg-type]
    assert refused.value.where == where


def test_an_unknown_storage_and_a_row_that_is_not_there_are_refused() -> None:
    with pytest.raises(SpecError, match="no storage 'dens'"):
        make_observer("dens", WORLD)
    observer = make_observer("dense", WORLD)
    with pytest.raises(SpecError, match="no agent in row 0"):
        observer.tensor(0)
