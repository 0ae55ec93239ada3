# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every parameter of a simulated flight; ROS joins the names of group and parameter by a dot."""

from dataclasses import dataclass

from aerotwin_core.bag.compression import COMPRESSIONS
from aerotwin_core.camera import PinholeCamera, StereoRig
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import group, parameter
from aerotwin_core.time import from_seconds
from aerotwin_simulator import topics
from aerotwin_simulator.controller_settings import (
    ARDUPILOT,
    ArduPilotSettings,
    AutopilotSettings,
    ControllerSettings,
    Px4Settings,
)
from aerotwin_simulator.dynamics_settings import (
    GROUND_ROBOT,
    MULTIROTOR,
    POINT_MASS,
    GroundRobotSettings,
    PointMassSettings,
)

LOCKSTEP_S = 0.004
"""The lockstep period: PX4's control chain runs at 250 Hz (IMU_INTEG_RATE)."""
STEPS_S = (0.001, 0.002, LOCKSTEP_S, 0.01, 0.02)
NO_GNSS = "none"
NO_PRESET = "none"
NO_FILE = "none"
MAX_INSTANCE = 200
"""The last number of a vehicle with an autopilot: every one has MAVLink ports of its own."""
MOST_VEHICLES = 2000


@dataclass(frozen=True, kw_only=True)
class MissionSettings:
    """What an autopilot flies."""

    file: str = parameter(
        "none",
        text="path of a mission file, or of a folder with one named as the world; none = wait for "
        "an outside client; controllers ros2 and python take none",
    )
    is_anchored: bool = parameter(
        True, text="the mission starts at a surveyed mark: GNSS error at arming is taken out of it"
    )
    failure_ends_flight: bool = parameter(
        True,
        text="whether a mission that fails, by a fail-safe for instance, ends the flight; else it "
        "goes on until the motors are off",
    )
    landing_ends_flight: bool = parameter(
        False,
        text="without a mission: whether a vehicle has ended its flight when it has flown and its "
        "motors are off; when all have, the run ends",
    )


@dataclass(frozen=True, kw_only=True)
class SensorSettings:
    """The sensors of the autopilot and others on board; presets are names or files."""

    imu: str = parameter("adis16448", text="IMU preset")
    barometer: str = parameter("default", text="barometer preset")
    magnetometer: str = parameter("default", text="magnetometer preset")
    gnss: str = parameter("gnss_default", text="GNSS preset; none = no receiver")
    range_finder: str = parameter(NO_PRESET, text="range finder preset; none = none")
    optical_flow: str = parameter(NO_PRESET, text="optical flow preset; none = none")
    airspeed: str = parameter(NO_PRESET, text="airspeed preset; none = none")
    extra: tuple[str, ...] = parameter(
        (), text="sensors of one's own: module:Class or module:Class@parameters.yaml"
    )
    vibration: float = parameter(
        1.0, text="rotor vibration over the airframe's; 0 = none", minimum=0.0, maximum=100.0
    )
    date: float = parameter(
        2026.0, text="date of the magnetic field", unit="year", minimum=2025.0, maximum=2030.0
    )


@dataclass(frozen=True, kw_only=True)
class VisionSettings:
    """Poses from outside for the autopilot."""

    source: str = parameter(
        "none",
        text="pose from outside for the autopilot; topic takes external_odom",
        choices=("none", "simulated", "topic"),
    )
    preset: str = parameter("default", text="preset of the simulated external vision")
    delay_s: float = parameter(
        0.0,
        text="age of the poses of external_odom when they come: PX4 gets it, the embedded "
        "autopilot reads their stamps",
        unit="s",
        minimum=0.0,
        maximum=0.5,
    )


@dataclass(frozen=True, kw_only=True)
class CameraSettings:
    """The stereo pair, and a file of further cameras."""

    is_rendered: bool = parameter(True, text="whether the stereo pair renders")
    rate_hz: float = parameter(20.0, text="stereo rate", unit="Hz", minimum=0.1, maximum=250.0)
    width: int = parameter(752, text="image width", unit="px", minimum=16, maximum=8192)
    height: int = parameter(480, text="image height", unit="px", minimum=16, maximum=8192)
    focal_px: float = parameter(458.0, text="focal length", unit="px", minimum=1.0)
    baseline_m: float = parameter(0.11, text="stereo baseline", unit="m", minimum=1e-3)
    forward_m: float = parameter(0.10, text="cameras ahead of base_link", unit="m")
    pitch_deg: float = parameter(
        0.0, text="downward pitch of the cameras", unit="deg", minimum=-90.0, maximum=90.0
    )
    encoding: str = parameter("mono8", text="of its images", choices=("mono8", "rgb8", "bgr8"))
    noise: str = parameter("default", text="camera noise preset")
    preset: str = parameter(
        NO_PRESET,
        text="camera preset of the stereo pair, with lens, baseline and noise of its own; none = "
        "rectified, as width, height, focal length, baseline and noise above say",
    )
    file: str = parameter(NO_FILE, text="file of further cameras: name, preset, place, outputs")

    @property
    def rig(self) -> StereoRig:
        """The rectified stereo pair; the principal point is the image centre."""
        camera = PinholeCamera(
            width=self.width,
            height=self.height,
            fx=self.focal_px,
            fy=self.focal_px,
            cx=(self.width - 1) / 2.0,
            cy=(self.height - 1) / 2.0,
        )
        return StereoRig(camera=camera, baseline_m=self.baseline_m)


