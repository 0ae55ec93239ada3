# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports as text: what is written is read, and what is none is refused."""

import dataclasses
import json

import numpy as np
import pytest

from aerotwin_formation import FormationPlan, VehicleReport
from aerotwin_formation.report_text import (
    BYTES_PER_REPORT,
    BYTES_PER_VEHICLE,
    SeparationParameters,
    plan_from_text,
    plan_to_text,
    report_from_text,
    report_to_text,
)

N = 9


def a_plan(n=N, seed=1000):
    rng = np.random.default_rng(seed)
    return FormationPlan(
        number=3, pattern="cube", start_ns=81_200_000_001, duration_ns=6_300_000_007,
        starts=rng.normal(0.0, 1e5, (n, 3)), goals=rng.normal(0.0, 1e5, (n, 3)),
    )  # fmt: skip


def a_report(plan=None, n=N, seed=1001):
    rng = np.random.default_rng(seed)
    return VehicleReport(
        sender=n - 1, stamp_ns=2**61 + 1, motion=rng.normal(0.0, 1e5, (3, 3)),
        leader_stamp_ns=-1, leader_motion=rng.normal(0.0, 1e-9, (3, 3)),
        plan_number=3, plan=plan,
    )  # fmt: skip


def same(a, b):
    fields = [(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)]
    return all(
        same(x, y) if isinstance(x, FormationPlan) else np.array_equal(x, y) for x, y in fields
    )


@pytest.mark.parametrize("plan", [None, a_plan()], ids=["without a plan", "with a plan"])
def test_what_is_read_is_what_was_written(plan):
    report = a_report(plan)
    assert same(report_from_text(report_to_text(report), N), report)
    apart = SeparationParameters(radius_m=0.35, downwash_ratio=2.5)
    plan, found = plan_from_text(plan_to_text(a_plan(), apart), N)
    assert same(plan, a_plan()) and found == apart
    with pytest.raises(ValueError, match="radius_m: expected a number, found None"):
        plan_from_text(json.dumps({k: v for k, v in PLAN.items() if k != "radius_m"}), N)


@pytest.mark.parametrize("n", [2, 9, 500])
def test_the_longest_report_is_within_the_limit(n):
    text = report_to_text(a_report(a_plan(n), n))
    assert len(text) < BYTES_PER_REPORT + BYTES_PER_VEHICLE * n
    report_from_text(text, n)


def changed(**changes):
    return json.dumps({**json.loads(report_to_text(a_report(a_plan()))), **changes})


PLAN = json.loads(plan_to_text(a_plan(), SeparationParameters()))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected JSON"),
        ("hello", "expected JSON"),
        ("[" * 3000, "expected JSON"),
        ("x" * 10_000_000, "at most 3800 characters"),
        ("[1]", "expected a JSON object"),
        ("{}", "plan_number"),
        (changed(sender=N), "sender: expected an integer from 0 to 8"),
        (changed(sender=True), "sender"),
        (changed(sender=1.0), "sender"),
        (changed(stamp_ns=-5), "stamp_ns"),
        (changed(stamp_ns=10**30), "stamp_ns"),
        (changed(motion=[[0.0] * 3] * 2), "motion: expected 3 rows"),
        (changed(motion=[[0.0, 0.0, float("nan")]] * 3), "motion: expected numbers up to"),
        (changed(motion=[[0.0, 0.0, float("inf")]] * 3), "motion: expected numbers up to"),
        (changed(motion=[[0.0, 0.0, 10**400]] * 3), "motion: expected 3 rows"),
        (changed(motion=[["a", 0, 0]] * 3), "motion: expected 3 rows"),
        (changed(motion={"a": 1}), "motion"),
        (changed(plan_number=4), "plan.number: expected plan_number 4"),
        (changed(plan=[1]), "plan: expected an object"),
        (changed(plan={**PLAN, "pattern": "a b"}), "pattern: expected a name"),
        (changed(plan={**PLAN, "pattern": "x" * 101}), "pattern: expected a name"),
        (changed(plan={**PLAN, "goals": PLAN["goals"][1:]}), "goals: expected 9 rows"),
        (changed(plan={**PLAN, "duration_ns": None}), "duration_ns"),
    ],
)  # fmt: skip
def test_what_is_no_report_is_refused(text, problem):
    with pytest.raises(ValueError, match=problem):
        report_from_text(text, N)
