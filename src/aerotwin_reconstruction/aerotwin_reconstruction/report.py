# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality figures of a reconstruction, and errors of poses and cloud if ground truth exists."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.parameters import load_parameters
from aerotwin_core.rms import rms
from aerotwin_reconstruction.accuracy import accuracy
from aerotwin_reconstruction.bundle.align import PhotoAlignment
from aerotwin_reconstruction.dense.fusion import DenseCloud
from aerotwin_reconstruction.survey.camera import SurveyCamera
from aerotwin_reconstruction.survey.folder import RECORD, read_record
from aerotwin_worlds import World


def alignment_record(alignment: PhotoAlignment) -> dict[str, Any]:
    """Return the consistency of the pictures, as plain JSON types."""
    tracks = alignment.tracks
    return {
        "n_pictures": len(alignment.photos),
        "n_tied": int(alignment.is_tied.sum()),
        "n_points": len(alignment.points),
        "n_observations": len(tracks.picture),
        "reprojection_rms_px": alignment.reprojection_rms_px,
        "focal_px": float(alignment.lens[0]),
        "centre_px": alignment.lens[1:3].tolist(),
        "radial": alignment.lens[3:].tolist(),
    }


def pose_errors(alignment: PhotoAlignment, truth: dict[str, np.ndarray]) -> dict[str, Any] | None:
    """Return the errors of the poses of tied pictures; None without truth.

    There is no alignment: GNSS georeferences the map, and its error counts. `truth` holds the true
    T_map_optical by the name of the picture.
    """
    known = [
        k for k, photo in enumerate(alignment.photos)
        if photo.name in truth and alignment.is_tied[k]
    ]  # fmt: skip
    if not known:
        return None
    true = np.stack([truth[alignment.photos[k].name] for k in known])
    found = alignment.T_map_optical[known]
    off = found[:, :3, 3] - true[:, :3, 3]
    turned = np.swapaxes(true[:, :3, :3], 1, 2) @ found[:, :3, :3]
    angle_deg = np.degrees(Rotation.from_matrix(turned).magnitude())
    size = np.linalg.norm(off, axis=1)
    return {
        "n": len(known),
        "position_rmse_m": rms(size),
        "position_max_m": float(size.max()),
        "position_mean_m": off.mean(axis=0).tolist(),
        "angle_rmse_deg": rms(angle_deg),
        "angle_max_deg": float(angle_deg.max()),
    }


def cloud_accuracy(
    cloud: DenseCloud, world: World, survey: Path, truth: dict[str, np.ndarray], voxel_m: float
) -> dict[str, Any]:
    """Return the accuracy of a cloud against the world of a simulated survey.

    Raises UserError if the survey's folder does not hold the true poses, its camera or its area.
    """
    record = read_record(survey)
    try:
        camera = load_parameters(SurveyCamera, record["camera"], where=f"{survey / RECORD}")
        x0, y0, x1, y1 = (float(value) for value in record["area_m"])
        line = record["route"]["points_m"] if "route" in record else None
        route_m = None if line is None else np.array(line, float).reshape(-1, 2)
        if not truth:
            raise ValueError("no true poses")
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{survey}: no simulated survey to compare with ({error}); leave --against out"
        ) from None
    return accuracy(
        cloud.points, world, truth, camera.model_camera(),
        voxel_m=voxel_m, area_m=(x0, y0, x1, y1), route_m=route_m,
    )  # fmt: skip
