# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""MAVSDK's own examples, one after the other, on one vehicle: what a client gets from it.

Usage: mavsdk_examples.py UDP_PORT [NAME …]. Prints one JSON line per example: its name and its
verdict, or the error that ended it. A process of its own, because the native library keeps threads
that a test runner should not inherit.
"""

import json
import math
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from mavsdk.plugins import geofence as fence
from mavsdk.plugins import mission as plan
from mavsdk.plugins import mission_raw as raw
from mavsdk.plugins import offboard as stream
from mavsdk.plugins.action import OrbitYawBehavior
from mavsdk_client import ALTITUDE_M, Client, outcome

RELATIVE_INT, MISSION_FRAME = 6, 2
NAN = math.nan
ARRIVAL_M = 1.5
"""Local axes begin where the autopilot believed to be: so far from home at most."""
STREAMS = (
    "position", "home", "in_air", "landed_state", "armed", "attitude_quaternion", "attitude_euler",
    "attitude_angular_velocity_body", "velocity_ned", "gps_info", "raw_gps", "battery",
    "flight_mode", "health", "odometry", "position_velocity_ned", "fixedwing_metrics", "imu",
    "health_all_ok", "unix_epoch_time", "scaled_pressure", "heading", "altitude", "wind",
    "actuator_output_status", "rc_status", "vtol_state", "ground_truth", "distance_sensor",
)  # fmt: skip


# --- on the ground --------------------------------------------------------------------------


def telemetry(c: Client) -> Any:
    """Which streams come by themselves, and that time is that of GNSS."""
    c.wait(c.healthy, "health")
    heard: dict[str, Any] = {}
    subscribed = {}
    for name in STREAMS:
        subscribe = getattr(c.telemetry, f"subscribe_{name}")
        subscribed[name] = subscribe(lambda value, _, n=name: heard.update({n: value}))
    time.sleep(3.0)
    for name, handle in subscribed.items():
        getattr(c.telemetry, f"unsubscribe_{name}")(handle)
    year = 1970 + heard.get("unix_epoch_time", 0) / (365.25 * 86400e6)
    return {"streams": sorted(heard), "this century": year > 2001.0}


def info(c: Client) -> Any:
    version = c.info.get_version()
    return {
        "version": [version.flight_sw_major, version.flight_sw_minor, version.flight_sw_patch],
        "product": outcome(c.info.get_product),
        "identification": outcome(c.info.get_identification),
    }


def params(c: Client) -> Any:
    p = c.params
    before = p.get_param_float("MIS_TAKEOFF_ALT")
    return {
        "set": outcome(p.set_param_float, "MIS_TAKEOFF_ALT", before + 1.0),
        "kept": p.get_param_float("MIS_TAKEOFF_ALT") == before + 1.0,
        "restored": outcome(p.set_param_float, "MIS_TAKEOFF_ALT", before),
        "integer": outcome(p.get_param_int, "NAV_DLL_ACT"),
        "unknown": outcome(p.get_param_float, "NO_SUCH_PARAM"),
        "all": len(p.get_all_params().float_params) > 10,
    }


def geofence(c: Client) -> Any:
    square = [(-50, -50), (50, -50), (50, 50), (-50, 50)]
    points = [fence.Point(*c.offset(*corner)) for corner in square]
    inclusion = fence.FenceType.INCLUSION
    polygon = fence.Polygon(points, inclusion)
    circle = fence.Circle(fence.Point(*c.offset(0.0, 0.0)), 80.0, inclusion)
    uploaded = outcome(c.fence.upload_geofence, fence.GeofenceData([polygon], [circle]))
    got = c.fence.download_geofence() if uploaded == "SUCCESS" else None
    small = fence.Polygon(points[:2], inclusion)
    return {
        "upload": uploaded,
        "polygons": None if got is None else [len(p.points) for p in got.polygons],
        "circles": None if got is None else [round(x.radius) for x in got.circles],
        "two corners": outcome(c.fence.upload_geofence, fence.GeofenceData([small], [])),
        "clear": outcome(c.fence.clear_geofence),
    }


def logs(c: Client) -> Any:
    """After a flight there is a log, and it comes; that of PX4 is too long to wait for."""
    entries = c.logs.get_entries()
    if not entries:
        return {"logs": False}
    entry, seen = min(entries, key=lambda e: e.size_bytes), []
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "flight.ulg")
        c.logs.download_log_file_async(
            entry, path, lambda result, progress, _: seen.append((result.name, progress.progress))
        )
        c.wait(lambda: seen and (seen[-1][0] != "NEXT" or seen[-1][1] > 0.01), "the log")
        comes = any(name in ("NEXT", "SUCCESS") for name, _ in seen)
        c.logs.cancel_download_log_file()
        return {"logs": True, "comes": comes}


def ftp(c: Client) -> Any:
    return {
        "list": outcome(c.ftp.list_directory, "/"),
        "no such folder": outcome(c.ftp.list_directory, "/no/such/folder"),
        "remove": outcome(c.ftp.remove_file, "/no_such_file"),
    }


def offboard_refused(c: Client) -> Any:
    return {"without set-point": outcome(c.offboard.start)}


# --- in the air -----------------------------------------------------------------------------


def takeoff_and_land(c: Client) -> Any:
    """Take off, go to a place, land there."""
    seen = [c.telemetry.in_air()]
    c.be_flying()
    seen.append(c.telemetry.in_air())
    home = c.telemetry.home()
    goal = (*c.offset(-6.0, 0.0), home.absolute_altitude_m + ALTITUDE_M)
    went = outcome(c.action.goto_location, *goal, 0.0)
    c.wait(lambda: math.dist(c.from_home, (-6.0, 0.0)) < ARRIVAL_M, "the place")
    c.action.land()
    c.wait(lambda: not c.telemetry.in_air(), "the landing")
    c.wait(lambda: not c.telemetry.armed(), "disarming")
    return {"in air": [*seen, c.telemetry.in_air()], "goto": went}


def offboard_position(c: Client) -> Any:
    """Start as MAVSDK documents it: one set-point, then start."""
    c.be_flying()
    c.offboard.set_position_ned(stream.PositionNedYaw(0.0, 0.0, -ALTITUDE_M, 90.0))
    started = outcome(c.offboard.start)
    c.offboard.set_position_ned(stream.PositionNedYaw(5.0, 3.0, -6.0, 90.0))
    c.wait(lambda: c.near(5.0, 3.0, -6.0, ARRIVAL_M), "the place")
    return {"start": started, "mode": c.mode, "stop": outcome(c.offboard.stop)}


def offboard_velocity(c: Client) -> Any:
    c.be_flying()
    c.offboard.set_velocity_body(stream.VelocityBodyYawspeed(0.0, 0.0, 0.0, 0.0))
    started = outcome(c.offboard.start)
    c.offboard.set_velocity_body(stream.VelocityBodyYawspeed(2.0, 0.0, 0.0, 0.0))
    speed = c.telemetry.velocity_ned
    c.wait(lambda: math.hypot(speed().north_m_s, speed().east_m_s) > 1.7, "the speed")
    c.offboard.set_velocity_ned(stream.VelocityNedYaw(-1.0, 0.0, 0.0, 0.0))
    c.wait(lambda: speed().north_m_s < -0.8, "the speed back")
    return {"start": started, "stop": outcome(c.offboard.stop)}


def offboard_attitude(c: Client) -> Any:
    c.be_flying()
    c.offboard.set_attitude(stream.Attitude(0.0, 0.0, 0.0, 0.71))
    started = outcome(c.offboard.start)
    c.offboard.set_attitude(stream.Attitude(8.0, 0.0, 0.0, 0.72))
    c.wait(lambda: c.telemetry.attitude_euler().roll_deg > 6.0, "the roll")
    return {"start": started, "stop": outcome(c.offboard.stop)}


def orbit(c: Client) -> Any:
    c.be_flying()
    home = c.telemetry.home()
    place = (*c.offset(0.0, 0.0), home.absolute_altitude_m + 6.0)
    yaw = OrbitYawBehavior.HOLD_FRONT_TO_CIRCLE_CENTER
    result = outcome(c.action.do_orbit, 8.0, 3.0, yaw, *place)
    if result != "SUCCESS":
        return {"result": result}
    angles: list[float] = []

    def has_gone_round() -> bool:
        north, east, _ = c.ned
        if abs(math.hypot(north, east) - 8.0) < 1.5:
            angles.append(math.atan2(east, north))
        turned = sum(math.remainder(b - a, math.tau) for a, b in pairwise(angles))
        return abs(turned) > math.pi

    c.wait(has_gone_round, "half a circle")
    turn = sum(math.remainder(b - a, math.tau) for a, b in pairwise(angles))
    return {
        "result": result,
        "clockwise": turn > 0.0,
        "mode": c.mode,
        "hold": outcome(c.action.hold),
    }


def mission_item(c: Client, north: float, east: float, **changes: Any) -> plan.MissionItem:
    action = plan.MissionItem.CameraAction.NONE
    values = {
        "relative_altitude_m": 6.0, "speed_m_s": 5.0, "is_fly_through": True,
        "gimbal_pitch_deg": NAN, "gimbal_yaw_deg": NAN, "camera_action": action,
        "loiter_time_s": NAN, "camera_photo_interval_s": NAN, "acceptance_radius_m": 1.5,
        "yaw_deg": NAN, "camera_photo_distance_m": NAN,
        "vehicle_action": plan.MissionItem.VehicleAction.NONE, **changes,
    }  # fmt: skip
    latitude, longitude = c.offset(north, east)
    return plan.MissionItem(latitude_deg=latitude, longitude_deg=longitude, **values)


def mission(c: Client) -> Any:
    """A mission with a pause, a gimbal, pictures and another speed; its progress as it is told."""
    c.be_flying()
    camera = plan.MissionItem.CameraAction
    items = [
        mission_item(c, 6.0, 0.0, camera_action=camera.TAKE_PHOTO),
        mission_item(c, 6.0, 6.0, loiter_time_s=3.0, is_fly_through=False),
        mission_item(
            c, 0.0, 6.0, speed_m_s=3.0, gimbal_pitch_deg=-45.0, gimbal_yaw_deg=0.0,
            camera_action=camera.START_PHOTO_INTERVAL, camera_photo_interval_s=2.0,
        ),
        mission_item(c, 0.0, 0.0, camera_action=camera.STOP_PHOTO_INTERVAL),
    ]  # fmt: skip
    uploaded = outcome(c.mission.upload_mission, plan.MissionPlan(items))
    if uploaded != "SUCCESS":
        return {"upload": uploaded}
    back = c.mission.download_mission().mission_items
    seen: list[tuple[int, int]] = []
    c.mission.subscribe_mission_progress(lambda p, _: seen.append((p.current, p.total)))
    time.sleep(0.3)  # PX4 checks a plan before it flies it
    started = outcome(c.mission.start_mission)
    c.wait(lambda: outcome(c.mission.is_mission_finished) == "SUCCESS"
           and c.mission.is_mission_finished(), "the mission")  # fmt: skip
    c.wait(lambda: _is_whole(seen), "the mission's last progress")
    return {
        "upload": uploaded,
        "download": len(back),
        "loiter": back[1].loiter_time_s if len(back) > 1 else None,
        "start": started,
        "progress": list(seen[-1]) if seen else None,
        "clear": outcome(c.mission.clear_mission),
    }


def _is_whole(seen: list[tuple[int, int]]) -> bool:
    """Return whether the progress that MAVSDK reports on a thread of its own is the last one."""
    return bool(seen) and seen[-1][0] == seen[-1][1]


def survey(c: Client) -> Any:
    """A survey plan as QGroundControl writes it: camera, trigger, gimbal, region of interest."""
    c.be_flying()

    def item(seq: int, command: int, *p: float, place=None, frame=MISSION_FRAME, z=0.0) -> Any:
        latitude, longitude = c.offset(*place) if place else (0.0, 0.0)
        frame = RELATIVE_INT if place else frame
        filled = [*p, *[0.0] * (4 - len(p))]
        return raw.MissionItem(
            seq, frame, command, int(seq == 0), 1, *filled,
            round(latitude * 1e7), round(longitude * 1e7), z, 0,
        )  # fmt: skip

    items = [
        item(0, 530, 0.0, 2.0, NAN, NAN),  # SET_CAMERA_MODE
        item(1, 205, -90.0, 0.0, 0.0, 0.0, z=2.0),  # DO_MOUNT_CONTROL
        item(2, 16, 0.0, 0.0, 0.0, NAN, place=(4.0, 0.0), z=6.0),
        item(3, 206, 2.0, 0.0, 1.0),  # DO_SET_CAM_TRIGG_DIST
        item(4, 16, 0.0, 0.0, 0.0, NAN, place=(8.0, 0.0), z=6.0),
        item(5, 206, 0.0, 0.0, 1.0),
        item(6, 195, place=(0.0, 0.0), z=0.0),  # DO_SET_ROI_LOCATION
        item(7, 178, 1.0, 4.0, -1.0),
        item(8, 2000, 0.0, 0.0, 1.0),  # IMAGE_START_CAPTURE
        item(9, 93, 2.0, -1.0, -1.0, -1.0),  # NAV_DELAY
        item(10, 16, 2.0, 0.0, 0.0, NAN, place=(8.0, 4.0), z=6.0),
        item(11, 197),  # DO_SET_ROI_NONE
        item(12, 2001),  # IMAGE_STOP_CAPTURE
        item(13, 16, 0.0, 0.0, 0.0, NAN, place=(0.0, 4.0), z=6.0),
    ]
    uploaded = outcome(c.raw.upload_mission, items)
    if uploaded != "SUCCESS":
        return {"upload": uploaded}
    seen: list[tuple[int, int]] = []
    c.raw.subscribe_mission_progress(lambda p, _: seen.append((p.current, p.total)))
    time.sleep(0.3)
    started = outcome(c.raw.start_mission)
    c.wait(lambda: c.raw.is_mission_finished(), "the survey")
    c.wait(lambda: _is_whole(seen), "the survey's last progress")
    unsupported = [item(0, 16, place=(4.0, 0.0), z=6.0), item(1, 84, place=(4.0, 1.0), z=6.0)]
    return {
        "upload": uploaded, "start": started, "progress": list(seen[-1]) if seen else None,
        "download": len(c.raw.download_mission()),
        "unknown item": outcome(c.raw.upload_mission, [*unsupported[:1], item(1, 2510)]),
    }  # fmt: skip


def follow_me(c: Client) -> Any:
    c.be_flying()
    result = outcome(c.follow.start)
    return {"start": result, "stop": outcome(c.follow.stop)}


def geofence_breach(c: Client) -> Any:
    """Fly out of an inclusion circle: GF_ACTION 2 is hold, by default."""
    c.be_flying()
    circle = fence.Circle(fence.Point(*c.offset(0.0, 0.0)), 15.0, fence.FenceType.INCLUSION)
    uploaded = outcome(c.fence.upload_geofence, fence.GeofenceData([], [circle]))
    if uploaded != "SUCCESS":
        return {"upload": uploaded}
    c.offboard.set_velocity_ned(stream.VelocityNedYaw(0.0, 0.0, 0.0, 0.0))
    c.offboard.start()
    c.offboard.set_velocity_ned(stream.VelocityNedYaw(4.0, 0.0, 0.0, 0.0))
    c.wait(lambda: c.ned[0] > 16.0, "the fence")
    c.wait(lambda: c.mode == "HOLD" or c.ned[0] > 40.0, "the reaction")
    verdict = {"upload": uploaded, "mode": c.mode}
    c.fence.clear_geofence()
    return verdict


def return_to_launch(c: Client) -> Any:
    c.be_flying()
    c.action.set_return_to_launch_altitude(10.0)
    result = outcome(c.action.return_to_launch)
    c.wait(lambda: not c.telemetry.in_air(), "the landing")
    c.wait(lambda: not c.telemetry.armed(), "disarming")
    return {"result": result, "at home": math.hypot(*c.from_home) < ARRIVAL_M}


EXAMPLES = (
    telemetry, info, params, ftp, geofence, offboard_refused, offboard_position,
    offboard_velocity, offboard_attitude, orbit, mission, survey, follow_me, geofence_breach,
    return_to_launch, takeoff_and_land, logs,
)  # fmt: skip


def main(port: int, names: list[str]) -> None:
    client = Client(port)
    for example in EXAMPLES:
        if names and example.__name__ not in names:
            continue
        start = time.monotonic()
        try:
            verdict = example(client)
        except Exception as error:  # whatever it is: the next example is run, too
            verdict = {"error": f"{type(error).__name__}: {error}"}
        line = {"name": example.__name__, "verdict": verdict}
        sys.stderr.write(f"{example.__name__}: {time.monotonic() - start:.1f} s\n")
        print(json.dumps(line), flush=True)
    client.mavsdk.destroy()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
