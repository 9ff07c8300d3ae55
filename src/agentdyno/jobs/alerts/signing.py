"""The signature of what is posted, as the Standard Webhooks specification has it: receivers have libraries for it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

from agentdyno.errors import SpecError

PREFIX = "whsec_"
"""How a secret begins that is written in base64; any other is taken as it is."""
LEAST_BYTES = 16


def signed_headers(delivery_id: str, timestamp_s: int, body: bytes, secret: str) -> dict[str, str]:
    """``webhook-id``, ``webhook-timestamp`` and, where there is a secret, ``webhook-signature``: ``v1,`` and the
    base64 of HMAC-SHA256 over ``id.timestamp.body``. ``SpecError`` for a secret that is too short to protect."""
    headers = {"webhook-id": delivery_id, "webhook-timestamp": str(timestamp_s)}
    if secret:
        signed = b".".join((delivery_id.encode(), str(timestamp_s).encode(), body))
        mark = hmac.new(_key(secret), signed, hashlib.sha256).digest()
        headers["webhook-signature"] = f"v1,{base64.b64encode(mark).decode()}"
    return headers


def _key(secret: str) -> bytes:
    key = secret.encode()
    if secret.startswith(PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except binascii.Error:
            raise SpecError(f"the secret begins with {PREFIX}, and no base64 follows") from None
    if len(key) < LEAST_BYTES:
        raise SpecError(f"the secret has {len(key)} bytes", remedy=f"Take at least {LEAST_BYTES}, at random.")
    return key
