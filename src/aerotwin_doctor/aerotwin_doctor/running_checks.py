# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of what runs: the link of one vehicle, and the nodes that report on /diagnostics."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from aerotwin_doctor import ardupilot_checks, geometry, ports
from aerotwin_doctor.check import FAIL, Check, fail, ok
from aerotwin_doctor.link_checks import flight_checks, link_checks
from aerotwin_doctor.link_watch import LinkWatch, listening_ports
from aerotwin_doctor.sensor_checks import sensor_checks
from aerotwin_doctor.topic_checks import topic_checks

if TYPE_CHECKING:  # ROS may not be installed
    from aerotwin_doctor.ros.topics import DiagnosticsWatch


def running_checks(
    instance: int,
    *,
    airframe: str = "iris",
    port: int | None = None,
    duration_s: float = 6.0,
    is_silence_failure: bool = False,
) -> Iterator[Check]:
    """Listen to the link and to /diagnostics concurrently, and yield their checks.

    `port` is the UDP port to listen on, those of the instance if None; `duration_s` how long, in
    wall time. Raises UserError if the airframe does not exist or is wrong.
    """
    expected = geometry.expected_parameters(airframe)
    names = ["CA_ROTOR_COUNT", *geometry.rotor_names(int(expected["CA_ROTOR_COUNT"]))]
    names += [*ardupilot_checks.FRAME, *ardupilot_checks.OWN_SENSORS]
    listen_on = [port] if port else listening_ports(instance)
    with ExitStack() as stack:
        watch = stack.enter_context(LinkWatch(instance, listen_on, names))
        diagnostics = _diagnostics(stack)
        watch.listen(duration_s, lambda _: diagnostics.spin() if diagnostics is not None else None)
    found = ports.endpoints()
    hil = ports.hil_check(found, instance)
    record, statuses = watch.record, diagnostics.statuses if diagnostics is not None else {}
    if hil is None and not record.is_heard and not statuses and not watch.held:
        yield _silence(instance, is_failure=is_silence_failure)
        return
    yield from ports.held_check(watch.held, found)
    if hil is not None:
        yield hil
    if record.is_heard or len(watch.held) < len(listen_on):
        is_connected = hil is not None and hil.status != FAIL
        yield from link_checks(record, listen_on, is_connected=is_connected)
    yield from sensor_checks(record)
    yield from flight_checks(record)
    if record.is_ardupilot:
        yield ardupilot_checks.own_sensors_check(record)
        yield ardupilot_checks.frame_check(record, airframe)
    elif record.is_heard:
        yield geometry.geometry_check(record, expected, airframe)
    yield from topic_checks(statuses)


def _silence(instance: int, *, is_failure: bool) -> Check:
    port = 4560 + instance
    text = f"nothing flies as vehicle {instance}: silence, and no client on TCP {port}"
    if is_failure:
        return fail("link", text, "start the flight, then the doctor beside it")
    return ok("link", f"{text}; start a flight and run the doctor beside it to hear its link")


def _diagnostics(stack: ExitStack) -> "DiagnosticsWatch | None":
    """Return a watch over /diagnostics; None if rclpy does not load (reported by the imports)."""
    try:
        from aerotwin_doctor.ros.topics import DiagnosticsWatch
    except ImportError:
        return None
    return stack.enter_context(DiagnosticsWatch())
