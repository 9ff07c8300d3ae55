"""Where an endpoint is, and what is refused as an address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.wire.address import Address
from agentdyno.wire.errors import Unsendable


def test_a_base_url_with_a_path_is_joined_with_the_path_of_a_call() -> None:
    address = Address.parse("http://localhost:8080/api/v1/")
    assert address == Address("http", "localhost", 8080, "/api/v1")
    assert address.target("/chat/completions") == "/api/v1/chat/completions"
    assert address.endpoint("/chat/completions") == "http://localhost:8080/api/v1/chat/completions"


def test_a_query_of_the_base_goes_with_every_call_and_is_never_shown() -> None:
    address = Address.parse("https://models.example.com/v1?api-version=2&key=secret")
    assert address.target("/chat") == "/v1/chat?api-version=2&key=secret"
    assert address.target("/chat?x=1") == "/v1/chat?x=1&api-version=2&key=secret"
    assert "secret" not in address.endpoint("/chat")


def test_default_ports_are_left_out_of_the_host_header() -> None:
    assert Address.parse("https://example.com").netloc == "example.com"
    assert Address.parse("https://example.com").port == 443
    assert Address.parse("http://example.com:443").netloc == "example.com:443"
    assert Address.parse("http://example.com").target("") == "/"


def test_an_ipv6_address_has_brackets_where_people_see_it() -> None:
    address = Address.parse("http://[::1]:8080/v1")
    assert (address.host, address.netloc) == ("::1", "[::1]:8080")


def test_names_in_other_scripts_and_blanks_in_paths_are_encoded() -> None:
    assert Address.parse("http://münchen.example/ä").host == "xn--mnchen-3ya.example"
    assert Address.parse("http://münchen.example/ä").target("/x y") == "/%C3%A4/x%20y"


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8080",
        "ftp://example.com",
        "http://",
        "http://:80",
        "http://exa mple.com",
        "http://example.com\r\nX: y",
        "http://example.com:99999",
        "http://example.com:x",
        "http://[::1",
        "http://exa<mple.com",
        "",
    ],
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    with pytest.raises(Unsendable):
        Address.parse(url)


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(Unsendable) as refused:
        Address.parse("https://me:hunter2@example.com/v1")
    assert "hunter2" not in str(refused.value)
    assert "environment variable" in str(refused.value)


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("[::1]", True),
        ("10.1.2.3", True),
        ("192.168.0.5", True),
        ("gpu-box", True),
        ("gpu.local", True),
        ("api.openai.com", False),
        ("8.8.8.8", False),
        ("[2606:4700::1]", False),
        ("localhost.example.com", False),
    ],
)
def test_own_machines_and_networks_are_told_from_the_public(host: str, private: bool) -> None:
    assert Address.parse(f"http://{host}/v1").private is private


@given(st.text())
def test_any_text_is_an_address_or_refused(url: str) -> None:
    try:
        address = Address.parse("http://" + url)
    except Unsendable:
        return
    assert address.netloc.isascii()
    assert not any(character.isspace() for character in address.netloc + address.target("/x"))
