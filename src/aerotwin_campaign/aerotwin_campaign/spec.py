# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What one run is: all that its result depends on, and the hash of it, by which it is stored."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

SHORT = 16
"""Hexadecimal digits of a run's id that are shown."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """The specification of one run.

    Attributes
    ----------
    run : str
        The function, `package.module:function`.
    document : mapping
        Its input, of plain values; the values of the axes are in it.
    seed, repeat : int
        Of the random numbers of the run; `repeat` counts runs of one document and seed from 0.
    versions : mapping of str to str
        Of the software that the result depends on.
    """

    run: str
    document: Mapping[str, Any]
    seed: int
    repeat: int
    versions: Mapping[str, str]

    @cached_property
    def id(self) -> str:
        """SHA-256 of the canonical JSON, 64 hexadecimal digits."""
        return hashlib.sha256(self.canonical_json().encode()).hexdigest()

    def canonical_json(self) -> str:
        """Return the specification as JSON that is the same for the same specification.

        Keys are sorted, there are no blanks, and floats are written as the shortest text that is
        read back as the same number.
        """
        return canonical_json(
            {
                "document": self.document,
                "repeat": self.repeat,
                "run": self.run,
                "seed": self.seed,
                "versions": self.versions,
            }
        )


def canonical_json(value: Any) -> str:
    """Return plain values as JSON with sorted keys and without blanks.

    Raises `ValueError` for a number that is not finite, `TypeError` for a value that is not plain.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def spec_of_json(text: str) -> RunSpec:
    """Return the specification of its canonical JSON; raises `ValueError` or `TypeError`."""
    return RunSpec(**json.loads(text))


def is_run_id(name: str) -> bool:
    """Return whether a text is the id of a run."""
    return len(name) == 64 and all(c in "0123456789abcdef" for c in name)


def short_id(run_id: str) -> str:
    """Return the digits of a run's id that are shown to a person."""
    return run_id[:SHORT]
