# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Which SLAM a bag is replayed through."""

from typing import TYPE_CHECKING

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed

if TYPE_CHECKING:
    from aerotwin_core.bag import BagReader
    from aerotwin_run_evaluation.bag.roles import BagRoles

AUTO, NONE, EXTERNAL = "auto", "none", "external"


def choose_slam(asked: str, bag: "BagReader", roles: "BagRoles", *, has_estimate: bool) -> str:
    """Return the SLAM: the requested one, else one that suits the sensors of the bag.

    `has_estimate`: an estimate of the bag is named; then that is judged, without a SLAM. Raises
    `UserError` if the SLAM is unknown, or none suits.
    """
    from aerotwin_run_evaluation.bag.playing import KISS_ICP, STEREO_ODOMETRY
    from aerotwin_run_evaluation.bag.slam_launch import (
        described_slams,
        find_description,
        is_launch_file,
    )

    known = (STEREO_ODOMETRY, KISS_ICP, EXTERNAL, NONE)
    if asked != AUTO:
        if asked not in known and not is_launch_file(asked) and find_description(asked) is None:
            raise UserError(
                f"--slam: expected {', '.join(known)}, a launch file, a description of a SLAM or "
                f"the name of one that ships ({listed(described_slams())}), found '{asked}'"
            )
        return asked
    if has_estimate:
        return NONE
    if roles.is_stereo:
        return STEREO_ODOMETRY
    if roles.lidar is not None:
        return KISS_ICP
    poses = ", ".join(roles.estimates or bag.trajectory_topics())
    raise UserError(
        f"{bag.path}: holds neither a stereo pair nor a lidar for a SLAM that ships; give "
        "--slam LAUNCHFILE or external"
        + (f", or --estimate of what it holds ({poses})" if poses else "; it holds no poses, too")
    )
