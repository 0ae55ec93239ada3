# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of stella_vslam: one camera, two that it rectifies, or one with depth."""

from pathlib import Path
from typing import Any

from aerotwin_datasets.calibration import DEPTH_PER_METRE, CalibratedCamera, DatasetCalibration
from aerotwin_datasets.manifest import yaml_text
from aerotwin_datasets.settings.orb_slam import FAR_BASELINES, RGBD_BASELINE_M
from aerotwin_datasets.stereo_rectification import rectified_pair

_COMMON: dict[str, Any] = {
    "Preprocessing": {"min_size": 800},
    "Feature": {
        "name": "ORB", "scale_factor": 1.2, "num_levels": 8, "ini_fast_threshold": 20,
        "min_fast_threshold": 7,
    },
    "Initializer": {"min_num_triangulated_pts": 100},
}  # fmt: skip


def write_stella(place: Path, calibration: DatasetCalibration) -> None:
    """Write `mono.yaml`, of two cameras `stereo.yaml`, with depth `rgbd.yaml`."""
    first = calibration.cameras[0]
    _write(place / "mono.yaml", {"Camera": _camera(first, "monocular")})
    if calibration.has_depth:
        with_depth = {
            **_camera(first, "RGBD"),
            "focal_x_baseline": first.intrinsics[0] * RGBD_BASELINE_M,
            "depth_threshold": FAR_BASELINES,
        }
        steps = {**_COMMON["Preprocessing"], "depthmap_factor": DEPTH_PER_METRE}
        _write(place / "rgbd.yaml", {"Camera": with_depth, "Preprocessing": steps})
    pair = calibration.cameras[:2]
    rectified = rectified_pair(*pair) if len(pair) > 1 else None
    if rectified is not None:
        (R1, P1), (R2, P2) = rectified
        fx, fy, cx, cy = (float(value) for value in (P1[0, 0], P1[1, 1], P1[0, 2], P1[1, 2]))
        plain = dict.fromkeys(("k1", "k2", "p1", "p2", "k3"), 0.0)
        camera = {
            **_camera(first, "stereo"), "model": "perspective", "fx": fx, "fy": fy, "cx": cx,
            "cy": cy, **plain, "focal_x_baseline": -float(P2[0, 3]),
            "depth_threshold": FAR_BASELINES,
        }  # fmt: skip
        camera.pop("k4", None)
        rectifier: dict[str, Any] = {"model": "fisheye" if first.is_fisheye else "perspective"}
        for side, each, R in zip(("left", "right"), pair, (R1, R2), strict=True):
            D = each.coefficients if each.is_fisheye else [*each.coefficients, 0.0][:5]
            rectifier |= {
                f"K_{side}": each.lens.matrix.ravel().tolist(),
                f"D_{side}": D,
                f"R_{side}": R.ravel().tolist(),
            }
        baseline = {"Mapping": {"baseline_dist_thr": calibration.baseline_m}}
        stereo = {"Camera": camera, "StereoRectifier": rectifier}
        _write(place / "stereo.yaml", stereo | baseline)


def link_images(place: Path, dataset: Path) -> None:
    """Link the images of an EuRoC data set to names that are stamps without leading zeros.

    Its `run_euroc_slam` makes a name from the number in data.csv and does not read the name there.
    """
    up = Path(*[".."] * (len(place.relative_to(dataset).parts) + 2))
    for camera in sorted((dataset / "mav0").glob("cam[0-9]")):
        data = place / "mav0" / camera.name / "data"
        data.mkdir(parents=True)
        data.with_name("data.csv").symlink_to(up / "mav0" / camera.name / "data.csv")
        for image in camera.joinpath("data").iterdir():
            name = f"{int(image.stem)}{image.suffix}"
            data.joinpath(name).symlink_to(up / ".." / "mav0" / camera.name / "data" / image.name)


def _camera(camera: CalibratedCamera, setup: str) -> dict[str, Any]:
    names = ("k1", "k2", "k3", "k4") if camera.is_fisheye else ("k1", "k2", "p1", "p2", "k3")
    coefficients = [*camera.coefficients, 0.0][: len(names)]
    return {
        "name": camera.name,
        "setup": setup,
        "model": "fisheye" if camera.is_fisheye else "perspective",
        **dict(zip(("fx", "fy", "cx", "cy"), camera.intrinsics, strict=True)),
        **dict(zip(names, coefficients, strict=True)),
        "fps": camera.rate_hz,
        "cols": camera.lens.width,
        "rows": camera.lens.height,
        "color_order": "RGB" if camera.is_colour else "Gray",
    }


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(yaml_text(_COMMON | content), encoding="utf-8")
