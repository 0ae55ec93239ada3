# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Deserialise CDR by the definitions in the bag, or those of its ROS distribution."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.messages import TYPESTORE

_STORES = {
    "foxy": Stores.ROS2_FOXY,
    "galactic": Stores.ROS2_GALACTIC,
    "humble": Stores.ROS2_HUMBLE,
    "iron": Stores.ROS2_IRON,
}
"""Distributions whose standard messages differ from those of Jazzy and Kilted."""
_TYPE_NAME = re.compile(r"[A-Za-z]\w*(/[A-Za-z]\w*){1,2}", re.ASCII)
_IDL_FILE = re.compile(r"={80}\nIDL: [^\n]*\n")
_INCLUDE = re.compile(r"^[ \t]*#[^\n]*$", re.MULTILINE)
# The code that reads a message is generated from its definition. Each field takes steps, each item
# of an array that is no number is written out, and reading the text takes a step for some letters.
_MAX_STEPS_OF_TYPE, _MAX_STEPS_OF_BAG = 5_000, 12_000
_LETTERS_PER_STEP = 50
_MAX_TYPES = 150
"""In one definition: types in types take the stack of the generator."""


class MessageError(ValueError):
    """A message does not match its type."""


class MessageTypes:
    """The message types of one bag.

    `definitions` are (format, text) by message type, as stored in the bag; the format is `ros2msg`
    or `ros2idl`. `distro` is the ROS distribution of the recording, for types that the bag does
    not define. The attribute `problems` lists invalid definitions.
    """

    def __init__(self, definitions: dict[str, tuple[str, str]], distro: str = "") -> None:
        self._definitions, self._distro = definitions, distro
        self._stores: dict[str, Typestore] = {}
        self._own: dict[str, dict[str, Any]] = {}
        self._steps_left = _MAX_STEPS_OF_BAG
        self.problems: list[str] = []

    def deserialize(self, cdr: bytes, msgtype: str) -> Any:
        """Return the message of CDR bytes.

        Raises `UserError` if the type is neither standard nor defined in the bag. Raises
        `MessageError` if the bytes are damaged, or not of that type.
        """
        store = self._store_of(msgtype)
        try:
            return store.deserialize_cdr(cdr, msgtype)
        except Exception as error:  # what generated code raises on damaged bytes is not listed
            message = self._by_standard(cdr, msgtype, store)
            if message is None:
                raise MessageError(str(error) or type(error).__name__) from error
            return message

    def is_standard(self, msgtype: str) -> bool:
        """Tell whether a type has the fields of Jazzy's type of that name."""
        try:
            return _is_standard(msgtype, self._store_of(msgtype).fielddefs[msgtype])
        except UserError:
            return False

    def _by_standard(self, cdr: bytes, msgtype: str, store: Typestore) -> Any:
        """Return the message by the standard definition, if the bag's own is invalid."""
        if store is TYPESTORE or msgtype not in TYPESTORE.fielddefs:
            return None
        try:
            message = TYPESTORE.deserialize_cdr(cdr, msgtype)
        except Exception:  # as above
            return None
        self._stores[msgtype] = TYPESTORE
        self.problems.append(
            f"the bag's definition of {msgtype} does not fit its messages; the standard one is used"
        )
        return message

    def _store_of(self, msgtype: str) -> Typestore:
        if msgtype not in self._stores:
            self._stores[msgtype] = self._make_store(msgtype)
        return self._stores[msgtype]

    def _make_store(self, msgtype: str) -> Typestore:
        if msgtype not in self._own:
            self._own[msgtype] = self._own_types(msgtype)
        own = self._own[msgtype]
        if own and any(not _is_standard(name, entry) for name, entry in own.items()):
            store = Typestore()
            store.fielddefs.update({k: v for k, v in TYPESTORE.fielddefs.items() if k not in own})
            store.types.update({k: v for k, v in TYPESTORE.types.items() if k not in own})
            store.register(own)
            return store
        if not own and self._distro in _STORES:
            older = _store_of_distro(self._distro)
            if msgtype in older.fielddefs:
                return older
        if msgtype in TYPESTORE.fielddefs:
            return TYPESTORE
        newest = get_typestore(Stores.LATEST)
        if msgtype not in newest.fielddefs:
            raise UserError(
                f"message type {msgtype} is not standard and the bag holds no definition of it; "
                "record as MCAP, which stores the definitions, or convert to a standard type"
            )
        return newest

    def _own_types(self, msgtype: str) -> dict[str, Any]:
        """Return the fields of a type and of those it is made of, {} if the bag has none."""
        encoding, text = self._definitions.get(msgtype, ("", ""))
        if not text or encoding not in ("ros2msg", "ros2idl"):
            return {}
        if not _TYPE_NAME.fullmatch(msgtype) or not self._spend(msgtype, len(text)):
            return {}
        try:
            parsed = get_types_from_msg(text, msgtype) if encoding == "ros2msg" else _of_idl(text)
        except Exception:  # a damaged definition: the standard one is used, or none
            return {}
        # Constants are not needed, and would be written into generated code.
        types = {name: ([], fields) for name, (_, fields) in parsed.items()}
        if msgtype not in types or not self._spend(msgtype, 0, types):
            return {}
        return types if _is_closed(types) else {}

    def _spend(self, msgtype: str, n_letters: int, types: Mapping[str, Any] = {}) -> bool:
        """Count the steps that a definition costs; False, and a problem, if it costs too many."""
        n_steps = n_letters // _LETTERS_PER_STEP + sum(map(_n_steps, types.values()))
        most = min(_MAX_STEPS_OF_TYPE, self._steps_left)
        if n_steps <= most and len(types) <= _MAX_TYPES:
            self._steps_left -= n_steps
            return True
        self.problems.append(
            f"the bag's definition of {printable(msgtype, 80)} is too large to be read ("
            f"{len(types)} types, {n_steps} steps; at most {_MAX_TYPES} and {most})"
        )
        return False


