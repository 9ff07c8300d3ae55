"""Two servers, and one behind two addresses, told apart."""

from __future__ import annotations

import pytest

from agentdyno.servers.simulated.server import Behaviour, simulated_server
from agentdyno_workloads.llm.two_servers import Evidence, are_two, look, main

QUICK = Behaviour(ttft_s=0.0, itl_s=0.0, output_tokens=1)


def test_two_servers_have_two_processes_and_models_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    with simulated_server(QUICK) as first, simulated_server(QUICK) as second:
        found = look(first.url, second.url, "gemma3")
        assert [(item.what, item.holds) for item in found if item.what != "processes"] == [
            ("addresses", True),
            ("models", True),
        ]
        assert main([first.url, second.url, "--model", "gemma3"]) == 0
    assert capsys.readouterr().out.endswith("Two servers.\n")


def test_one_server_under_two_names_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    with simulated_server(QUICK) as server:
        other = server.url.replace("127.0.0.1", "localhost")
        found = {item.what: item.holds for item in look(server.url, other, "gemma3")}
        assert (found["addresses"], found["models"]) == (False, False)
        assert found["processes"] in (False, None)
        assert main([server.url, other]) == 1
    assert "addresses: ONE" in capsys.readouterr().out


def test_what_cannot_be_seen_shows_nothing() -> None:
    assert not are_two([Evidence("addresses", True, ""), Evidence("processes", None, "")])
    assert are_two([Evidence("addresses", True, ""), Evidence("processes", None, ""), Evidence("models", True, "")])
    assert not are_two([Evidence("processes", True, ""), Evidence("models", False, "")])


def test_a_server_that_does_not_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["http://127.0.0.1:9", "http://127.0.0.1:10", "--model", "m"]) == 2
    assert "error:" in capsys.readouterr().err
