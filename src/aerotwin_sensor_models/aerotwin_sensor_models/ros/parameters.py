# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of the node `sensors`, flat as ROS parameters are."""

from dataclasses import dataclass

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.parameters import parameter

NONE = "none"


@dataclass(frozen=True, kw_only=True)
class SensorsParameters:
    """Which sensors, where on Earth, and with which seed."""

    imu: str = parameter("adis16448", text="IMU preset, one sample for each truth; none = off")
    magnetometer: str = parameter("default", text="magnetometer preset; none = off")
    barometer: str = parameter("default", text="barometer preset; none = off")
    gnss: str = parameter("gnss_default", text="GNSS preset; none = off")
    origin_latitude_deg: float = parameter(
        47.397742, text="origin of map on WGS84", unit="deg", minimum=-90.0, maximum=90.0
    )
    origin_longitude_deg: float = parameter(
        8.545594, text="origin of map on WGS84", unit="deg", minimum=-180.0, maximum=180.0
    )
    origin_altitude_m: float = parameter(
        488.0, text="origin of map above the ellipsoid", unit="m", minimum=-500.0, maximum=9000.0
    )
    vibration: bool = parameter(
        False, text="wait for truth/vibration of each truth, and let the IMU feel it"
    )
    date: float = parameter(
        2026.0, text="date of the magnetic field", unit="year", minimum=2025.0, maximum=2030.0
    )
    seed: int = parameter(0, text="seed of every random number", minimum=0)
    vehicle: int = parameter(0, text="number of the vehicle; each has its own noise", minimum=0)
    imu_frame: str = parameter("imu_link", text="frame of the IMU")
    body_frame: str = parameter(
        "base_link", text="frame of magnetometer, barometer and GNSS antenna"
    )
    input_timeout_s: float = parameter(
        0.0, text="longest gap between truths; 0 waits for ever", unit="s wall", minimum=0.0
    )

    @property
    def origin(self) -> GeodeticPoint:
        """Origin of map."""
        return GeodeticPoint(
            latitude_deg=self.origin_latitude_deg,
            longitude_deg=self.origin_longitude_deg,
            altitude_m=self.origin_altitude_m,
        )
