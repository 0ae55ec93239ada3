# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A network of its own for a test process, where the system allows it (as root it does)."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_OF_THIS_THREAD = "/proc/thread-self/ns/net"
_CLONE_NEWNET = 0x40000000  # linux/sched.h
_SIOCSIFFLAGS = 0x8914  # linux/sockios.h
_IFF_UP = 1  # linux/if.h
_REQUEST = "16sH14x"  # struct ifreq: the name of an interface, its flags
_LIBC = ctypes.CDLL(None, use_errno=True)


class OwnNetwork:
    """A network with nothing but a loopback, for this thread and what it starts from now on.

    A port that is open there is no one else's: two processes can fly the same vehicle at once.

    Raises
    ------
    OSError
        If the system does not allow it; nothing has changed then.
    """

    def __init__(self) -> None:
        self._outer = os.open(_OF_THIS_THREAD, os.O_RDONLY | os.O_CLOEXEC)
        _check(_LIBC.unshare(_CLONE_NEWNET))
        self._inner = os.open(_OF_THIS_THREAD, os.O_RDONLY | os.O_CLOEXEC)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack(_REQUEST, b"lo", _IFF_UP))

    @contextmanager
    def left(self) -> Iterator[None]:
        """Go back to the network of the machine for a while."""
        _check(_LIBC.setns(self._outer, _CLONE_NEWNET))
        try:
            yield
        finally:
            _check(_LIBC.setns(self._inner, _CLONE_NEWNET))


def _check(code: int) -> None:
    if code:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
