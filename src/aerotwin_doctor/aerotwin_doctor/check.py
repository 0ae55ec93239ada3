# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The result of one check: status, finding, and remedy."""

from dataclasses import asdict, dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, kw_only=True)
class Check:
    """The result of one check.

    Attributes
    ----------
    name : str
        As `area.thing`.
    status : str
        `ok`, `warn` (works, but not as intended) or `fail`.
    message, way_out : str
        The finding, and the remedy; empty if none is needed.
    """

    name: str
    status: str
    message: str
    way_out: str = ""

    def line(self) -> str:
        """Return the check as a line of text."""
        way_out = f"; {self.way_out}" if self.way_out else ""
        return f"{self.status:4} {self.name}: {self.message}{way_out}"

    def record(self) -> dict[str, object]:
        """Return the check as plain values."""
        return asdict(self) | {"ok": self.status != FAIL}


def ok(name: str, message: str) -> Check:
    """Return a passed check."""
    return Check(name=name, status=OK, message=message)


def warn(name: str, message: str, way_out: str = "") -> Check:
    """Return a check of something that works, but not as intended."""
    return Check(name=name, status=WARN, message=message, way_out=way_out)


def fail(name: str, message: str, way_out: str) -> Check:
    """Return a failed check, with the remedy."""
    return Check(name=name, status=FAIL, message=message, way_out=way_out)
