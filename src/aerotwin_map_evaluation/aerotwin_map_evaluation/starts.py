# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Start pose of a map and observed part of the reference, from the command's arguments."""

import argparse

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_map_evaluation.inputs import read_poses, read_transform, view_of
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_registration import T_reference_estimate_from_origins


def start_of(
    args: argparse.Namespace,
    reference: GeodeticPoint | None,
    estimate: GeodeticPoint | None,
    *,
    with_scale: bool,
) -> np.ndarray | None:
    """Return the initial T_reference_estimate: of --initial, else from geodetic origins.

    `reference` and `estimate` are the origins in the files; `with_scale` allows a scale in
    --initial.

    Raises `UserError` if one origin is provided and the other one is unknown.
    """
    if args.initial is not None:
        if args.origin is not None:
            raise UserError("--initial and --origin both say where the map begins: give one")
        return read_transform(args.initial, with_scale=with_scale)
    asked = args.origin is not None or args.reference_origin is not None
    estimate = estimate if args.origin is None else geodetic_point(args.origin)
    if args.reference_origin is not None:
        reference = geodetic_point(args.reference_origin)
    if reference is None or estimate is None:
        if asked:
            lacking = "--reference-origin" if reference is None else "--origin"
            raise UserError(f"both frames need their place on Earth: give {lacking} too")
        return None
    return T_reference_estimate_from_origins(reference, estimate)


def geodetic_point(text: str) -> GeodeticPoint:
    """Return the point of ``LAT,LON`` or ``LAT,LON,ALT`` [deg, m].

    Raises `UserError` if the text is not such a point.
    """
    try:
        numbers = [float(part) for part in text.split(",")]
        if len(numbers) not in (2, 3):
            raise ValueError(f"{len(numbers)} numbers")
        return GeodeticPoint(
            latitude_deg=numbers[0], longitude_deg=numbers[1], altitude_m=sum(numbers[2:])
        )
    except ValueError as error:
        raise UserError(
            f"expected LAT,LON or LAT,LON,ALT in degrees and metres, found {text!r} ({error})"
        ) from None


def observed_by(
    args: argparse.Namespace, reference: MapReference, protocol: MapProtocol
) -> np.ndarray | None:
    """Return the samples of the reference seen from the true poses; None without poses.

    Raises `UserError` if nothing of the reference was seen.
    """
    if args.poses is None:
        return None
    in_view, R_body_sensor = view_of(args.camera, args.lidar)
    if args.mount is None:
        T_body_sensor = make_transform(R_body_sensor, np.zeros(3))
    else:
        T_body_sensor = read_transform(args.mount)
    seen = reference.seen_from(read_poses(args.poses) @ T_body_sensor, in_view, protocol)
    if len(seen) == 0:
        raise UserError(
            f"--poses {args.poses}: nothing of the reference is in view within "
            f"{protocol.observed_range_m:g} m; are they in the reference's frame, and is the "
            "sensor's view right?"
        )
    return seen
