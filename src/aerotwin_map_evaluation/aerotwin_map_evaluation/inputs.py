# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Inputs of an evaluation: transforms, true poses, field of view, start, and observed part."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.bag.metadata import is_storage_file
from aerotwin_core.camera import PinholeCamera
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform, rotation_from_quaternion
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.limits import check_is_file
from aerotwin_core.text_lines import text_lines
from aerotwin_map_evaluation.observed import CameraFieldOfView, FieldOfView, InView
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.reference import MapReference
from aerotwin_map_evaluation.surface import SurfaceReference
from aerotwin_registration import T_reference_estimate_from_origins
from aerotwin_voxel_cloud import MapInput, TriangleSurface

# Optical axes (z forward, x right) in body axes (x forward, y left, z up).
R_BODY_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_ROTATION_TOLERANCE = 1e-3
# Of poses, which are often written with few digits.
_POSE_TOLERANCE = 1e-2
_MAX_TEXT_BYTES = 512 << 20
_N_TUM, _N_KITTI = 8, 12


def reference_of(
    reference: MapInput, beside: MapInput | None
) -> tuple[SurfaceReference | None, np.ndarray | None]:
    """Return the surface of a reference, or its points, or both with a separate surface.

    Raises `UserError` if the separate input has no triangles, or the reference already has them.
    """
    if isinstance(reference.content, TriangleSurface):
        if beside is not None:
            raise UserError(f"{reference.spec} is a surface already; leave out --surface")
        return _surface(reference.content), None
    if beside is None:
        return None, reference.points
    if not isinstance(beside.content, TriangleSurface):
        raise UserError(f"--surface {beside.spec}: has no triangles; give a world or a mesh")
    return _surface(beside.content), reference.points


def points_of(estimate: MapInput, spacing_m: float) -> MapInput:
    """Return a map as points: the surface of a mesh is sampled evenly by area, and a note says so.

    The samples are spacing_m apart [m], or wider where they would be more than `MAX_SAMPLES`.
    """
    if not isinstance(estimate.content, TriangleSurface):
        return estimate
    surface = _surface(estimate.content)
    points = surface.samples(spacing_m)
    spacing_m = np.sqrt(surface.sample_area_m2(spacing_m))
    note = f"a mesh: judged by {len(points)} samples of its surface, one per ({spacing_m:.3g} m)^2"
    return replace(estimate, content=points, notes=(*estimate.notes, note))


def _surface(content: TriangleSurface) -> SurfaceReference:
    return SurfaceReference(content.vertices, content.triangles)


