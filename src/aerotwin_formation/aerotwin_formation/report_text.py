# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports and plans as JSON, to be carried by std_msgs/String and read by `ros2 topic echo`.

A report is an object with these keys; motions are [position, velocity, acceleration], each
[east, north, up] in map [m, m/s, m/s^2]::

    {"sender": 3, "stamp_ns": 81200000000, "motion": [[..], [..], [..]],
     "leader_stamp_ns": 81150000000, "leader_motion": [[..], [..], [..]],
     "plan_number": 2, "plan": null}

`plan` is null or an object of `number`, `pattern`, `start_ns`, `duration_ns`, and `starts` and
`goals`, a place relative to the leader for each vehicle [m]. An announced plan has `radius_m` and
`downwash_ratio`, too, by which vehicles are kept apart. Numbers are written in full: what is
read is what was written. What comes from others is checked: a text that is no such report is
refused with a `ValueError`, whatever it is.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from aerotwin_core.foreign_text import shown
from aerotwin_core.frames import FloatArray
from aerotwin_core.parameters import replaced
from aerotwin_formation.messages import NEVER_NS, VehicleReport
from aerotwin_formation.plan import FormationPlan
from aerotwin_formation.separation import SeparationParameters

FARTHEST_M = 1e6
"""Of positions; also the largest velocity and acceleration, in their units."""
LAST_NS = 2**62
MOST_PLANS = 10**6
LONGEST_NAME = 100
SIZE_KEYS = "radius_m", "downwash_ratio"
BYTES_PER_REPORT, BYTES_PER_VEHICLE = 2000, 200
"""A report with a plan is never longer."""


def report_to_text(report: VehicleReport) -> str:
    """Return a report as JSON."""
    content = {
        "sender": report.sender,
        "stamp_ns": report.stamp_ns,
        "motion": report.motion.tolist(),
        "leader_stamp_ns": report.leader_stamp_ns,
        "leader_motion": report.leader_motion.tolist(),
        "plan_number": report.plan_number,
        "plan": None if report.plan is None else _plan_content(report.plan),
    }
    return json.dumps(content, allow_nan=False)


def plan_to_text(plan: FormationPlan, separation: SeparationParameters) -> str:
    """Return an announced plan as JSON, with size and metric by which it keeps vehicles apart."""
    size = {key: getattr(separation, key) for key in SIZE_KEYS}
    return json.dumps(_plan_content(plan) | size, allow_nan=False)


def report_from_text(text: str, n_vehicles: int) -> VehicleReport:
    """Return the report of one of n vehicles. Raises ValueError if the text is none."""
    content = _parsed(text, n_vehicles)
    plan_number = _integer(content, "plan_number", NEVER_NS, MOST_PLANS)
    plan = None if content.get("plan") is None else _plan(content["plan"], n_vehicles)
    if plan is not None and plan.number != plan_number:
        raise ValueError(f"plan.number: expected plan_number {plan_number}, found {plan.number}")
    return VehicleReport(
        sender=_integer(content, "sender", 0, n_vehicles - 1),
        stamp_ns=_integer(content, "stamp_ns", 0, LAST_NS),
        motion=_rows(content, "motion", 3),
        leader_stamp_ns=_integer(content, "leader_stamp_ns", NEVER_NS, LAST_NS),
        leader_motion=_rows(content, "leader_motion", 3),
        plan_number=plan_number,
        plan=plan,
    )


def plan_from_text(text: str, n_vehicles: int) -> tuple[FormationPlan, SeparationParameters]:
    """Return an announced plan of n vehicles, and its size and metric, of which others are default.

    Raises ValueError if the text is none.
    """
    content = _parsed(text, n_vehicles)
    plan = _plan(content, n_vehicles)
    for key in SIZE_KEYS:
        if not _is_number(content.get(key)):
            raise ValueError(f"{key}: expected a number, found {shown(content.get(key))}")
    return plan, replaced(SeparationParameters(), {key: content[key] for key in SIZE_KEYS})


def _plan_content(plan: FormationPlan) -> dict[str, Any]:
    return {
        "number": plan.number,
        "pattern": plan.pattern,
        "start_ns": plan.start_ns,
        "duration_ns": plan.duration_ns,
        "starts": plan.starts.tolist(),
        "goals": plan.goals.tolist(),
    }


def _parsed(text: str, n_vehicles: int) -> dict[str, Any]:
    most = BYTES_PER_REPORT + BYTES_PER_VEHICLE * n_vehicles
    if len(text) > most:
        raise ValueError(f"expected at most {most} characters, found {len(text)}")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON, found {shown(text)}") from error
    if not isinstance(content, dict):
        raise ValueError(f"expected a JSON object, found {shown(content)}")
    return content


def _plan(content: Any, n_vehicles: int) -> FormationPlan:
    if not isinstance(content, dict):
        raise ValueError(f"plan: expected an object, found {shown(content)}")
    name = content.get("pattern")
    if not isinstance(name, str) or not name.isidentifier() or len(name) > LONGEST_NAME:
        raise ValueError(f"pattern: expected a name, found {shown(name)}")
    return FormationPlan(
        number=_integer(content, "number", 0, MOST_PLANS),
        pattern=name,
        start_ns=_integer(content, "start_ns", 0, LAST_NS),
        duration_ns=_integer(content, "duration_ns", 0, LAST_NS),
        starts=_rows(content, "starts", n_vehicles),
        goals=_rows(content, "goals", n_vehicles),
    )


def _integer(content: dict[str, Any], key: str, least: int, most: int) -> int:
    value = content.get(key)
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{key}: expected an integer from {least} to {most}, found {shown(value)}")
    return value


def _rows(content: dict[str, Any], key: str, n: int) -> FloatArray:
    rows = content.get(key)
    is_shaped = _is_list_of(rows, n, lambda row: _is_list_of(row, 3, _is_number))
    if not is_shaped:
        raise ValueError(f"{key}: expected {n} rows of three numbers, found {shown(rows)}")
    found = np.array(rows, dtype=np.float64)
    if not (np.abs(found) <= FARTHEST_M).all():
        raise ValueError(f"{key}: expected numbers up to {FARTHEST_M:g}, found {shown(rows)}")
    return found


def _is_list_of(value: Any, n: int, is_one: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) == n and all(map(is_one, value))


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= FARTHEST_M)
