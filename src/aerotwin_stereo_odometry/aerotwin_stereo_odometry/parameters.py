# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the stereo odometry, the only source of their defaults."""

from dataclasses import dataclass

from aerotwin_core.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class StereoOdometryParameters:
    """Parameters; defaults suit a 752x480 pair 10 m from a wall as well as KITTI."""

    image_noise_std: float = parameter(
        2.0, text="Noise of the images, standard deviation [DN].", minimum=0.1, maximum=50.0
    )
    smoothing_px: float = parameter(
        0.8, text="Gaussian smoothing before sub-pixel work.", unit="px", minimum=0.5, maximum=3.0
    )
    cell_px: int = parameter(
        32, text="Grid cell; one feature each at most.", unit="px", minimum=8, maximum=256
    )
    patch_px: int = parameter(
        11, text="Edge of the patches that are aligned, odd.", unit="px", minimum=7, maximum=31
    )
    max_position_std_px: float = parameter(
        0.3, text="Largest noise of a corner's position.", unit="px", minimum=0.01, maximum=2.0
    )
    min_correlation: float = parameter(
        0.8, text="Least correlation of a match.", minimum=0.0, maximum=1.0
    )
    max_disparity_px: int = parameter(
        128, text="Largest disparity searched.", unit="px", minimum=8, maximum=512
    )
    min_disparity_px: float = parameter(
        0.7, text="Points farther than this disparity are not used.", unit="px", minimum=0.05
    )
    position_floor_px: float = parameter(
        0.05, text="Systematic error of positions, added in square.", unit="px", minimum=0.001
    )
    disparity_floor_px: float = parameter(
        0.03, text="Systematic error of disparities, added in square.", unit="px", minimum=0.001
    )
    flow_window_px: int = parameter(
        15, text="Window of the pyramidal flow.", unit="px", minimum=7, maximum=41
    )
    flow_levels: int = parameter(
        3, text="Pyramid levels of the flow above the image.", minimum=0, maximum=6
    )
    flow_features: int = parameter(
        60, text="Features whose flow gives a frame's first pose.", minimum=6, maximum=10000
    )
    forward_backward_px: float = parameter(
        1.0, text="Largest forward-backward error of the flow.", unit="px", minimum=0.05
    )
    ransac_threshold_px: float = parameter(
        3.0, text="Reprojection error of a RANSAC inlier.", unit="px", minimum=0.5
    )
    ransac_iterations: int = parameter(
        100, text="RANSAC hypotheses at most.", minimum=8, maximum=10000
    )
    seed: int = parameter(7, text="Seed of RANSAC.", minimum=0)
    min_inliers: int = parameter(
        15, text="With fewer inliers the frame is lost.", minimum=6, maximum=1000
    )
    min_inlier_share: float = parameter(
        0.25, text="A frame with a smaller RANSAC share is lost.", minimum=0.0, maximum=1.0
    )
    keyframe_parallax: float = parameter(
        0.045, text="Median parallax of a keyframe, as a tangent.", minimum=0.002, maximum=0.5
    )
    keyframe_share: float = parameter(
        0.7, text="Share of tracked features that makes a keyframe.", minimum=0.1, maximum=0.95
    )
    window_free: int = parameter(
        10, text="Keyframes that bundle adjustment moves.", minimum=2, maximum=40
    )
    window_fixed: int = parameter(
        4, text="Older keyframes that hold it in place.", minimum=1, maximum=40
    )
    bundle_iterations: int = parameter(
        4, text="Bundle adjustment steps per keyframe; 0: none.", minimum=0, maximum=100
    )
    max_missed_frames: int = parameter(
        10, text="Frames for which an unseen feature is looked for.", minimum=1, maximum=200
    )
    max_lost_frames: int = parameter(
        5, text="Lost frames after which a new local map is started.", minimum=1, maximum=200
    )
    map_max_std_m: float = parameter(
        0.3, text="Map points are exported up to this standard deviation.", unit="m", minimum=0.001
    )
    map_cell_px: int = parameter(
        10, text="Semi-dense grid; 0: landmarks only.", unit="px", minimum=0, maximum=256
    )
    map_keyframe_step: int = parameter(
        2, text="Every so many keyframes adds semi-dense points.", minimum=1, maximum=100
    )
    map_voxel_m: float = parameter(
        0.1, text="The map keeps one point per voxel of this edge.", unit="m", minimum=0.005
    )
    threads: int = parameter(1, text="Threads of OpenCV.", minimum=1, maximum=16)

    def __post_init__(self) -> None:
        for name in ("patch_px", "flow_window_px"):
            value = getattr(self, name)
            if value % 2 == 0:
                raise ValueError(f"{name} must be odd, got {value}; a patch has a centre pixel")
