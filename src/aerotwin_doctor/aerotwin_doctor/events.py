# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PX4's events (MAVLink message 410): which of its checks prevent arming, as text.

An event carries a number, the 24-bit FNV-1a hash of its name, not a text; the names of the health
and arming checks of PX4 1.14 are listed here. Payload: MAVLink development.xml, message EVENT.
"""

import struct
from dataclasses import dataclass

EVENT_MESSAGE_ID = 410
ERROR = 3
"""Level of MAVLink's event interface: 0 emergency … 3 error, 4 warning, 6 information."""

_CHECK_NAMES = """
    accel_missing accel_no_data accel_not_calibrated airspeed_invalid airspeed_no_data
    airspeed_too_high avionics_power_high avionics_power_low avionics_power_missing
    avionics_power_redundancy baro_missing baro_no_data battery_disconnected battery_fault
    battery_low battery_mode battery_rem_flight_time_low battery_unhealthy cpuload_too_high
    distance_sensor_invalid distance_sensor_missing escs_fault escs_offline escs_telem_missing
    estimator_gnss_fault estimator_gps_fix_too_low estimator_gps_generic
    estimator_gps_hor_pos_drift_too_high estimator_gps_hor_pos_err_too_high
    estimator_gps_hor_speed_drift_too_high estimator_gps_jamming_critical
    estimator_gps_multiple_spoofing_indicated estimator_gps_not_fusing
    estimator_gps_num_sats_too_low estimator_gps_pdop_too_high estimator_gps_speed_acc_too_low
    estimator_gps_spoofing_indicated estimator_gps_vert_pos_drift_too_high
    estimator_gps_vert_pos_err_too_high estimator_gps_vert_speed_drift_too_high
    estimator_heading_not_stable estimator_hgt_est_err estimator_hgt_not_stable
    estimator_high_accel_bias estimator_high_gyro_bias estimator_hor_vel_not_stable
    estimator_mag_fault estimator_mag_interference estimator_missing_data estimator_nav_failure
    estimator_pos_est_err estimator_vel_est_err estimator_vert_vel_not_stable
    estimator_yaw_est_err failure_detector_alt failure_detector_arm_esc failure_detector_ext
    failure_detector_imbalanced_prop failure_detector_motor failure_detector_pitch
    failure_detector_roll flight_time_limit gf_no_home gf_violation gyro_missing gyro_no_data
    gyro_not_calibrated hardfault_present imu_accel_inconsistent imu_gyro_inconsistent
    mag_consistency mag_fault mag_missing mag_no_data mag_not_calibrated mag_sys_has_mag_missing
    man_control_kill_engaged man_control_landing_gear_up man_control_rtl_engaged missing_cpuload
    missing_fmu_sdcard missing_system_power mission_failure modes_angular_velocity modes_attitude
    modes_cannot_takeoff modes_global_pos modes_home_position modes_local_alt modes_local_pos
    modes_manual_control modes_mission modes_offboard_signal parachute_missing parachute_unhealthy
    rc_dl_no_dllink rc_dz_too_high rc_max_too_high rc_min_too_small rc_trim_too_high
    rc_trim_too_small system_arm_auth_failed system_avoidance_not_ready system_flight_term_active
    system_no_global_pos system_no_home_pos system_safety_button system_usb_connected
    system_vtol_in_fw_mode system_vtol_in_transition vtol_fixed_wing_system_failure wind_too_high
"""
"""Names of the events `check_<name>` of PX4 1.14.3, groups arming_check and health."""

_AS_TEXT = {
    "mag_missing": "no magnetometer data; send HIL_SENSOR with the mag bits (0x1C0)",
    "mag_no_data": "no valid magnetometer data; a value that never changes counts as none",
    "baro_missing": "no barometer data; send HIL_SENSOR with the baro bits (0x1A00)",
    "baro_no_data": "no valid barometer data; a value that never changes counts as none",
    "accel_missing": "no accelerometer data; each HIL_SENSOR needs the bits 0x3F",
    "gyro_missing": "no gyroscope data; each HIL_SENSOR needs the bits 0x3F",
    "modes_local_pos": "no valid local position: GNSS (or vision), magnetometer and a few seconds",
    "modes_global_pos": "no valid global position: HIL_GPS with a 3-D fix, and a few seconds",
    "modes_home_position": "no home position: it is set at the first valid global position",
    "modes_offboard_signal": "no offboard set-points: stream them at 2 Hz or more",
    "modes_manual_control": "no joystick or RC",
    "modes_mission": "no mission on board",
    "rc_dl_no_dllink": "no ground station",
    "battery_low": "battery low",
    "cpuload_too_high": "processor load of the autopilot too high: a lockstep run that is pinned "
    "with others looks like that; set COM_CPU_MAX to -1",
    "estimator_missing_data": "the estimator has not begun: it waits for IMU, mag and baro",
    "estimator_gps_fix_too_low": "GNSS without a 3-D fix",
    "estimator_gps_num_sats_too_low": "GNSS with too few satellites",
    "estimator_mag_interference": "magnetic field of another strength or dip than the world "
    "magnetic model says for this place: check origin, date and units (gauss)",
    "estimator_high_accel_bias": "accelerometer bias too high: specific force or its axes are off",
    "estimator_high_gyro_bias": "gyroscope bias too high: angular velocity at rest is not zero",
    "modes_attitude": "no valid attitude",
    "modes_cannot_takeoff": "this mode cannot arm; choose HOLD or TAKEOFF",
}


@dataclass(frozen=True, kw_only=True)
class ArmingReason:
    """Why an autopilot refuses to arm."""

    name: str  # PX4's name of the check, without `check_`
    level: int  # of the event; up to `ERROR` it prevents arming
    modes: int  # bits of the affected modes, by PX4's nav_state

    @property
    def text(self) -> str:
        """The reason as text."""
        return _AS_TEXT.get(self.name, self.name.replace("_", " "))

    def forbids(self, nav_state: int | None) -> bool:
        """Return whether it prevents arming in a mode; in any mode if that is unknown."""
        if self.level > ERROR:
            return False
        return nav_state is None or bool(self.modes >> nav_state & 1)


def event_id(name: str) -> int:
    """Return PX4's number of an event: FNV-1a (32 bit) of its name, lower 24 bits."""
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value & 0xFFFFFF


_NAME_OF_ID = {event_id(f"check_{name}"): name for name in _CHECK_NAMES.split()}
_NEW_REPORT = event_id("commander_arming_check_summary")
_HEAD = struct.Struct("<IIHBBB")  # id, time_boot_ms, sequence, destination, level
_LENGTH = 53


class ArmingReasons:
    """The reasons of the last complete report of an autopilot.

    PX4 sends a summary, then one event for each reason; events after a summary replace the previous
    reasons.
    """

    def __init__(self) -> None:
        self._reasons: dict[str, ArmingReason] = {}
        self.has_report = False

    def __iter__(self):
        return iter(self._reasons.values())

    def on_event(self, payload: bytes) -> None:
        """Process the payload of an EVENT, zero-truncated as on the wire."""
        data = payload.ljust(_LENGTH, b"\0")
        number, *_, log_levels = _HEAD.unpack_from(data)
        if number & 0xFFFFFF == _NEW_REPORT:
            self._reasons.clear()
            self.has_report = True
            return
        name = _NAME_OF_ID.get(number & 0xFFFFFF)
        if name is not None:
            (modes,) = struct.unpack_from("<I", data, _HEAD.size)
            self._reasons[name] = ArmingReason(name=name, level=log_levels & 0x0F, modes=modes)
