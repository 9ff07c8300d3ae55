"""One POST: to the address that was looked at, and to no other."""

from __future__ import annotations

import threading

import pytest

from agentdyno.errors import DynoError, SpecError
from agentdyno.jobs.alerts.posting import PostLimits, is_public, post
from agentdyno.wire.errors import ConnectError, NameNotFound

from .receiver import Receiver

PUBLIC_ONLY = PostLimits(5.0, allow_private=False)
ANYWHERE = PostLimits(5.0, allow_private=True)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1"),
        *("169.254.169.254", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b:1::808:808"),
        "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo, of a client at 127.0.0.1
    ],
)
def test_addresses_that_are_not_of_the_public_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.3", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_of_the_public_internet(address: str) -> None:
    assert is_public(address)


def test_what_is_posted_arrives_with_its_headers_at_its_path_and_query(receiver: Receiver) -> None:
    receiver.answers, receiver.extra = [503], {"Retry-After": "7"}
    found = post(f"{receiver.url}/hook/?x=1&y=%20", b'{"a": 1}', {"X-Own": "yes"}, ANYWHERE)
    assert (found.status, found.retry_after_s) == (503, 7.0)
    (got,) = receiver.got
    assert (got.path, got.body, got.headers["x-own"]) == ("/hook/?x=1&y=%20", b'{"a": 1}', "yes")
    assert got.headers["host"] == receiver.url.removeprefix("http://")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1"])
def test_an_inner_address_is_refused_however_it_is_written_and_nothing_is_sent(host: str, receiver: Receiver) -> None:
    port = receiver.url.rpartition(":")[2]
    with pytest.raises(DynoError) as refused:
        post(f"http://{host}:{port}/", b"{}", {}, PUBLIC_ONLY)
    assert isinstance(refused.value, SpecError | NameNotFound)
    assert receiver.got == []


def test_a_name_is_refused_when_one_of_its_addresses_is_an_inner_one(receiver: Receiver) -> None:
    with pytest.raises(SpecError, match=r"10\.0\.0\.7 is not an address of the public internet") as refused:
        post("https://two.example/", b"{}", {}, PUBLIC_ONLY, lambda _host, _port: ["8.8.8.8", "10.0.0.7"])
    assert "allow_private: true" in str(refused.value)


def test_a_name_is_resolved_once_and_the_connection_goes_to_that_address(receiver: Receiver) -> None:
    asked: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    port = receiver.url.rpartition(":")[2]
    assert post(f"http://no-such-name.invalid:{port}/", b"{}", {}, ANYWHERE, resolve).status == 200
    assert asked == ["no-such-name.invalid"]
    assert receiver.got[0].headers["host"] == f"no-such-name.invalid:{port}"


def test_http_to_a_public_address_is_refused_even_where_private_ones_are_allowed() -> None:
    with pytest.raises(SpecError, match="in the clear"):
        post("http://open.example/", b"{}", {}, ANYWHERE, lambda _host, _port: ["8.8.8.8"])


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    receiver.answers, receiver.extra = [307], {"Location": f"{receiver.url}/other"}
    assert post(f"{receiver.url}/", b"{}", {}, ANYWHERE).status == 307
    assert [item.path for item in receiver.got] == ["/"]


def test_a_receiver_that_does_not_answer_is_given_up_in_time(receiver: Receiver) -> None:
    receiver.hold = threading.Event()
    with pytest.raises(ConnectError, match=r"no answer within 0\.2 s"):
        post(f"{receiver.url}/", b"{}", {}, PostLimits(0.2, allow_private=True))


def test_a_receiver_without_tls_is_no_receiver_for_https(receiver: Receiver) -> None:
    with pytest.raises(ConnectError, match="no answer"):
        post(receiver.url.replace("http", "https", 1), b"{}", {}, ANYWHERE)
    assert receiver.got == []


def test_nobody_who_listens_and_an_address_that_is_none(receiver: Receiver) -> None:
    with pytest.raises(ConnectError, match="no answer: "):
        post("http://127.0.0.1:1/", b"{}", {}, ANYWHERE)
    with pytest.raises(SpecError, match="the address is not a URL") as refused:
        post("https://user:hush@example.org/secret-path", b"{}", {}, ANYWHERE)
    assert "hush" not in str(refused.value)
    assert "secret-path" not in str(refused.value)


def test_a_token_with_a_line_break_is_not_sent_and_not_shown(receiver: Receiver) -> None:
    with pytest.raises(ConnectError, match="a header cannot be sent") as refused:
        post(f"{receiver.url}/", b"{}", {"Authorization": "Bearer hush\r\nX-Evil: 1"}, ANYWHERE)
    assert "hush" not in str(refused.value)
    assert receiver.got == []
