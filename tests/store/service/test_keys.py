from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path

import pytest

from agentdyno.errors import Conflict, Unknown
from agentdyno.model.job import ApiKey, Scope
from agentdyno.store import Store
from agentdyno.store.service.schema import api_keys

from ..job_builders import NOW

MINUTE_MS = 60_000


def test_a_key_comes_with_a_secret_that_opens_it(store_url: str) -> None:
    with Store.open(store_url) as store:
        key, secret = store.service.add_key("ci", Scope.RUN, NOW)
    assert re.fullmatch(r"dyno_[A-Za-z0-9_-]{40}", secret)
    assert key == ApiKey(key.key_id, "ci", Scope.RUN, secret[:10], NOW)
    with Store.open(store_url, must_exist=True) as store:
        assert store.service.keys() == [key]
        found = store.service.find_key(secret, NOW + 1)
        assert found is not None
        assert (found.key_id, found.name, found.scope) == (key.key_id, "ci", Scope.RUN)


def test_secrets_differ(store: Store) -> None:
    made = [store.service.add_key(f"k{number}", Scope.READ, NOW)[1] for number in range(50)]
    assert len(set(made)) == 50
    for number, secret in enumerate(made):
        found = store.service.find_key(secret, NOW)
        assert found is not None
        assert found.name == f"k{number}"


def test_what_is_not_the_whole_secret_opens_nothing(store: Store) -> None:
    _, secret = store.service.add_key("ci", Scope.ADMIN, NOW)
    last = "A" if secret[-1] != "A" else "B"
    wrong = ["", "dyno_", secret[:10], secret[:-1], secret + "A", secret[:-1] + last, secret.upper(), f" {secret}"]
    for guess in [*wrong, "é" + secret, "\udcff", secret[:10] + "ü", "dyno_" + "A" * 40, secret + "\x00", "\x00"]:
        assert store.service.find_key(guess, NOW) is None
    assert store.service.keys()[0].last_used_at is None


def test_digests_are_compared_in_constant_time_and_every_one_with_that_prefix_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = [store.service.add_key(f"k{number}", Scope.READ, NOW)[1] for number in range(3)]
    with store.session as session:
        session.execute(api_keys.update().values(prefix=secrets[0][:10]))
    compared: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def watched(kept: bytes, given: bytes) -> bool:
        compared.append((kept, given))
        return compare(kept, given)

    monkeypatch.setattr("agentdyno.store.service.keys.hmac.compare_digest", watched)
    found = store.service.find_key(secrets[0], NOW)
    assert found is not None
    assert found.name == "k0"
    digests = [hashlib.sha256(secret.encode()).digest() for secret in secrets]
    assert sorted(compared) == sorted((digest, digests[0]) for digest in digests)


def test_a_revoked_key_opens_nothing_and_stays_listed(store: Store) -> None:
    key, secret = store.service.add_key("ci", Scope.RUN, NOW)
    _, other = store.service.add_key("other", Scope.RUN, NOW)
    revoked = store.service.revoke_key("ci", NOW + 5)
    assert revoked.revoked_at == NOW + 5
    assert store.service.find_key(secret, NOW + 6) is None
    assert store.service.find_key(other, NOW + 6) is not None
    listed = store.service.keys()
    assert [item.revoked_at for item in listed] == [NOW + 5, None]
    assert store.service.revoke_key(key.key_id, NOW + 9) == revoked
    assert store.service.revoke_key("ci", NOW + 9) == revoked


def test_the_name_of_a_key_in_force_is_taken_and_that_of_a_revoked_one_is_free(store: Store) -> None:
    first, _ = store.service.add_key("ci", Scope.RUN, NOW)
    with pytest.raises(Conflict, match="a key named 'ci' already") as caught:
        store.service.add_key("ci", Scope.READ, NOW)
    assert "dyno keys revoke ci" in (caught.value.remedy or "")
    store.service.revoke_key(first.key_id, NOW)
    second, secret = store.service.add_key("ci", Scope.READ, NOW)
    assert store.service.find_key(secret, NOW) is not None
    assert store.service.revoke_key("ci", NOW + 1).key_id == second.key_id
    assert store.service.find_key(secret, NOW + 1) is None


def test_a_key_that_is_not_there_cannot_be_revoked(store: Store) -> None:
    with pytest.raises(Unknown, match="there is no key 'ci'"):
        store.service.revoke_key("ci", NOW)
    store.service.add_key("nightly", Scope.RUN, NOW)
    with pytest.raises(Unknown, match="there is no key 'nightli'") as caught:
        store.service.revoke_key("nightli", NOW)
    assert "nightly" in (caught.value.remedy or "")


def test_a_store_that_had_a_key_once_has_keys(store: Store) -> None:
    assert store.service.has_keys() is False
    store.service.add_key("ci", Scope.RUN, NOW)
    assert store.service.has_keys() is True
    store.service.revoke_key("ci", NOW)
    assert store.service.has_keys() is True


def test_the_use_of_a_key_is_noted_once_a_minute(store: Store) -> None:
    _, secret = store.service.add_key("ci", Scope.RUN, NOW)

    def used_at(now_ms: int) -> tuple[int | None, int | None]:
        found = store.service.find_key(secret, now_ms)
        assert found is not None
        return found.last_used_at, store.service.keys()[0].last_used_at

    assert used_at(NOW) == (NOW, NOW)
    assert used_at(NOW + MINUTE_MS - 1) == (NOW, NOW)
    assert used_at(NOW + MINUTE_MS) == (NOW + MINUTE_MS,) * 2
    assert used_at(NOW + MINUTE_MS + 1) == (NOW + MINUTE_MS,) * 2


def test_a_key_opens_while_another_process_writes_for_long(path: Path) -> None:
    with Store.open(path) as store, Store.open(path, busy_timeout_s=0.01) as reader:
        _, secret = store.service.add_key("ci", Scope.RUN, NOW)
        with store.session as session:
            session.begin()
            found = reader.service.find_key(secret, NOW)
            session.commit()
        assert found is not None
        assert found.last_used_at is None


def test_no_secret_is_in_the_file(path: Path) -> None:
    with Store.open(path) as store:
        _, secret = store.service.add_key("ci", Scope.RUN, NOW)
        store.service.find_key(secret, NOW)
        files = sorted(path.parent.glob("dyno.db*"))
        content = b"".join(file.read_bytes() for file in files)
    content += path.read_bytes()
    assert b"ci" in content
    assert secret[:10].encode() in content
    assert secret.encode() not in content
    assert secret[10:].encode() not in content
    assert secret[len("dyno_") :].encode() not in content


def test_no_secret_is_in_any_table(store: Store) -> None:
    _, secret = store.service.add_key("ci", Scope.RUN, NOW)
    with store.session as session:
        (row,) = session.execute(api_keys.select()).all()
    assert secret not in str(row)
    assert secret[10:] not in str(row)
    assert row.secret_digest == hashlib.sha256(secret.encode()).digest()


def test_making_and_revoking_are_synced_to_the_disk_and_uses_are_not(store: Store) -> None:
    levels: list[bool] = []
    set_durable = store.session.backend.set_durable

    def note(connection: object, durable: bool) -> None:
        levels.append(durable)
        set_durable(connection, durable)  # type: ignore[arg-type]

    store.session.backend.set_durable = note  # type: ignore[method-assign]
    _, secret = store.service.add_key("ci", Scope.RUN, NOW)
    assert levels == [True, False]
    store.service.find_key(secret, NOW)
    assert levels == [True, False]
    store.service.revoke_key("ci", NOW)
    assert levels == [True, False] * 2
