"""Commands that try to get out of a cell. As a script it tries them as whoever runs it, and prints what came of it.

Each prints ESCAPED where it got what it must not get. ``{…}`` are things outside: a secret, a folder that anybody may
write to, the process that started it, ports.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from agentdyno.sandbox.isolation import CellIsolation, CellLimits, Cells

ESCAPES = {
    "read a file by its path": "cat {secret} && echo ESCAPED",
    "read a file through ..": "cat ../../../../../../../../..{secret} && echo ESCAPED",
    "read a file through a link": "ln -s {secret} link && cat link && echo ESCAPED",
    "link a file into the folder": "ln {secret} hard && echo ESCAPED",
    "list the home folders": "ls /root /home 2>/dev/null | grep . && echo ESCAPED",
    "write outside": "echo pwned > {outside}/pwned && echo ESCAPED",
    "write to the system": "touch /usr/local/pwned /etc/pwned /pwned && echo ESCAPED",
    "change the system's files": "echo x >> /etc/passwd && echo ESCAPED",
    "read other environments": "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep "
    "DYNO_TEST_SECRET && echo ESCAPED",
    "read the memory of the first process": "python3 -c \"open('/proc/1/mem','rb').read(1)\" && echo ESCAPED",
    "look through the root of the first process": "ls /proc/1/root/ | grep -q . && echo ESCAPED",
    "kill the parent": "kill -9 {parent} && echo ESCAPED",
    "kill everybody": "kill -9 1; kill -9 -1; true",
    "start without end": "python3 -c 'import subprocess\nstarted = []\ntry:\n    for _ in range(500):\n"
    '        started.append(subprocess.Popen(["sleep", "41237"]))\nexcept OSError:\n    pass\nprint(len(started))\'',
    "stay when the step has ended": "setsid nohup sleep 41238 > /dev/null 2>&1 & disown; true",
    "connect to this machine": "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\" "
    "&& echo ESCAPED",
    "connect to a host that is not listed": 'python3 -c "import socket; '
    "socket.create_connection(('192.0.2.1', 80), 2)\" "
    "&& echo ESCAPED",
    "connect to a socket without a file": 'python3 -c "import socket; s = socket.socket(socket.AF_UNIX); '
    "s.connect(chr(0) + '{abstract}')\" && echo ESCAPED",
    "fill the disk": "head -c 1G /dev/zero > big; head -c 1G /dev/zero > /tmp/big; head -c 1G "
    "/dev/zero > /dev/shm/big",
    "make files with holes": "for n in 1 2 3 4 5 6; do truncate -s 7M hole$n; done",
    "fill memory through files in /dev": "for n in 1 2 3; do head -c 6M /dev/zero > /dev/f$n && echo ESCAPED; done",
    "fill memory through shared memory": "for n in 1 2 3; do head -c 6M /dev/zero > /dev/shm/f$n || exit 1; done; "
    "echo ESCAPED",
    "use up the inodes": "mkdir many && cd many && for n in $(seq 1 3000); do : > f$n || exit 1; done",
    "mount something": "mount -t tmpfs none /tmp && echo ESCAPED; umount /proc && echo ESCAPED",
    "change the root": "python3 -c \"import os; os.chroot('/tmp')\" && echo ESCAPED",
    "make a device": "mknod disk b 8 0 && echo ESCAPED",
    "keep the rights of another": "cp /bin/sh shell && chmod 6755 shell; id -u | grep -qx 0 && echo ESCAPED; true",
    "raise its limits": "ulimit -Hu unlimited 2>/dev/null && echo ESCAPED; ulimit -f unlimited "
    "2>/dev/null && echo ESCAPED",
    "print without end": "yes",
    "change the kernel": "echo pwned > /proc/sys/kernel/hostname && echo ESCAPED; echo b > /proc/sysrq-trigger && "
    "echo ESCAPED",
}
LIMITS = CellLimits(time_limit_s=20, work_bytes=8 << 20, processes=24, files=1000, output_bytes=1 << 20)


def attempt(isolation: str, given: dict[str, str]) -> dict[str, dict[str, object]]:
    """What came of every attempt: how it ended, what it printed, what it left."""

    async def work() -> dict[str, dict[str, object]]:
        cells = Cells(CellIsolation(isolation))
        await cells.start()
        found: dict[str, dict[str, object]] = {}
        try:
            for name, command in ESCAPES.items():
                for key, value in given.items():
                    command = command.replace(f"{{{key}}}", value)
                with tempfile.TemporaryDirectory() as folder:
                    result = await cells.run(command, Path(folder), LIMITS)
                changed = [{**asdict(item), "content": len(item.content)} for item in result.changed]
                found[name] = {
                    "status": result.status,
                    "output": result.output,
                    "ended_by": result.ended_by,
                    "full": result.full,
                    "changed": changed,
                }
        finally:
            await cells.close()
        found["who"] = {"output": cells.used, "uid": os.geteuid()}
        return found

    return asyncio.run(work())


if __name__ == "__main__":
    sys.stdout.write(json.dumps(attempt(sys.argv[1], json.loads(sys.argv[2]))))