def _of_idl(text: str) -> dict[str, Any]:
    """Return the types of IDL files that follow each other behind lines with their names."""
    found: dict[str, Any] = {}
    for part in _IDL_FILE.split(_INCLUDE.sub("", text)):
        if part.strip():
            found |= get_types_from_idl(part)
    return found


@lru_cache(maxsize=2)
def _store_of_distro(distro: str) -> Typestore:
    return get_typestore(_STORES[distro])


def _is_standard(name: str, entry: Any) -> bool:
    known = TYPESTORE.fielddefs.get(name)
    return known is not None and known[1] == entry[1]


def _n_steps(entry: Any) -> int:
    """Return how many pieces of code are generated for a type."""
    return sum(1 + _n_written_out(desc) for _, desc in entry[1])


def _n_written_out(desc: Any) -> int:
    """Return how many items of an array are read one by one; numbers are read at once."""
    if desc[0] != Nodetype.ARRAY:
        return 0
    (kind, name), length = desc[1]
    return length if kind == Nodetype.NAME or name[0] in ("string", "wstring") else 0


def _is_closed(types: dict[str, Any]) -> bool:
    """Tell whether every type that is named is defined, and none contains itself."""
    seen: dict[str, bool] = {}

    def is_well(name: str) -> bool:
        if name in seen:
            return seen[name]
        seen[name] = False  # met again below itself: endless
        entry = types.get(name) or TYPESTORE.fielddefs.get(name)
        seen[name] = entry is not None and all(is_well(used) for used in _names_in(entry))
        return seen[name]

    return all(map(is_well, types))


def _names_in(entry: Any) -> list[str]:
    names = []
    for _, desc in entry[1]:
        inner = desc[1][0] if desc[0] in (Nodetype.ARRAY, Nodetype.SEQUENCE) else desc
        if inner[0] == Nodetype.NAME:
            names.append(inner[1])
    return names
