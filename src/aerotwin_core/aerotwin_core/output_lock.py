# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One process at a time writes an output: a second one is refused, not mixed in.

The lock is the kernel's (`flock`) on a hidden file beside the output, `.NAME.lock`, which is
removed at the end. A process that was killed leaves the file, which locks nothing.
"""

import atexit
import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from aerotwin_core.errors import UserError

_HELD = "AEROTWIN_LOCKED_OUTPUTS"
"""Variable with the outputs that this process or a parent of it holds: children write there."""
_RESULT = "metrics.json"
_LONGEST_TEXT = 200


@contextmanager
def locked_output(output: Path | str) -> Iterator[None]:
    """Lock a file or folder that is to be written; it need not exist.

    Does nothing for what is no file or folder (a device), where a parent process holds the lock,
    and where locks are unavailable: on some network file systems, and in a folder that is not
    writable.

    Raises `UserError` if another process writes it; its process id and command are named.
    """
    path = Path(output).resolve()
    held = os.environ.get(_HELD, "")
    is_ours = str(path) in held.split(os.pathsep)
    is_device = path.exists() and not (path.is_file() or path.is_dir())
    if is_ours or is_device or not path.name:
        yield
        return
    made = _make_parents(path)
    lock = path.with_name(f".{path.name}.lock")
    descriptor = _acquire(lock, path)
    os.environ[_HELD] = os.pathsep.join(filter(None, (held, str(path))))
    try:
        yield
    finally:
        os.environ[_HELD] = held
        if descriptor is not None:
            with suppress(OSError):
                lock.unlink()
            os.close(descriptor)
        for folder in made:
            with suppress(OSError):  # something was written in it
                folder.rmdir()


def refuse_inputs_as_output(output: Path | str | None, *inputs: Path | str) -> None:
    """Refuse an output that is one of the inputs, or a folder whose result an input is.

    Inputs that are no file or folder, such as names, are ignored; so is an output of None.

    Raises `UserError` if an input would be overwritten.
    """
    if output is None:
        return
    target = Path(output).resolve()
    for given in inputs:
        path = Path(given)
        with suppress(OSError):  # no name that a file may have
            is_result = path.name == _RESULT and path.resolve().parent == target
            if is_result or (path.exists() and path.resolve() == target):
                raise UserError(
                    f"{output}: is read, too, and would be written over; name another place with -o"
                )


def hold_output(output: Path | str) -> None:
    """Lock an output until this process ends, as `locked_output` does."""
    stack = ExitStack()
    stack.enter_context(locked_output(output))
    atexit.register(stack.close)


def _make_parents(path: Path) -> list[Path]:
    """Make the folders above a path; return those that were not there, the innermost first."""
    missing = [folder for folder in path.parents if not folder.exists()]
    with suppress(OSError):  # the writer will report it
        path.parent.mkdir(parents=True, exist_ok=True)
    return missing


def _acquire(lock: Path, output: Path) -> int | None:
    """Return the descriptor of the locked file, None where there are no locks."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, _LONGEST_TEXT, 0).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise UserError(
                f"{output}: is being written by {holder or 'another process'}; wait until it has "
                "ended, or name another place"
            ) from None
        except OSError:
            os.close(descriptor)
            return None
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                break
        os.close(descriptor)  # its holder removed it between our two calls
    tokens = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])
    text = f"process {os.getpid()} ({tokens})"[: _LONGEST_TEXT - 1]
    with suppress(OSError):  # on a full disk: the writer of the output will report it
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, "".join(c if c.isprintable() else "?" for c in text).encode(), 0)
    return descriptor
