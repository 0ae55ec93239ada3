# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of repeating a route: latency, and the response to failed localisation."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class RepeatParameters:
    """When to trust a localisation, how far to drive without one, when to stop and give up."""

    latency_s: float = parameter(
        0.1, text="time from the end of a scan to its command", unit="s", minimum=0.0, maximum=1.0
    )
    max_blind_m: float = parameter(
        3.0, text="longest way blind, braking included", unit="m", minimum=0.0, maximum=50.0
    )
    max_lateral_m: float = parameter(
        1.5, text="farther beside the route the repeat fails", unit="m", minimum=0.1, maximum=50.0
    )
    scan_timeout_s: float = parameter(
        0.35, text="time without a scan after which the lidar counts as silent", unit="s",
        minimum=0.05, maximum=10.0,
    )  # fmt: skip
    n_breaks: int = parameter(
        3, text="discontinuous scans in a row: it was carried away", minimum=1, maximum=1000
    )
    n_confirmations: int = parameter(
        2, text="localisations in a row that agree before it drives off", minimum=1, maximum=100
    )
    agreement_m: float = parameter(
        0.3, text="largest difference of two that agree", unit="m", minimum=0.01, maximum=5.0
    )
    agreement_deg: float = parameter(
        5.0, text="the same of their headings", unit="deg", minimum=0.1, maximum=45.0
    )
    n_local_attempts: int = parameter(
        3, text="failures nearby before the whole route is searched", minimum=1, maximum=1000
    )
    give_up_s: float = parameter(
        30.0, text="time at rest without a pose, then it fails", unit="s", minimum=0.1, maximum=1e5
    )
    goal_distance_m: float = parameter(
        0.2, text="end of the route: distance along it (VTR3)", unit="m", minimum=0.0, maximum=5.0
    )
    goal_heading_rad: float = parameter(
        0.1, text="end of the route: heading (VTR3)", unit="rad", minimum=0.0, maximum=3.2
    )
