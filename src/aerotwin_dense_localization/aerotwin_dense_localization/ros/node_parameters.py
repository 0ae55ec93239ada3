# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes: those of the algorithms, and where input and results are."""

from dataclasses import dataclass, field

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter
from aerotwin_dense_localization.localization import InertialParameters, LocalizationParameters
from aerotwin_dense_localization.mapping.recorder import RecorderParameters

NO_FILE = "none"
_POSE, _START = 7, 4
TF_EDGES = ("odom", "base", "none")


@dataclass(frozen=True, kw_only=True)
class MountedCameraParameters:
    """A camera on a body."""

    base_frame: str = parameter("base_link", text="Frame of the body, above the camera.")
    mounting: tuple[float, ...] = parameter(
        (),
        text="x y z [m] and quaternion x y z w of the optical frame of the image's header in the "
        "body's; empty = as /tf_static tells.",
    )
    images_are_rectified: bool = parameter(
        False,
        text="Images are those of P already (image_rect remapped onto image_raw): D is not used.",
    )
    max_odom_gap_s: float = parameter(
        0.5, text="Widest bridged gap in the odometry.", unit="s", minimum=1e-3, maximum=60.0
    )

    def __post_init__(self) -> None:
        _check_length("mounting", self.mounting, _POSE)


@dataclass(frozen=True, kw_only=True)
class MapperNodeParameters(MountedCameraParameters, RecorderParameters):
    """What is mapped, and where the map goes."""

    map: str = parameter(text="Folder that the map is written to; it must hold none.")
    max_cloud_points: int = parameter(
        500_000, text="Largest number of points of slam/map.", minimum=1000, maximum=100_000_000
    )


@dataclass(frozen=True, kw_only=True)
class LocalizerNodeParameters(MountedCameraParameters, LocalizationParameters):
    """The map, the path along it, and where poses go."""

    map: str = parameter(text="Folder of the dense map.")
    path: str = parameter(
        NO_FILE,
        text="TUM file of the way-points of the scan, poses of the camera's optical frame in the "
        "map, along which virtual key-frames stand; none = at the key-frames of the map.",
    )
    standoff_m: float = parameter(
        2.0, text="Distance from the path to the surface.", unit="m", minimum=0.1, maximum=1000.0
    )
    start: tuple[float, ...] = parameter(
        (),
        text="x y z [m] and yaw [deg] of base_frame in the map where it begins; empty = anywhere.",
    )
    map_frame: str = parameter("map", text="Frame of the map.")
    odom_frame: str = parameter("odom", text="Frame of the odometry.")
    tf: str = parameter(
        "odom",
        text="What is published on /tf: map -> odom_frame where odometry comes, map -> "
        "base_frame where no other node publishes it, or nothing.",
        choices=TF_EDGES,
    )
    map_sigma_m: float = parameter(
        0.02, text="Error of the map, added to every pose.", unit="m", minimum=0.0, maximum=10.0
    )
    map_sigma_deg: float = parameter(
        0.2, text="The same of its turn.", unit="deg", minimum=0.0, maximum=30.0
    )
    imu: bool = parameter(
        False,
        text="imu/data_raw is listened to: it says where images are expected, poses are fused with "
        "it, and the twist is published. The map must stand level.",
    )
    inertial: InertialParameters = field(default_factory=InertialParameters)
    n_waiting_images: int = parameter(
        1,
        text="Images that wait while one is placed; the oldest give way. 1 takes the newest, in "
        "lockstep as many as the simulator sends unanswered.",
        minimum=1,
        maximum=100,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_length("start", self.start, _START)


def _check_length(name: str, values: tuple[float, ...], n: int) -> None:
    if len(values) not in (0, n):
        raise ParameterError(f"{name}: expected {n} numbers or none, found {len(values)}")