@dataclass(frozen=True, kw_only=True)
class ScannerSettings:
    """A lidar or radar and its mounting on the vehicle."""

    preset: str = parameter(
        NO_PRESET, text="preset of this kind of sensor, or path of a file like one; none = none"
    )
    x_m: float = parameter(0.0, text="sensor ahead of base_link", unit="m")
    y_m: float = parameter(0.0, text="sensor to the left of base_link", unit="m")
    z_m: float = parameter(0.1, text="sensor above base_link", unit="m")
    roll_deg: float = parameter(
        0.0, text="sensor turned about x", unit="deg", minimum=-180.0, maximum=180.0
    )
    pitch_deg: float = parameter(
        0.0, text="then about y: positive looks down ahead", unit="deg", minimum=-90.0, maximum=90.0
    )
    yaw_deg: float = parameter(
        0.0, text="then about z, to the left", unit="deg", minimum=-180.0, maximum=180.0
    )

    @property
    def is_mounted(self) -> bool:
        """Whether there is one."""
        return self.preset != NO_PRESET


@dataclass(frozen=True, kw_only=True)
class LidarSettings(ScannerSettings):
    """The lidar and its mounting."""


@dataclass(frozen=True, kw_only=True)
class RadarSettings(ScannerSettings):
    """The spinning radar and its mounting."""


@dataclass(frozen=True, kw_only=True)
class WindSettings:
    """Steady wind, its shear and gusts."""

    east_m_s: float = parameter(
        0.0, text="steady wind towards east", unit="m/s", minimum=-60.0, maximum=60.0
    )
    north_m_s: float = parameter(
        0.0, text="steady wind towards north", unit="m/s", minimum=-60.0, maximum=60.0
    )
    up_m_s: float = parameter(
        0.0, text="steady wind upwards", unit="m/s", minimum=-60.0, maximum=60.0
    )
    roughness_length_m: float = parameter(
        0.0,
        text="shear: wind as ln(h / z_0), unchanged at 6 m; 0 is off, 0.046 open land, 0.61 town",
        unit="m",
        minimum=0.0,
        maximum=2.0,
    )
    turbulence_m_s: float = parameter(
        0.0,
        text="Dryden gusts: wind at 20 ft that sets them (light 7.7, moderate 15.4); 0 is off",
        unit="m/s",
        minimum=0.0,
        maximum=60.0,
    )
    downwash: bool = parameter(
        False, text="whether the rotors of a vehicle blow down on others below it"
    )


@dataclass(frozen=True, kw_only=True)
class FleetSettings:
    """How many vehicles fly, and their numbers."""

    file: str = parameter(
        "none", text="path of a fleet file: vehicles by name, each with what differs"
    )
    instance: int = parameter(
        0,
        text="vehicle number; of its noise and every port",
        minimum=0,
        maximum=MOST_VEHICLES - 1,
    )
    port_shift: int = parameter(
        0, text="added to that number for ports alone", minimum=0, maximum=MAX_INSTANCE
    )
    instances: int = parameter(
        1,
        text="vehicles side by side, uav0, uav1, ...; 1 = one unnamed",
        minimum=1,
        maximum=MOST_VEHICLES,
    )

    def check_ports(self) -> None:
        """Raise ParameterError if there are not as many ports as vehicles with autopilots."""
        if self.link_number + self.instances - 1 > MAX_INSTANCE:
            shift = f" and a shift of {self.port_shift}" if self.port_shift else ""
            most = MAX_INSTANCE - self.instances + 1 - self.port_shift
            raise ParameterError(
                f"fleet.instance: expected at most {most} with {self.instances} vehicles{shift}, "
                f"found {self.instance}; the last would be above {MAX_INSTANCE}"
            )

    @property
    def link_number(self) -> int:
        """Number from which the ports and the MAVLink system id follow."""
        return self.instance + self.port_shift


