# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the bundle adjustment."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class BundleParameters:
    """Parameters of pose estimation from pictures and GNSS."""

    feature_scale: float = parameter(
        0.5, text="Scale of pictures in which features are sought.", minimum=0.1, maximum=1.0
    )
    n_features: int = parameter(
        1500, text="Most features of a picture.", minimum=100, maximum=50000
    )
    n_neighbours: int = parameter(
        10, text="Pictures that each one is matched with.", minimum=2, maximum=200
    )
    largest_angle_deg: float = parameter(
        50.0, text="Between the axes of matched pictures.", unit="deg", minimum=1.0, maximum=120.0
    )
    ratio: float = parameter(
        0.8, text="Distance of the best over the second best (Lowe 2004).", minimum=0.3, maximum=1.0
    )
    epipolar_px: float = parameter(
        2.0, text="Epipolar distance of a good match.", unit="px", minimum=0.1, maximum=20.0
    )
    min_matches: int = parameter(
        20, text="Good matches that make a pair.", minimum=8, maximum=1000,
        old_name="fewest_matches",
    )  # fmt: skip
    tracks_per_picture: int = parameter(
        250, text="Tracks used per picture, the longest first.", minimum=30, maximum=20000
    )
    gnss_horizontal_m: float = parameter(
        0.02, text="Error of positions without their own.", unit="m", minimum=1e-4, maximum=100.0
    )
    gnss_vertical_m: float = parameter(
        0.04, text="The same, upwards.", unit="m", minimum=1e-4, maximum=100.0
    )
    attitude_deg: float = parameter(
        5.0, text="Error of the gimbal's attitudes.", unit="deg", minimum=0.1, maximum=90.0
    )
    huber_px: float = parameter(
        1.0, text="Threshold of Huber's robust cost.", unit="px", minimum=0.1, maximum=50.0
    )
    outlier_px: float = parameter(
        4.0, text="Residual of dropped observations.", unit="px", minimum=0.5, maximum=100.0
    )
    smallest_angle_deg: float = parameter(
        2.0, text="Between the rays of a point that counts.", unit="deg", minimum=0.1, maximum=30.0
    )
    refine_intrinsics: bool = parameter(
        True, text="Focal length, principal point and radial distortion are found as well."
    )
    focal_share: float = parameter(
        0.01, text="Error of the focal length in EXIF, as a share.", minimum=1e-6, maximum=0.5
    )
    centre_px: float = parameter(
        3.0, text="Error of the central principal point.", unit="px", minimum=0.01, maximum=200.0
    )
    distortion: float = parameter(
        0.05, text="Size of the radial coefficients to be expected.", minimum=1e-6, maximum=1.0
    )