def read_transform(path: str | Path, *, with_scale: bool = False) -> np.ndarray:
    """Return a rigid transform (4, 4) of a text file of 16 or 12 numbers, row by row.

    `with_scale` also accepts a similarity: scale times rotation, and a shift.

    Raises `UserError` if the file is missing, or is not a rotation with a shift.
    """
    numbers = _table(path, "a transform").ravel()
    if len(numbers) not in (12, 16):
        raise UserError(f"{path}: expected 16 or 12 numbers (4x4 or 3x4), found {len(numbers)}")
    T = np.vstack([numbers[:12].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
    last = numbers[12:]
    R = T[:3, :3]
    scale = np.cbrt(max(np.linalg.det(R), 0.0)) if with_scale else 1.0
    is_affine = len(last) == 0 or np.allclose(last, T[3])
    if not scale > 0.0 or not _are_rotations(R / scale, _ROTATION_TOLERANCE) or not is_affine:
        raise UserError(
            f"{path}: expected a rotation and a shift, found\n{T}\n"
            "a scale is taken by --initial with --scale; shear and mirrors are not"
        )
    return T


def similarity_of_result(spec: str | Path) -> np.ndarray:
    """Return the similarity (4, 4) that laid an evaluated trajectory onto its reference.

    `spec` is a result of `aerotwin evaluate trajectory` or `evaluate bag` (`--json` FILE,
    `metrics.json`, or its folder); of several estimates FILE:NAME. A map of the same SLAM is in the
    same frame, and is laid onto the reference by it.

    Raises `UserError` if there is no alignment, or it is not determined.
    """
    path, _, name = (str(spec), "", "") if Path(spec).exists() else str(spec).rpartition(":")
    file = Path(path) / "metrics.json" if Path(path).is_dir() else Path(path)
    try:
        check_is_file(file)
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: no result of a trajectory can be read: {error}") from None
    each = document if isinstance(document, dict) else {}
    parts: Any = each.get("sections", each.get("estimates", {}))
    parts = {"": each} if "alignment" in each else parts
    found = {
        key: part
        for key, part in (parts.items() if isinstance(parts, dict) else ())
        if isinstance(part, dict) and {"alignment", "start", "ape"} <= part.keys()
    }
    name = name or next(iter(found), "")
    if name not in found or (len(found) > 1 and not str(spec).endswith(f":{name}")):
        names = ", ".join(found) or "none"
        raise UserError(
            f"--initial-from {spec}: expected the result of one trajectory, found {names}; "
            "name one of several as FILE:NAME"
        )
    try:
        fit, T_start = found[name]["alignment"], found[name]["start"]["T_reference_estimate"]
        is_determined, scale = bool(fit["is_determined"]), float(fit["scale"])
        T_fit, T_start = np.array([fit["T_reference_estimate"], T_start], dtype=np.float64)
        are_good = _are_rotations(np.stack([T_fit, T_start])[:, :3, :3], _ROTATION_TOLERANCE)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UserError(f"{file}: its alignment cannot be read: {error}") from None
    if T_fit.shape != (4, 4) or not are_good or not 0.0 < scale < np.inf:
        raise UserError(f"{file}: its alignment must be a rotation, a shift and a scale above 0")
    if not is_determined:
        raise UserError(f"--initial-from {spec}: that alignment is not determined: {fit['reason']}")
    T_scaled = T_fit @ np.diag([scale, scale, scale, 1.0])
    return T_scaled @ T_start


def read_poses(spec: str) -> np.ndarray:
    """Return true poses (k, 4, 4) of a TUM or KITTI text file, or of a bag: `BAG:TOPIC`.

    Raises `UserError` if there are none, or they are not rotations.
    """
    name, _, topic = spec.partition(":")
    if Path(name).is_dir() or is_storage_file(Path(name)):
        if not topic:
            raise UserError(f"--poses {spec}: name the topic, as {spec}:/truth/odom")
        return BagReader(Path(name)).poses(topic).trajectory.transforms()
    table = _table(spec, "poses")
    if table.shape[1] == _N_KITTI:
        T = np.tile(np.eye(4), (len(table), 1, 1))
        T[:, :3] = table.reshape(-1, 3, 4)
        if not _are_rotations(T[:, :3, :3], _POSE_TOLERANCE):
            raise UserError(
                f"{spec}: twelve columns (KITTI) must hold rotations, these do not (scaled, "
                "sheared or mirrored)"
            )
        return T
    if table.shape[1] != _N_TUM:
        raise UserError(
            f"{spec}: expected 8 columns (TUM: time x y z qx qy qz qw) or 12 (KITTI), found "
            f"{table.shape[1]}"
        )
    if not (np.abs(np.linalg.norm(table[:, 4:], axis=1) - 1.0) < _POSE_TOLERANCE).all():
        raise UserError(f"{spec}: the last four columns must be unit quaternions x y z w")
    return np.array([make_transform(rotation_from_quaternion(r[4:]), r[1:4]) for r in table])


def _are_rotations(R: np.ndarray, tolerance: float) -> bool:
    """Return whether matrices (..., 3, 3) are rotations: orthonormal and not mirrored."""
    is_orthonormal = np.allclose(R @ np.swapaxes(R, -1, -2), np.eye(3), atol=tolerance)
    return is_orthonormal and bool((np.linalg.det(R) > 0.0).all())


def _table(path: str | Path, what: str) -> np.ndarray:
    path = Path(path)
    if not path.exists() or path.is_dir():
        raise UserError(f"{path}: no such file; give {what}")
    try:
        lines = text_lines(path, max_bytes=_MAX_TEXT_BYTES)
        table = np.loadtxt(lines, dtype=np.float64, comments="#", ndmin=2)
    except ValueError as error:
        raise UserError(f"{path}: not a table of numbers: {error}") from None
    if table.size == 0 or not np.isfinite(table).all():
        raise UserError(f"{path}: expected finite numbers for {what}; found none, NaN or infinity")
    return table


def view_of(camera: list[float] | None, lidar: list[float] | None) -> tuple[InView, np.ndarray]:
    """Return a sensor's view, and its rotation (3, 3) relative to a body x forward, z up.

    `camera` is width, height, fx, fy, cx, cy [pixel], looking along x; `lidar` the lower and upper
    elevation [deg], all around.
    """
    try:
        if camera is not None:
            width, height, fx, fy, cx, cy = camera
            model = PinholeCamera(width=int(width), height=int(height), fx=fx, fy=fy, cx=cx, cy=cy)
            return CameraFieldOfView(model), R_BODY_OPTICAL
        if lidar is not None:
            return FieldOfView(lower_deg=lidar[0], upper_deg=lidar[1]), np.eye(3)
    except ValueError as error:
        raise UserError(f"the sensor's view: {error}") from None
    raise UserError(
        "--poses needs what the sensor saw: --camera WIDTH HEIGHT FX FY CX CY, or "
        "--lidar LOWER_DEG UPPER_DEG"
    )


def start_of(
    reference: GeodeticPoint | None,
    estimate: GeodeticPoint | None,
    *,
    initial: str | None,
    initial_from: str | None = None,
    origin: str | None,
    reference_origin: str | None,
    with_scale: bool,
) -> np.ndarray | None:
    """Return the initial T_reference_estimate: of a file or result, else from geodetic origins.

    `reference` and `estimate` are the origins in the files, `initial`, `initial_from`, `origin` and
    `reference_origin` the options; `with_scale` allows a scale in --initial, a result may have one.

    Raises `UserError` if one origin is provided and the other one is unknown.
    """
    if initial_from is not None:
        if (initial, origin) != (None, None):
            raise UserError("--initial-from is a start: leave out --initial, --origin")
        return similarity_of_result(initial_from)
    if initial is not None:
        if origin is not None:
            raise UserError("--initial and --origin both say where the map begins: give one")
        return read_transform(initial, with_scale=with_scale)
    estimate = estimate if origin is None else geodetic_point(origin)
    if reference_origin is not None:
        reference = geodetic_point(reference_origin)
    if reference is None or estimate is None:
        if (origin, reference_origin) != (None, None):
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
    reference: MapReference,
    protocol: MapProtocol,
    *,
    poses: str | None,
    camera: list[float] | None,
    lidar: list[float] | None,
    mount: str | None,
) -> np.ndarray | None:
    """Return the samples of the reference seen from the true poses; None without poses.

    `camera` and `lidar` are those of `view_of`, `mount` is a file of T_body_sensor.

    Raises `UserError` if nothing of the reference was seen.
    """
    if poses is None:
        return None
    in_view, R_body_sensor = view_of(camera, lidar)
    if mount is None:
        T_body_sensor = make_transform(R_body_sensor, np.zeros(3))
    else:
        T_body_sensor = read_transform(mount)
    seen = reference.seen_from(read_poses(poses) @ T_body_sensor, in_view, protocol)
    if len(seen) == 0:
        raise UserError(
            f"--poses {poses}: nothing of the reference is in view within "
            f"{protocol.observed_range_m:g} m; are they in the reference's frame, and is the "
            "sensor's view right?"
        )
    return seen