@dataclass(frozen=True, kw_only=True)
class SimulatorParameters:
    """The vehicle and its sensors, the world, the flight, and the recording."""

    world: str = parameter("cliff", text="name in worlds/, or path of a world file or folder")
    dynamics: str = parameter(
        MULTIROTOR,
        text="what moves: a multirotor with rotors and autopilot, a point mass without, which "
        "takes the same set-points and services, or a ground robot",
        choices=(MULTIROTOR, POINT_MASS, GROUND_ROBOT),
    )
    airframe: str = parameter("iris", text="airframe by name")
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
    record_compression: str = parameter(
        "none",
        text="of the bag, without loss; zstd: images shrink by a fifth, all else to a sixth",
        choices=COMPRESSIONS,
    )
    step_s: float = parameter(
        LOCKSTEP_S,
        text="a step; below 0.004 only without MAVLink, above without multirotors",
        unit="s",
        choices=STEPS_S,
    )
    rc: str = parameter(
        "none",
        text="radio control of the autopilot: axes of joy as channels",
        choices=("none", "joy"),
    )
    truth_rate_hz: float = parameter(
        100.0, text="rate of truth and rotor topics", unit="Hz", minimum=1.0, maximum=250.0
    )
    events: str = parameter(
        NO_FILE, text="path of a scenario file, for its events: faults, gusts, orders; none = none"
    )
    publish_tf: bool = parameter(
        True, text="publish map -> odom -> base_link of the autopilot, unless another node does"
    )
    controller: ControllerSettings = group(
        ControllerSettings,
        kind="controller",
        options="controller_options",
        command_wait_s="command_wait_s",
    )
    px4: Px4Settings = group(Px4Settings, old_prefix="px4_")
    ardupilot: ArduPilotSettings = group(ArduPilotSettings)
    autopilot: AutopilotSettings = group(
        AutopilotSettings, old_prefix="autopilot_", pin_cpu="pin_cpu"
    )
    mission: MissionSettings = group(MissionSettings, file="mission", is_anchored="anchor_mission")
    sensors: SensorSettings = group(SensorSettings, old_prefix="", extra="extra_sensors")
    vision: VisionSettings = group(
        VisionSettings, source="external_vision", preset="vision", delay_s="vision_delay_s"
    )
    camera: CameraSettings = group(
        CameraSettings, old_prefix="camera_", is_rendered="camera", file="cameras", encoding=""
    )
    lidar: LidarSettings = group(LidarSettings, old_prefix="lidar_", preset="lidar")
    radar: RadarSettings = group(RadarSettings)
    wind: WindSettings = group(WindSettings, old_prefix="wind_", downwash="")
    point_mass: PointMassSettings = group(PointMassSettings)
    ground_robot: GroundRobotSettings = group(GroundRobotSettings)
    fleet: FleetSettings = group(
        FleetSettings, file="fleet", instance="instance", instances="instances"
    )

    def __post_init__(self) -> None:
        controller, kind = self.controller, self.controller.kind
        if controller.is_serial and (self.speed != 1.0 or self.mission.file != "none"):
            raise ParameterError(
                f"controller.kind: {kind} needs speed 1.0 and mission.file none, found "
                f"{self.speed:g} and {self.mission.file}; the flight controller has its own clock "
                "and its own link for commands"
            )
        if self.vision.source == "topic" and not controller.is_autopilot:
            raise ParameterError(
                f"vision.source: expected none or simulated with controller {kind}, found topic; "
                "only an autopilot takes poses, let the controller's node subscribe to them itself"
            )
        if self.rc != "none" and kind not in ("px4", "embedded", ARDUPILOT):
            raise ParameterError(
                f"rc: expected none with controller {kind}, found {self.rc}; only embedded, "
                "px4 and ardupilot have a radio"
            )
        if self.dynamics != MULTIROTOR:
            self._check_simple(kind)
            return
        if self.fleet.file != NO_FILE:
            return  # each vehicle of the file is checked by itself
        self.fleet.check_ports()
        if self.step_s > LOCKSTEP_S:
            raise ParameterError(
                f"step_s: expected at most {LOCKSTEP_S} with a multirotor, found {self.step_s}"
            )
        if controller.is_autopilot and self.step_s != LOCKSTEP_S:
            raise ParameterError(
                f"step_s: expected {LOCKSTEP_S} with controller {kind}, found {self.step_s}; "
                "autopilots run at 250 Hz"
            )

    def _check_simple(self, controller: str) -> None:
        """Refuse what only multirotors have."""
        if controller != "embedded":
            raise ParameterError(
                f"controller.kind: expected its default, embedded, with dynamics {self.dynamics}, "
                f"found {controller}; that has a controller of its own"
            )

    @property
    def has_cameras(self) -> bool:
        """Whether anything is rendered."""
        return self.camera.is_rendered or self.camera.file != NO_FILE

    def has(self, sensor: str) -> bool:
        """Whether there is a `topics.CAMERA`, `LIDAR` or `RADAR`."""
        scanners = {topics.LIDAR: self.lidar, topics.RADAR: self.radar}
        return scanners[sensor].is_mounted if sensor in scanners else self.has_cameras

    @property
    def n_fine_steps(self) -> int:
        """Steps of the vehicle within one of the simulator."""
        if not self.controller.is_ardupilot:
            return 1
        return round(self.step_s * self.ardupilot.rate_hz)

    @property
    def step_ns(self) -> int:
        """Time of a step [ns]."""
        return from_seconds(self.step_s)
