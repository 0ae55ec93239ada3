# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every parameter of a simulated flight, flat as ROS parameters are."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter
from aerotwin_core.time import from_seconds

LOCKSTEP_S = 0.004
"""The lockstep period: PX4's control chain runs at 250 Hz (IMU_INTEG_RATE)."""
STEPS_S = (0.001, 0.002, LOCKSTEP_S)
MAVLINK = ("embedded", "px4")
SERIAL = "serial:"
PYTHON = "python:"
NO_GNSS = "none"
NO_PRESET = "none"
NO_FILE = "none"
CHOSEN_CPU, NO_CPU = -1, -2
MAX_INSTANCE = 200
"""The last vehicle number: every one has MAVLink ports of its own."""


@dataclass(frozen=True, kw_only=True)
class SimulatorParameters:
    """The vehicle and its sensors, the world, the flight, and the recording."""

    world: str = parameter("cliff", text="name in worlds/, or path of a world file or folder")
    airframe: str = parameter("iris", text="airframe by name")
    controller: str = parameter(
        "embedded",
        text="who flies: embedded or px4 (MAVLink), serial:DEVICE:BAUD (hardware in the loop), "
        "ros2 (command/rotors), python:module:Class",
    )
    controller_options: str = parameter(
        "", text="path of a YAML file with the options of a python controller"
    )
    command_wait_s: float = parameter(
        0.0,
        text="controller ros2: longest wait for the command of a step; 0 = hold the last one",
        unit="s wall",
        minimum=0.0,
    )
    px4_dir: str = parameter(
        "",
        text="PX4 of controller px4: tree, build or prefix; empty = PX4_DIR or a usual place",
    )
    px4_model: str = parameter("none_iris", text="PX4_SIM_MODEL, PX4's own airframe")
    px4_parameters: str = parameter(
        "", text="path of a YAML file of PX4 parameters by name, set at its start; empty = none"
    )
    mission: str = parameter(
        "none",
        text="path of a mission file; none = wait for an outside client; controllers ros2 and "
        "python take none",
    )
    anchor_mission: bool = parameter(
        True, text="the mission starts at a surveyed mark: GNSS error at arming is taken out of it"
    )
    duration_s: float = parameter(
        0.0, text="end after this much simulated time; 0 = at landing", unit="s", minimum=0.0
    )
    seed: int = parameter(0, text="seed of every random number", minimum=0)
    speed: float = parameter(
        0.0,
        text="simulated over wall time; 0 = as fast as possible",
        minimum=0.0,
        maximum=100.0,
        live=True,
    )
    record: str = parameter(
        "all",
        text="what the bag holds; inertial is all but images and clouds",
        choices=("all", "inertial", "none"),
    )
    instance: int = parameter(
        0, text="vehicle number; shifts every port", minimum=0, maximum=MAX_INSTANCE
    )
    instances: int = parameter(
        1, text="vehicles side by side, uav0, uav1, ...; 1 = one unnamed", minimum=1, maximum=50
    )
    fleet: str = parameter(
        "none", text="path of a fleet file: vehicles by name, each with what differs"
    )
    step_s: float = parameter(
        LOCKSTEP_S, text="a step; below 0.004 only without MAVLink", unit="s", choices=STEPS_S
    )
    autopilot_wait_s: float = parameter(
        120.0, text="longest wait for the autopilot to connect", unit="s wall", minimum=0.1
    )
    autopilot_answer_s: float = parameter(
        1.0,
        text="longest wait for the autopilot's answer to a step, three times in a row before it "
        "is lost; more for one that is stopped in a debugger",
        unit="s wall",
        minimum=0.01,
        maximum=86400.0,
    )
    pin_cpu: int = parameter(
        CHOSEN_CPU,
        text="processor that loop and autopilots share; -1 = counted from the last allowed one "
        "back by the instance, -2 = any",
        minimum=NO_CPU,
    )
    imu: str = parameter("adis16448", text="IMU preset")
    barometer: str = parameter("default", text="barometer preset")
    magnetometer: str = parameter("default", text="magnetometer preset")
    gnss: str = parameter("gnss_default", text="GNSS preset; none = no receiver")
    vibration: float = parameter(
        1.0, text="rotor vibration over the airframe's; 0 = none", minimum=0.0, maximum=100.0
    )
    external_vision: str = parameter(
        "none",
        text="pose from outside for the autopilot; topic takes external_odom",
        choices=("none", "simulated", "topic"),
    )
    vision_delay_s: float = parameter(
        0.0,
        text="age of the poses of external_odom when they come: PX4 gets it, the embedded "
        "autopilot reads their stamps",
        unit="s",
        minimum=0.0,
        maximum=0.5,
    )
    vision: str = parameter("default", text="preset of the simulated external vision")
    range_finder: str = parameter(NO_PRESET, text="range finder preset; none = none")
    optical_flow: str = parameter(NO_PRESET, text="optical flow preset; none = none")
    airspeed: str = parameter(NO_PRESET, text="airspeed preset; none = none")
    rc: str = parameter(
        "none", text="radio control of a PX4: axes of joy as channels", choices=("none", "joy")
    )
    extra_sensors: tuple[str, ...] = parameter(
        (), text="sensors of one's own: module:Class or module:Class@parameters.yaml"
    )
    date: float = parameter(
        2026.0, text="date of the magnetic field", unit="year", minimum=2025.0, maximum=2030.0
    )
    truth_rate_hz: float = parameter(
        100.0, text="rate of truth and rotor topics", unit="Hz", minimum=1.0, maximum=250.0
    )
    camera: bool = parameter(True, text="whether the stereo pair renders")
    camera_rate_hz: float = parameter(
        20.0, text="stereo rate", unit="Hz", minimum=0.1, maximum=250.0
    )
    camera_width: int = parameter(752, text="image width", unit="px", minimum=16, maximum=8192)
    camera_height: int = parameter(480, text="image height", unit="px", minimum=16, maximum=8192)
    camera_focal_px: float = parameter(458.0, text="focal length", unit="px", minimum=1.0)
    camera_baseline_m: float = parameter(0.11, text="stereo baseline", unit="m", minimum=1e-3)
    camera_forward_m: float = parameter(0.10, text="cameras ahead of base_link", unit="m")
    camera_pitch_deg: float = parameter(
        0.0, text="downward pitch of the cameras", unit="deg", minimum=-90.0, maximum=90.0
    )
    camera_noise: str = parameter("default", text="camera noise preset")
    camera_preset: str = parameter(
        NO_PRESET,
        text="camera preset of the stereo pair, with lens, baseline and noise of its own; none = "
        "rectified, as width, height, focal length, baseline and noise above say",
    )
    cameras: str = parameter(
        NO_FILE, text="path of a file of further cameras: each with name, preset, place, outputs"
    )
    lidar: str = parameter(
        NO_PRESET, text="lidar preset, or path of a file like one; none = no lidar"
    )
    lidar_x_m: float = parameter(0.0, text="lidar ahead of base_link", unit="m")
    lidar_y_m: float = parameter(0.0, text="lidar to the left of base_link", unit="m")
    lidar_z_m: float = parameter(0.1, text="lidar above base_link", unit="m")
    lidar_roll_deg: float = parameter(
        0.0, text="lidar turned about x", unit="deg", minimum=-180.0, maximum=180.0
    )
    lidar_pitch_deg: float = parameter(
        0.0, text="then about y: positive looks down ahead", unit="deg", minimum=-90.0, maximum=90.0
    )
    lidar_yaw_deg: float = parameter(
        0.0, text="then about z, to the left", unit="deg", minimum=-180.0, maximum=180.0
    )
    wind_east_m_s: float = parameter(
        0.0, text="steady wind towards east", unit="m/s", minimum=-60.0, maximum=60.0
    )
    wind_north_m_s: float = parameter(
        0.0, text="steady wind towards north", unit="m/s", minimum=-60.0, maximum=60.0
    )
    wind_up_m_s: float = parameter(
        0.0, text="steady wind upwards", unit="m/s", minimum=-60.0, maximum=60.0
    )
    wind_roughness_length_m: float = parameter(
        0.0,
        text="shear: wind as ln(h / z_0), as given at 6 m; 0 is off, 0.046 open land, 0.61 town",
        unit="m",
        minimum=0.0,
        maximum=2.0,
    )
    wind_turbulence_m_s: float = parameter(
        0.0,
        text="Dryden gusts: wind at 20 ft that sets them (light 7.7, moderate 15.4); 0 is off",
        unit="m/s",
        minimum=0.0,
        maximum=60.0,
    )

    def __post_init__(self) -> None:
        kind = self.controller
        is_python = kind.startswith(PYTHON) and kind.count(":") == 2 and not kind.endswith(":")
        if kind not in (*MAVLINK, "ros2") and not is_python and not self.is_serial:
            raise ParameterError(
                "controller: expected embedded, px4, serial:DEVICE:BAUD, ros2 or "
                f"python:module:Class, found '{kind}'"
            )
        if self.is_serial and (self.speed != 1.0 or self.mission != "none"):
            raise ParameterError(
                f"controller: {kind} needs speed 1.0 and mission none, found {self.speed:g} and "
                f"{self.mission}; the flight controller has its own clock and its own link for "
                "commands"
            )
        if self.external_vision == "topic" and not self.is_mavlink:
            raise ParameterError(
                f"external_vision: expected none or simulated with controller {kind}, found topic; "
                "only an autopilot takes poses, let the controller's node subscribe to them itself"
            )
        if self.rc != "none" and self.controller != "px4":
            raise ParameterError(
                f"rc: expected none with controller {kind}, found {self.rc}; only PX4 reads radio "
                "control on its simulator link"
            )
        if self.instance + self.instances - 1 > MAX_INSTANCE:
            raise ParameterError(
                f"instance: expected at most {MAX_INSTANCE - self.instances + 1} with "
                f"{self.instances} vehicles, found {self.instance}; the last would be above "
                f"{MAX_INSTANCE}"
            )
        if self.is_mavlink and self.step_s != LOCKSTEP_S:
            raise ParameterError(
                f"step_s: expected {LOCKSTEP_S} with controller {kind}, found {self.step_s}; "
                "autopilots run at 250 Hz"
            )

    @property
    def is_mavlink(self) -> bool:
        """Whether the controller is an autopilot behind a MAVLink HIL link."""
        return self.controller in MAVLINK or self.is_serial

    @property
    def is_serial(self) -> bool:
        """Whether that is a flight controller on a serial line."""
        return self.controller.startswith(SERIAL)

    @property
    def has_cameras(self) -> bool:
        """Whether anything is rendered."""
        return self.camera or self.cameras != NO_FILE

    @property
    def has_lidar(self) -> bool:
        """Whether a lidar spins."""
        return self.lidar != NO_PRESET

    @property
    def step_ns(self) -> int:
        """Time of a step [ns]."""
        return from_seconds(self.step_s)

    @property
    def rig(self) -> StereoRig:
        """The rectified stereo pair; the principal point is the image centre."""
        camera = PinholeCamera(
            width=self.camera_width,
            height=self.camera_height,
            fx=self.camera_focal_px,
            fy=self.camera_focal_px,
            cx=(self.camera_width - 1) / 2.0,
            cy=(self.camera_height - 1) / 2.0,
        )
        return StereoRig(camera=camera, baseline_m=self.camera_baseline_m)


def same_parameter(name: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Declare a parameter as in `SimulatorParameters`; with the default None it is optional."""
    field = SimulatorParameters.__dataclass_fields__[name]
    metadata = dict(field.metadata)
    if default is dataclasses.MISSING:
        default = field.default
    elif default is None and metadata["choices"]:
        metadata["choices"] = (None, *metadata["choices"])
    return dataclasses.field(default=default, metadata=metadata, kw_only=True)
