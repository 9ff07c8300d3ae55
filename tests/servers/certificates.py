"""A certificate for the loopback address, made anew: keys are not kept in the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path


def loopback_certificate(folder: Path) -> Path:
    """A PEM file with a self-signed certificate for 127.0.0.1 and localhost, valid for a day, and its key."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    return both
