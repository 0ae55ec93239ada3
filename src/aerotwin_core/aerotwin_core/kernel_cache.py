# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`njit` for kernels whose machine code is cached, and recompiled when anything in it changes.

numba stamps cached code with the content of the kernel's own file. Machine code also contains what
the kernel uses from other modules: constants, and the kernels that it calls. The stamp here covers
the code of every reachable function and the value of every global that any of them names, as loaded
by this process. So no cached code is stale, whichever file changed; no times are compared; a
changed comment recompiles nothing. A named tuple that a kernel accepts is part of the stamp where
the kernel declares it, by its signature or an annotation.

The code is cached beside its source; where that is not writable, in the cache folder of the user;
where there is none, in a folder of this process. NUMBA_CACHE_DIR names another one.
"""

import functools
import hashlib
import re
import sys
import tempfile
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.core import config
from numba.core.caching import (
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.typing.templates import Signature

_LIBRARIES = sys.stdlib_module_names | {"llvmlite", "numba", "numpy"}
"""Named, not looked into: their versions are part of every stamp."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_options: WeakKeyDictionary[FunctionType, str] = WeakKeyDictionary()


def njit(*signature_or_function: Any, **options: Any) -> Any:
    """Return `numba.njit` of the same arguments; what `cache=True` saves is never stale."""
    if not signature_or_function or not isinstance(signature_or_function[0], FunctionType):
        return functools.partial(_compiled, signature_or_function, options)
    return _compiled((), options, *signature_or_function)


def _compiled(signature: tuple[Any, ...], options: dict[str, Any], function: FunctionType) -> Any:
    options = {"no_cfunc_wrapper": True, **options}  # no caller of kernels is in C
    _options[function] = _text((signature, tuple(sorted(options.items()))))
    before = config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = ",".join(f"{__name__}.{place.__name__}" for place in _PLACES)
    try:
        return numba.njit(*signature, **options)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = before


class SourceStamp:
    """Everything that a kernel's machine code is made from; saved as bytes.

    It is computed when numba first compares or saves it: when a kernel is decorated, functions
    below it in its file do not exist yet.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    @functools.cached_property
    def digest(self) -> bytes:
        """SHA-256 of everything that can be reached from the function."""
        found = {f"numba {numba.__version__} numpy {np.__version__}"}
        _Reached(found).add_function(self._function)
        return hashlib.sha256("\n".join(sorted(found)).encode()).digest()

    def __eq__(self, other: object) -> bool:
        return self.digest == (other.digest if isinstance(other, SourceStamp) else other)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return bytes, (self.digest,)


class _Reached:
    """Collects a line of text for each function and value that machine code depends on."""

    def __init__(self, found: set[str]) -> None:
        self._found = found
        self._seen: set[Any] = set()

    def add_function(self, function: FunctionType) -> None:
        if function in self._seen:
            return
        self._seen.add(function)
        code, own = function.__code__, _name_of(function)
        rest = (function.__defaults__, tuple(function.__annotations__.items()))
        self._found.add(f"{own} {_text(code)} {_text(rest)} {_options.get(function)}")
        names = set(_names(code))
        for name in names & function.__globals__.keys():
            self._add(f"{own} {name}", function.__globals__[name], names)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._add(f"{own} {name}", cell.cell_contents, names)

    def _add(self, place: str, value: Any, names: set[str]) -> None:
        function = _function_of(value)
        if function is not None:
            self._found.add(f"{place} {_name_of(function)}")
            self.add_function(function)
        elif isinstance(value, ModuleType):
            self._add_module(place, value, names)
        elif isinstance(value, tuple):
            self._found.add(f"{place} {type(value)} {len(value)}")
            for i, entry in enumerate(value):
                self._add(f"{place}[{i}]", entry, names)
        else:
            self._found.add(f"{place} {_text(value)}")

    def _add_module(self, place: str, module: ModuleType, names: set[str]) -> None:
        self._found.add(f"{place} {module.__name__}")
        if _is_of_library(module.__name__) or (module, *sorted(names)) in self._seen:
            return
        self._seen.add((module, *sorted(names)))
        for name in names & vars(module).keys():
            self._add(f"{place}.{name}", vars(module)[name], names)


def _text(value: Any) -> str:
    """Return a value as text that is the same in every process; code without its line numbers."""
    if isinstance(value, CodeType):
        parts = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        return f"{value.co_code.hex()} {value.co_flags} {parts} {_text(value.co_consts)}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, Signature):
        return _text((value.return_type, *value.args))
    fields = getattr(value, "_fields", None) or getattr(value, "fields", None)
    return f"{type(value).__qualname__} {_ADDRESS.sub('', repr(value))} {fields or ''}"


def _name_of(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def _names(code: CodeType) -> Iterator[str]:
    """Yield the global names and attributes of a function and of those written inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _function_of(value: Any) -> FunctionType | None:
    """Return the Python function behind a kernel, an intrinsic or a function; None for others."""
    function = getattr(value, "py_func", None) or getattr(value, "__wrapped__", value)
    is_own = isinstance(function, FunctionType) and not _is_of_library(function.__module__)
    return function if is_own else None


def _is_of_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _LIBRARIES


class _Stamped:
    """Adds the stamp above to one of numba's cache locations."""

    def __init__(self, py_func: FunctionType, py_file: str) -> None:
        super().__init__(py_func, py_file)  # type: ignore[call-arg]
        self._function = py_func

    def get_source_stamp(self) -> SourceStamp:
        return SourceStamp(self._function)


class NamedFolder(_Stamped, UserProvidedCacheLocator):
    """The folder that NUMBA_CACHE_DIR names."""


class BesideSource(_Stamped, InTreeCacheLocator):
    """`__pycache__` of the source: a workspace, a virtual environment."""


class UserFolder(_Stamped, UserWideCacheLocator):
    """The cache folder of the user: for packages installed by another user."""


class ProcessFolder(_Stamped, UserWideCacheLocator):
    """A folder that is removed with the process: no permanent location is writable."""

    def get_cache_path(self) -> str:
        """Return a folder that is removed when this process ends."""
        return _process_folder().name


@functools.cache
def _process_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="aerotwin_kernels_")


_PLACES = (NamedFolder, BesideSource, UserFolder, ProcessFolder)
