# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One thing that was looked at: whether it is well, what was found, and the way out."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, kw_only=True)
class Check:
    """The outcome of one look.

    Attributes
    ----------
    name : str
        What was looked at, as `area.thing`.
    status : str
        `ok`, `warn` (works, but not as meant) or `fail`.
    message : str
        What was found.
    way_out : str
        What to do about it; empty when nothing is to be done.
    """

    name: str
    status: str
    message: str
    way_out: str = ""

    def line(self) -> str:
        """Return the line for a person."""
        way_out = f"; {self.way_out}" if self.way_out else ""
        return f"{self.status:4} {self.name}: {self.message}{way_out}"

    def record(self) -> dict[str, object]:
        """Return it for machines."""
        return {
            "name": self.name,
            "ok": self.status != FAIL,
            "status": self.status,
            "message": self.message,
            "way_out": self.way_out,
        }


def ok(name: str, message: str) -> Check:
    """Return a check of something that is well."""
    return Check(name=name, status=OK, message=message)


def warn(name: str, message: str, way_out: str = "") -> Check:
    """Return a check of something that works, but not as meant."""
    return Check(name=name, status=WARN, message=message, way_out=way_out)


def fail(name: str, message: str, way_out: str) -> Check:
    """Return a check of something that does not work, with the way out."""
    return Check(name=name, status=FAIL, message=message, way_out=way_out)
