# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Take the pictures of a survey in a world, and write its folder."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from aerotwin_core.cli import write_json
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import to_mapping
from aerotwin_reconstruction.survey.camera import SurveyCamera
from aerotwin_reconstruction.survey.flight import CapturedShot, ExifGnssNoise
from aerotwin_reconstruction.survey.folder import IMAGES, RECORD, TRUTH, write_poses
from aerotwin_reconstruction.survey.photo import PhotoTag, write_photo
from aerotwin_rendering import CameraView, Rasteriser
from aerotwin_worlds import World

_TAKE_OFF = datetime.datetime(2026, 6, 1, 10, 0, 0)  # a date of its own: no clock is asked


def photograph(
    world: World,
    taken: Sequence[CapturedShot],
    camera: SurveyCamera,
    gnss: ExifGnssNoise,
    folder: Path,
    *,
    record: dict,
    on_picture: Callable[[], object] = lambda: None,
) -> None:
    """Render and write every picture, then the truth, and last the record.

    `gnss` is the error that the receiver reports, `record` the content of `survey.json`.
    `on_picture` is called after each picture.
    """
    rasteriser = Rasteriser(world.meshes)
    plane = LocalTangentPlane(world.origin)
    lens = camera.model_camera()
    names = []
    for i, shot in enumerate(taken):
        view = CameraView(
            camera=lens, T_map_optical=shot.T_map_optical, encoding="rgb8", depth=False
        )
        image = rasteriser.render([view])[0].image
        assert image is not None
        names.append(f"shot_{i:04d}.jpg")
        tag = _tag(shot, camera, gnss, plane)
        write_photo(folder / IMAGES / names[-1], image, camera, tag)
        on_picture()
    write_poses(folder / TRUTH, names, [shot.T_map_optical for shot in taken])
    content = {
        "origin": asdict(world.origin),
        "n_pictures": len(names),
        "camera": to_mapping(camera),
    }
    write_json(str(folder / RECORD), content | {"world": world.credits} | record)


def _tag(
    shot: CapturedShot, camera: SurveyCamera, gnss: ExifGnssNoise, plane: LocalTangentPlane
) -> PhotoTag:
    latitude, longitude, altitude = plane.to_geodetic(shot.p_map_gnss)
    time = _TAKE_OFF + datetime.timedelta(seconds=shot.stamp_s)
    return PhotoTag(
        position=GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude),
        horizontal_m=float(np.hypot(gnss.horizontal_m, gnss.bias_m)),
        vertical_m=float(np.hypot(gnss.vertical_m, gnss.bias_m)),
        R_enu_optical=shot.R_map_optical_reported,
        focal_px=camera.focal_px,
        width_px=camera.width_px,
        height_px=camera.height_px,
        stamp=time.strftime("%Y:%m:%d %H:%M:%S") + f".{time.microsecond // 1000:03d}",
    )
