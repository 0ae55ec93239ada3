# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of a formation, whatever its vehicles are."""

from dataclasses import dataclass

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import group, parameter
from aerotwin_formation.follower import FollowerParameters
from aerotwin_formation.link import VehicleLinkParameters
from aerotwin_formation.plan import PlanParameters
from aerotwin_formation.separation import SeparationParameters


@dataclass(frozen=True, kw_only=True)
class FormationParameters:
    """Law, transitions, separation and link of a formation."""

    avoids: bool = parameter(True, text="followers change their velocity to avoid others")
    follower: FollowerParameters = group(FollowerParameters)
    plan: PlanParameters = group(PlanParameters)
    separation: SeparationParameters = group(SeparationParameters)
    link: VehicleLinkParameters = group(VehicleLinkParameters)

    def check_hold(self, report_period_s: float) -> None:
        """Raise ParameterError if reports come more rarely than they are continued."""
        if report_period_s > self.follower.hold_s:
            raise ParameterError(
                f"follower.hold_s: expected at least the {report_period_s:g} s between reports, "
                f"found {self.follower.hold_s:g}; followers would stop after each"
            )
