"""How much a file of another tool may hold: a small file that unpacks to gigabytes is refused before it is read."""

from __future__ import annotations

from agentdyno.settings.setting import Setting

_MIB = 1024 * 1024

TOTAL_BYTES = Setting(
    "total_bytes",
    ("integer",),
    default=256 * _MIB,
    minimum=1,
    description="Unpacked bytes of all files of one import together",
)
MEMBER_BYTES = Setting(
    "member_bytes",
    ("integer",),
    default=64 * _MIB,
    minimum=1,
    description="Unpacked bytes of one file, or of one member of an archive",
)
MEMBERS = Setting(
    "members",
    ("integer",),
    default=20_000,
    minimum=1,
    description="Files of one import together, members of archives among them",
)
RATIO = Setting(
    "ratio",
    ("integer",),
    default=100,
    minimum=1,
    description="How many times as large as it is may a packed file become",
)
ANY_RATIO_BYTES = Setting(
    "any_ratio_bytes",
    ("integer",),
    default=8 * _MIB,
    minimum=0,
    description="Packed files that unpack to no more than this may do so at any ratio",
)
