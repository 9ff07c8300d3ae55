"""What may be asked for from outside."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.jobs.catalogue import Catalogue, check_configuration
from agentdyno.store import Store

from ..suites import Room
from ..workbench.service import Service


@pytest.fixture
def service(room: Room) -> Service:
    return Service.made(room.folder, room.store)


def test_agents_of_the_workspace_and_installed_ones_are_registered(service: Service) -> None:
    agents = service.catalogue.agents
    assert {"right", "slow", "broken", "model", "pair@1", "pair@2", "rules", "rules@1"} <= set(agents)
    assert (agents["right"].name, agents["right"].description, agents["right"].paid) == (
        "right",
        "Always right",
        False,
    )
    assert agents["pair@1"].label == "pair@1"
    assert agents["rules@1"].label == "rules@1"
    assert agents["rules@1"].digest != agents["rules"].digest


def test_an_agent_that_wants_the_bundled_model_is_registered_without_starting_it(service: Service) -> None:
    assert "smollm2" in service.catalogue.agents


def test_suites_of_the_workspace_and_shipped_ones_are_registered(service: Service) -> None:
    suites = service.catalogue.suites
    first = suites["first"]
    assert (first.name, first.version, first.benchmarks, first.cases) == ("First steps", "3", 1, 6)
    assert suites["comprehensive"].cases > 100


def test_an_agent_is_found_by_name_by_name_and_version_and_by_uuid(service: Service) -> None:
    catalogue = service.catalogue
    right = catalogue.agents["right"]
    for reference in ("right", right.label, right.uid, right.uid.upper()):
        assert catalogue.find_agent(reference) == right
    assert catalogue.find_agent("pair@2").version == "2"


def test_a_suite_is_found_by_id_name_version_and_uuid(service: Service) -> None:
    catalogue = service.catalogue
    first = catalogue.suites["first"]
    for reference in ("first", "First steps", "first@3", first.uid):
        assert catalogue.find_suite(reference) is first


def test_the_uuid_is_the_one_that_the_store_gives(service: Service) -> None:
    service.submit("right")
    service.worker().work(threading.Event(), once=True)
    stored = {row.name: row.uid for row in service.store.boards.agents()}
    assert stored["right"] == service.catalogue.agents["right"].uid
    suites = {row.suite_id: row.uid for row in service.store.boards.suites()}
    assert suites["first"] == service.catalogue.suites["first"].uid


def test_a_name_of_two_versions_asks_which(service: Service) -> None:
    with pytest.raises(SpecError, match="2 versions") as caught:
        service.catalogue.find_agent("pair")
    assert caught.value.remedy == "Say pair@1 or pair@2."


@pytest.mark.parametrize(
    ("reference", "near"), [("rigth", "right"), ("agent.py@right", ""), ("cmd:rm -rf /", ""), ("", "")]
)
def test_what_is_not_registered_is_refused_with_the_nearest_names(
    service: Service, reference: str, near: str
) -> None:
    with pytest.raises(SpecError, match="is registered") as caught:
        service.catalogue.find_agent(reference)
    assert near in (caught.value.remedy or "")


@pytest.mark.parametrize("reference", ["frist", "suite.yaml", "../../etc/passwd"])
def test_a_suite_is_never_a_path(service: Service, reference: str) -> None:
    with pytest.raises(SpecError, match="no suite"):
        service.catalogue.find_suite(reference)


def test_what_cannot_be_loaded_is_left_out_and_said(service: Service) -> None:
    text = (service.folder / "dyno.yaml").read_text()
    (service.folder / "dyno.yaml").write_text(text.replace("suite.yaml", "suite.yaml, missing.yaml"))
    catalogue = service.catalogue
    assert "first" in catalogue.suites
    with pytest.raises(SpecError, match=r"missing\.yaml cannot be loaded"):
        catalogue.find_suite("missing.yaml")


def test_changed_code_is_another_digest_and_equal_code_elsewhere_is_the_same(
    service: Service, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = service.catalogue
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with Store.open(elsewhere / "dyno.db") as store:
        other = Service.made(elsewhere, store).catalogue
    assert before.agents["right"].digest == other.agents["right"].digest
    assert before.offers == other.offers
    (service.folder / "agent.py").write_text(
        "def right(case): return 'other'\ndef slow(case): ...\ndef broken(c): ..."
    )
    assert service.catalogue.agents["right"].digest != before.agents["right"].digest
    assert not {pair for pair in service.catalogue.offers if pair[0] == before.agents["right"].digest}


def test_only_declared_settings_of_the_same_type_may_be_changed(service: Service) -> None:
    right = service.catalogue.agents["styled"]
    assert right.allowed == {"depth": "number", "style": "string"}
    assert check_configuration(right, {"depth": 3.5, "style": "long"}) == {"depth": 3.5, "style": "long"}
    for wrong in ({"depth": "3"}, {"depth": True}, {"style": 1}, {"style": None}, {"depht": 3}):
        with pytest.raises(SpecError, match=r"expected|no setting") as caught:
            check_configuration(right, wrong)
        assert str(caught.value.where) == f"configuration.{next(iter(wrong))}"


@pytest.mark.parametrize(
    "key", ["base_url", "env", "cwd", "command", "api_key_env", "headers", "model_path", "systemPromptFile", "paid"]
)
def test_places_commands_and_secrets_are_never_a_callers_to_choose(room: Room, key: str) -> None:
    (room.folder / "dyno.yaml").write_text(
        f"agents: {{mine: {{use: 'cmd:cat', config: {{{key}: {'true' if key == 'paid' else 'x'}}}}}}}\n"
    )
    if key == "cwd":
        (room.folder / "x").mkdir()
    catalogue = Catalogue.load(room.folder, {})
    mine = catalogue.agents.get("mine")
    assert mine is None or key not in mine.allowed
    if mine is not None:
        with pytest.raises(SpecError):
            check_configuration(mine, {key: "y"})


def test_sampling_options_of_models_may_be_set(service: Service) -> None:
    model = service.catalogue.agents["model"]
    given = {"temperature": 0.5, "top_p": 1, "seed": 7, "max_tokens": 100, "stop": ["x"]}
    assert check_configuration(model, given) == given
    assert "base_url" not in model.allowed
    for wrong in ({"temperature": "hot"}, {"base_url": "http://evil.example"}, {"stop": {"a": 1}}):
        with pytest.raises(SpecError):
            check_configuration(model, wrong)


def test_text_has_a_limit(service: Service) -> None:
    with pytest.raises(SpecError, match="10,000"):
        check_configuration(service.catalogue.agents["styled"], {"style": "x" * 10_001})


def test_a_changed_configuration_of_a_declared_version_is_another_version(service: Service) -> None:
    model = service.catalogue.agents["model"]
    changed = model.configured({"temperature": 0.5})
    assert changed.version is not None
    assert changed.version.startswith("1.0+")
    assert changed.config["temperature"] == 0.5
    assert model.configured({}) == model.use
    assert model.configured({"temperature": 0.6}).version != changed.version


def test_a_folder_without_a_workspace_has_what_is_installed(tmp_path: Path) -> None:
    catalogue = Catalogue.load(tmp_path, {})
    assert "rules" in catalogue.agents
    assert "comprehensive" in catalogue.suites
