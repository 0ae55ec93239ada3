# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is special to an ArduPilot on the link: its filter, its frame, the sensors that it makes.

References: ArduPilot libraries/AP_NavEKF3 (EKF_STATUS_REPORT: variances are innovations over their
gates), libraries/SITL/SITL.cpp (SIM_*).
"""

from pymavlink.dialects.v20 import ardupilotmega as mavlink

from aerotwin_ardupilot_bridge import find_frame
from aerotwin_core.errors import UserError
from aerotwin_doctor.check import Check, fail, ok, warn
from aerotwin_doctor.innovations import innovations_check
from aerotwin_doctor.link_record import LinkRecord
from aerotwin_multirotor_dynamics import load_airframe

FRAME = ("FRAME_CLASS", "FRAME_TYPE")
OWN_SENSORS = ("SIM_BARO_RND", "SIM_MAG_RND", "SIM_GPS1_ENABLE", "SIM_GPS1_HZ", "SIM_GPS1_LAG_MS")
"""Of the sensors that its SITL makes itself."""
_FLAGS = {
    mavlink.EKF_ATTITUDE: "attitude",
    mavlink.EKF_VELOCITY_HORIZ: "horizontal velocity",
    mavlink.EKF_POS_HORIZ_ABS: "horizontal position",
    mavlink.EKF_POS_VERT_ABS: "height",
}
_RATIOS = {
    "velocity_variance": "velocity",
    "pos_horiz_variance": "horizontal position",
    "pos_vert_variance": "height",
    "compass_variance": "compass",
}


def ekf3_checks(record: LinkRecord) -> list[Check]:
    """Return what its filter reports."""
    status = record.last.get("EKF_STATUS_REPORT")
    if status is None:
        return [
            fail(
                "estimator.state",
                "it has not begun: no EKF_STATUS_REPORT",
                "listen longer (--duration-s 20); it begins with its first states",
            )
        ]
    lacking = [name for flag, name in _FLAGS.items() if not status.flags & flag]
    if lacking:
        state = fail(
            "estimator.state",
            f"no valid {', '.join(lacking)}",
            "it uses a GNSS position about 41 s after its start; on external vision it needs "
            "VISION_POSITION_ESTIMATE or ODOMETRY and an origin",
        )
    else:
        state = ok("estimator.state", "attitude, velocity, position and height are valid")
    ratios = {name: getattr(status, field) for field, name in _RATIOS.items()}
    return [state, innovations_check(ratios)]


def own_sensors_check(record: LinkRecord) -> Check:
    """Return that barometer, magnetometer and GNSS are its own, and how they are set."""
    found = record.parameters
    values = ", ".join(f"{name} {found[name]:.3g}" for name in OWN_SENSORS if name in found)
    return ok(
        "sensors.own",
        "ArduPilot's SITL makes barometer, magnetometer and GNSS itself "
        f"({values or 'parameters not read'}); our models of the three are recorded, not flown on",
    )


def frame_check(record: LinkRecord, airframe_name: str) -> Check:
    """Compare its frame with that of an airframe. Raises UserError if that cannot be loaded."""
    name, found = "geometry.frame", record.parameters
    rotors = [(rotor.position_m, rotor.spin) for rotor in load_airframe(airframe_name).rotors]
    try:
        frame = find_frame(rotors)
    except UserError as error:
        return fail(name, str(error), "fly it with another autopilot")
    if not all(parameter in found for parameter in FRAME):
        return warn(name, "FRAME_CLASS and FRAME_TYPE not read", "listen longer (--duration-s 20)")
    flown = tuple(int(found[parameter]) for parameter in FRAME)
    if flown != (frame.frame_class, frame.frame_type):
        return fail(
            name,
            f"it flies FRAME_CLASS {flown[0]}, FRAME_TYPE {flown[1]}; the airframe "
            f"{airframe_name} is {frame.frame_class}, {frame.frame_type} ({frame.name})",
            "set both and restart it, or give --airframe the right one",
        )
    return ok(name, f"it flies the frame of {airframe_name}: {frame.describe()}")
