# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the nodes `lidar`, `radar`, `cameras` and `description`."""

from dataclasses import dataclass, replace

from aerotwin_core.parameters import group, parameter
from aerotwin_simulator.parameters import (
    CameraSettings,
    FleetSettings,
    LidarSettings,
    RadarSettings,
    SensorSettings,
    SimulatorParameters,
)
from aerotwin_simulator.same_parameter import same_parameter


@dataclass(frozen=True, kw_only=True)
class TruthNodeParameters:
    """What the nodes have in common that add a sensor to another simulator."""

    world: str = same_parameter("world")
    seed: int = same_parameter("seed")
    input_timeout_s: float = parameter(
        0.0, text="longest gap between truths; 0 waits for ever", unit="s wall", minimum=0.0
    )


@dataclass(frozen=True, kw_only=True)
class ScannerNodeParameters(TruthNodeParameters):
    """The world of a lidar or radar, and whose it is."""

    vehicle: int = same_parameter("fleet.instance")

    @property
    def flight(self) -> SimulatorParameters:
        """The same sensor as parameters of the composed simulator."""
        return SimulatorParameters(seed=self.seed, fleet=FleetSettings(instance=self.vehicle))


@dataclass(frozen=True, kw_only=True)
class NodeLidarSettings(LidarSettings):
    """The lidar of its node."""

    preset: str = same_parameter("lidar.preset", default="spinning_16")


@dataclass(frozen=True, kw_only=True)
class LidarNodeParameters(ScannerNodeParameters):
    """The lidar, its mounting, and its world."""

    lidar: NodeLidarSettings = group(NodeLidarSettings, old_prefix="", preset="lidar")

    @property
    def flight(self) -> SimulatorParameters:
        """The same lidar as parameters of the composed simulator."""
        return replace(super().flight, lidar=self.lidar)


@dataclass(frozen=True, kw_only=True)
class NodeRadarSettings(RadarSettings):
    """The spinning radar of its node."""

    preset: str = same_parameter("radar.preset", default="navtech_cir304")


@dataclass(frozen=True, kw_only=True)
class RadarNodeParameters(ScannerNodeParameters):
    """The spinning radar, its mounting, and its world."""

    radar: NodeRadarSettings = group(NodeRadarSettings)

    @property
    def flight(self) -> SimulatorParameters:
        """The same radar as parameters of the composed simulator."""
        return replace(super().flight, radar=self.radar)


@dataclass(frozen=True, kw_only=True)
class CameraNodeParameters(TruthNodeParameters):
    """The cameras, their mounting, and the rendered world."""

    camera: CameraSettings = same_parameter("camera")
    instance: int = same_parameter("fleet.instance")

    @property
    def flight(self) -> SimulatorParameters:
        """The same cameras as parameters of the composed simulator."""
        fleet = FleetSettings(instance=self.instance)
        return SimulatorParameters(
            world=self.world, seed=self.seed, camera=self.camera, fleet=fleet
        )


@dataclass(frozen=True, kw_only=True)
class DescriptionNodeParameters:
    """The airframe, and the sensors that other nodes mount on it."""

    airframe: str = same_parameter("airframe")
    imu: str = same_parameter("sensors.imu")
    camera: CameraSettings = same_parameter("camera")
    lidar: LidarSettings = same_parameter("lidar")
    radar: RadarSettings = same_parameter("radar")

    @property
    def flight(self) -> SimulatorParameters:
        """The same vehicle as parameters of the composed simulator."""
        return SimulatorParameters(
            airframe=self.airframe,
            sensors=SensorSettings(imu=self.imu),
            camera=self.camera,
            lidar=self.lidar,
            radar=self.radar,
        )
