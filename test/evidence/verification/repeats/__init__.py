# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Repeats of taught routes in closed loop, with seeds never used for tuning, against their limits.

A case says how its route is taught (`case.Case`); a run of the campaign teaches, repeats and judges
one with one seed (`campaign`), the limits become rows (`rows`), and chapters of the report
(`page`).
"""

from evidence.verification.repeats.bent import CAMPUS_WARP, GRASSLAND_WARP, ROUTE_WARP
from evidence.verification.repeats.driven import DRIVEN
from evidence.verification.repeats.surveyed import SURVEY

CASES = {case.name: case for case in (DRIVEN, CAMPUS_WARP, ROUTE_WARP, GRASSLAND_WARP, SURVEY)}
