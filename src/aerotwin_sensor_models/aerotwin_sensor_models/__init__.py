# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sensor models of an aerial robot: IMU, barometer, magnetometer, GNSS, cameras, lidar, radar.

Models take plain arrays of truth (`map` is ENU, body is FLU, all SI) and a time step, and return
readings. Randomness is injected, one generator per sensor (`seed_sequence`), and the statistics do
not depend on the sampling rate. Parameters come from packaged presets (`load_preset`). No ROS.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_core.seeds import seed_sequence
    from aerotwin_sensor_models import layout
    from aerotwin_sensor_models.airspeed import Airspeed, AirspeedParameters
    from aerotwin_sensor_models.allan import (
        allan_deviation,
        averaging_times,
        readings_at_rest,
        triad_allan_deviation,
    )
    from aerotwin_sensor_models.atmosphere import (
        air_density,
        pressure_altitude_m,
        standard_atmosphere,
    )
    from aerotwin_sensor_models.auto_exposure import AutoExposure, FrameExposure
    from aerotwin_sensor_models.barometer import Barometer, BarometerParameters, BarometerSample
    from aerotwin_sensor_models.camera_errors import (
        AutoExposureParameters,
        CameraNoiseParameters,
        DepthNoiseParameters,
        ExposureParameters,
        VignettingParameters,
        light_at,
        relative_illumination,
    )
    from aerotwin_sensor_models.camera_preset import CameraParameters
    from aerotwin_sensor_models.external_vision import (
        ExternalVision,
        ExternalVisionParameters,
        ExternalVisionSample,
    )
    from aerotwin_sensor_models.extra_sensor import (
        ExtraSensor,
        SensorTruth,
        extra_message,
        make_extra_sensor,
    )
    from aerotwin_sensor_models.flat_scan import FlatScanParameters, flat_ranges
    from aerotwin_sensor_models.gnss import Gnss, GnssParameters, GnssSample
    from aerotwin_sensor_models.image_sensor import DepthSensor, ImageSensor
    from aerotwin_sensor_models.imu import (
        Imu,
        ImuParameters,
        ImuSample,
        TriadParameters,
        specific_force,
    )
    from aerotwin_sensor_models.inertial import InertialUnit
    from aerotwin_sensor_models.kernels import sample_inertial
    from aerotwin_sensor_models.lidar import Lidar, LidarParameters, LidarScan
    from aerotwin_sensor_models.lidar_message import cloud_message, scan_message
    from aerotwin_sensor_models.magnetometer import (
        Magnetometer,
        MagnetometerParameters,
        magnetic_field_enu_tesla,
    )
    from aerotwin_sensor_models.motion_blur import MotionBlur
    from aerotwin_sensor_models.optical_flow import FlowReading, OpticalFlow, OpticalFlowParameters
    from aerotwin_sensor_models.presets import load_preset, preset_names
    from aerotwin_sensor_models.radar import Radar, RadarParameters, RadarScan
    from aerotwin_sensor_models.radar_detection import (
        DetectorParameters,
        Peaks,
        detect,
        peak_points,
    )
    from aerotwin_sensor_models.radar_message import (
        PolarScan,
        polar_message,
        polar_scan,
        targets_message,
    )
    from aerotwin_sensor_models.range_finder import RangeFinder, RangeFinderParameters
    from aerotwin_sensor_models.sensor_reading import (
        CameraReading,
        CloudReading,
        FieldsReading,
        SensorReading,
        camera_reading,
        cloud_reading,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
