# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which vehicle of a fleet's bag is evaluated: one whose topics lie below its name."""

from collections.abc import Mapping

from aerotwin_core.bag import POSE_TYPES, BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed, printable

TRUTH = "/truth/odom"


def namespace(vehicle: str) -> str:
    """Return what precedes the topics of a vehicle; empty for the only one of a bag.

    >>> namespace("uav0"), namespace("")
    ('/uav0', '')
    """
    return f"/{vehicle}" if vehicle else ""


def vehicles_of(topics: Mapping[str, str]) -> list[str]:
    """Return the names of a fleet's vehicles, which have a true pose below them."""
    truths = [name for name, kind in topics.items() if kind in POSE_TYPES]
    names = [name.removesuffix(TRUTH)[1:] for name in truths if name.endswith(TRUTH)]
    return sorted(name for name in names if name)


def choose_vehicle(asked: str, bag: BagReader) -> str:
    """Return the vehicle to evaluate, "" for all of a bag that is not of a fleet.

    Raises `UserError`, listing the vehicles, if a fleet's is not named or is not there.
    """
    known = vehicles_of(bag.topics)
    if not asked and len(known) > 1:
        raise UserError(
            f"{bag.path}: a fleet, of which one vehicle is judged at a time: expected --vehicle "
            f"NAME, one of {listed(known)}"
        )
    if asked and asked not in known:
        found = f"one of {listed(known)}" if known else "none, as the bag is not of a fleet"
        raise UserError(
            f"--vehicle {printable(asked)}: no vehicle of {bag.path}, where it would have a topic "
            f"/NAME{TRUTH}; expected {found}"
        )
    return asked
