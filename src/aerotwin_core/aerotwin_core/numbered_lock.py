# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that only one process of this machine has at a time: ROS domains, ports, workers.

The lock is the kernel's (`flock`) on a file in the folder of temporary files; a process that is
killed leaves the file, which locks nothing.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROS_DOMAINS = (*range(1, 25), *range(46, 68), *range(74, 101))
"""DDS takes the UDP ports from 7400 + 250 x domain: those of domains 26 to 45 and 68 to 73 are also
those of MAVLink (14030 to 18570, from 24540), those above 100 Linux lends to others."""
TEST_DOMAINS = ROS_DOMAINS[:24]


@contextmanager
def claimed_number(name: str, numbers: Iterable[int]) -> Iterator[int | None]:
    """Claim the first number of a kind that is free; None if all are in use."""
    for number in numbers:
        path = Path(tempfile.gettempdir()) / f"aerotwin-{name}-{number}.lock"
        try:
            lock = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:  # another user's
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another process has this number
            os.close(lock)
            continue
        try:
            yield number
        finally:
            os.close(lock)
        return
    yield None


@contextmanager
def claimed_domain(numbers: tuple[int, ...] = ROS_DOMAINS) -> Iterator[int | None]:
    """Claim a ROS domain; processes begin to look at different ones. None if all are in use."""
    first = os.getpid() % len(numbers)
    with claimed_number("test-domain", (*numbers[first:], *numbers[:first])) as domain:
        yield domain
