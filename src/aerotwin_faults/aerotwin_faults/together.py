# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Several faults at one place at once: what they do together at an instant."""

from collections.abc import Iterator, Sequence
from math import hypot
from typing import Any

import numpy as np

from aerotwin_faults.fault import ActiveFault, Moment
from aerotwin_faults.navigation import NO_SHIFT, GnssError, Pose
from aerotwin_faults.rotors import RotorHealth
from aerotwin_faults.scanners import Echoes


def change_reading(faults: Sequence[ActiveFault], reading: np.ndarray, stamp_ns: int) -> bool:
    """Change a reading in place, one fault after the other; return whether there still is one.

    The reading is as `ReadingEffect` says.
    """
    is_there = True
    for effect, moment in _acting(faults, stamp_ns):
        is_there = effect.change(reading, moment) and is_there
    return is_there


def gnss_error(faults: Sequence[ActiveFault], stamp_ns: int) -> GnssError:
    """Return the error of a GNSS reading: shifts add up, and so do variances."""
    total = GnssError(NO_SHIFT, NO_SHIFT)
    for effect, moment in _acting(faults, stamp_ns):
        one: GnssError = effect.error(moment)
        total = GnssError(
            total.shift_m + one.shift_m,
            total.shift_m_s + one.shift_m_s,
            hypot(total.noise_m, one.noise_m),
            hypot(total.noise_m_s, one.noise_m_s),
            has_fix=total.has_fix and one.has_fix,
        )
    return total


def changed_pose(faults: Sequence[ActiveFault], pose: Pose, stamp_ns: int) -> Pose | None:
    """Return a pose after one fault after the other; None if one of them drops it."""
    for effect, moment in _acting(faults, stamp_ns):
        changed: Pose | None = effect.changed(pose, moment)
        if changed is None:
            return None
        pose = changed
    return pose


def link_delay_s(faults: Sequence[ActiveFault], stamp_ns: int) -> float | None:
    """Return how much later a message that is sent now arrives [s]; None if it is lost."""
    total_s = 0.0
    for effect, moment in _acting(faults, stamp_ns):
        delay_s = effect.delay_s(moment)
        if delay_s is None:
            return None
        total_s += delay_s
    return total_s


def added_wind(
    faults: Sequence[ActiveFault], p_map: np.ndarray, height_m: float, stamp_ns: int
) -> np.ndarray:
    """Return the added velocity of the air (3,) [m/s] in map axes, as `AirEffect` says."""
    wind_map = np.zeros(3)
    for effect, moment in _acting(faults, stamp_ns):
        wind_map += effect.wind_map(p_map, height_m, moment)
    return wind_map


def rotor_health(faults: Sequence[ActiveFault], stamp_ns: int) -> dict[int, RotorHealth]:
    """Return the condition of the rotors that are not sound, by their number.

    Shares multiply, imbalances add up (as if they were in one direction).
    """
    found: dict[int, RotorHealth] = {}
    for effect, moment in _acting(faults, stamp_ns):
        one: RotorHealth = effect.health(moment)
        before = found.get(effect.rotor, RotorHealth())
        found[effect.rotor] = RotorHealth(
            before.speed_share * one.speed_share,
            before.thrust_share * one.thrust_share,
            before.imbalance_kg_m + one.imbalance_kg_m,
            is_jammed=before.is_jammed or one.is_jammed,
        )
    return found


def lost_cells(faults: Sequence[ActiveFault], stamp_ns: int) -> float:
    """Return how many cells of the battery are lost."""
    return sum(effect.lost_cells(moment) for effect, moment in _acting(faults, stamp_ns))


def lit_image(
    faults: Sequence[ActiveFault], image: np.ndarray, eye: str, stamp_ns: int
) -> tuple[np.ndarray, float]:
    """Return the light of an image, and what the light of the scene is multiplied by.

    The image and the eye are as `CameraEffect` says.
    """
    factor = 1.0
    for effect, moment in _acting_on(faults, eye, stamp_ns):
        image = effect.light(image, eye, moment)
        factor *= effect.light_factor(moment)
    return image, factor


def found_depth(
    faults: Sequence[ActiveFault], depth: np.ndarray, eye: str, stamp_ns: int
) -> np.ndarray:
    """Return what is found of measured depth, as `CameraEffect` says."""
    for effect, moment in _acting_on(faults, eye, stamp_ns):
        depth = effect.depth(depth, eye, moment)
    return depth


def sent_picture(
    faults: Sequence[ActiveFault], picture: np.ndarray, eye: str, kind: str, stamp_ns: int
) -> np.ndarray:
    """Return what is sent instead of a picture, as `CameraEffect` says."""
    for effect, moment in _acting_on(faults, eye, stamp_ns):
        picture = effect.sent(picture, eye, kind, moment)
    return picture


def frame_delay_s(
    faults: Sequence[ActiveFault], eye: str, name: str, stamp_ns: int
) -> float | None:
    """Return how much later an eye's images of a frame are sent [s]; None if never.

    `name` is that of the camera, as `CameraEffect` says.
    """
    total_s = 0.0
    for effect, moment in _acting_on(faults, eye, stamp_ns):
        delay_s = effect.delay_s(stamp_ns, name, moment)
        if delay_s is None:
            return None
        total_s += delay_s
    return total_s


def is_silent(faults: Sequence[ActiveFault], stamp_ns: int) -> bool:
    """Return whether a lidar or radar sends nothing of the turn of a stamp [ns]."""
    return any(effect.is_silent for effect, _ in _acting(faults, stamp_ns))


def met_echoes(
    faults: Sequence[ActiveFault], echoes: Echoes, directions_map: np.ndarray, stamp_ns: int
) -> Echoes:
    """Return what the beams of a lidar meet, as `ScannerEffect` says."""
    for effect, moment in _acting(faults, stamp_ns):
        echoes = effect.echoes(echoes, directions_map, stamp_ns, moment)
    return echoes


def _acting_on(
    faults: Sequence[ActiveFault], eye: str, stamp_ns: int
) -> Iterator[tuple[Any, Moment]]:
    for effect, moment in _acting(faults, stamp_ns):
        if effect.camera in ("", eye):
            yield effect, moment


def _acting(faults: Sequence[ActiveFault], stamp_ns: int) -> Iterator[tuple[Any, Moment]]:
    for fault in faults:
        moment = fault.moment(stamp_ns)
        if moment is not None:
            yield fault.effect, moment
