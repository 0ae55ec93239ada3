# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Data sets in the layout of EuRoC (ASL) and TUM-VI, of this workspace and of others.

DatasetCalibration is read from `sensor.yaml` of each sensor; where a camera has none (TUM-VI), from
Kalibr's `dso/camchain.yaml` and `dso/imu_config.yaml`. Without `aerotwin.yaml` the body becomes
`base_link`, and two cameras become the stereo pair of this workspace.
"""

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import listed, shown
from aerotwin_core.frames import invert_transform
from aerotwin_datasets.bag_maker import Dataset, DatasetCamera, DatasetImu, DatasetTruth
from aerotwin_datasets.calibration import MODELS
from aerotwin_datasets.euroc_writer import MOCAP, STATES
from aerotwin_datasets.manifest import (
    NAME,
    OTHER_TOPICS,
    DatasetManifest,
    pose_of_entry,
)
from aerotwin_datasets.recording import IMU_RAW, ImuNoise
from aerotwin_datasets.stereo_rectification import rectification
from aerotwin_datasets.tables import numbers, once, read_sheet, rows, stamp_of, transform, vector

_SAME = 1e-9
"""Between a mounting in a sheet and the one in aerotwin.yaml: rounding of a product."""
_POSE, _STATE = 7, 16
_IN_MAV = "give the folder that holds mav0"
_KALIBR = {"radtan": "plumb_bob", "equidistant": "equidistant", "none": "plumb_bob"}
_FROM_SHEET = {name: model for model, name in MODELS.items()} | {"radtan": "plumb_bob"}


def open_euroc(
    folder: Path, manifest: DatasetManifest | None, *, skip_missing: bool = False
) -> Dataset:
    """Return a data set; tables are read when a bag is made of it.

    Raises `UserError`, naming file and line, if it is none.
    """
    mav = folder if (folder / "cam0").is_dir() else folder / "mav0"
    if not mav.is_dir():
        found = listed(sorted(path.name for path in folder.iterdir())) or "nothing"
        raise UserError(f"{folder}: expected mav0, found {found}; {_IN_MAV}")
    others = folder / OTHER_TOPICS
    dataset = Dataset(others=BagReader(others) if manifest and others.is_dir() else None)
    if manifest is not None:
        dataset.gravity_m_s2 = manifest.gravity_m_s2
    T_base_body = np.eye(4)
    if (mav / "imu0").is_dir():
        dataset.imu, T_base_imu, T_base_body = _imu(mav / "imu0", manifest)
        dataset.mountings.append((dataset.imu.frame_id, T_base_imu))
    elif manifest and manifest.imu:
        raise UserError(f"{mav / 'imu0'}: is missing, {folder / NAME} names it; copy it")
    names = sorted(path.name for path in mav.glob("cam*") if path.is_dir())
    if manifest is not None and sorted(manifest.cameras) != names:
        raise UserError(
            f"{folder / NAME}: names {listed(manifest.cameras)}, found {listed(names)}; "
            f"copy the whole folder, or remove {NAME}"
        )
    sheets = {name: _camera_sheet(mav, name) for name in names}
    for name in names:
        _add_camera(dataset, mav, name, sheets, manifest, T_base_body, skip_missing)
    if not dataset.cameras and dataset.imu is None:
        raise UserError(f"{mav}: neither cam0 nor imu0 is there; {_IN_MAV}")
    dataset.truth = _truth(mav, T_base_body, dataset.problems)
    return dataset


def _imu(
    place: Path, manifest: DatasetManifest | None
) -> tuple[DatasetImu, np.ndarray, np.ndarray]:
    """Return the IMU of a folder, T_base_imu and T_base_body."""
    sheet, where = _imu_sheet(place)
    noise = None
    if sheet is not None:
        names = ImuNoise.__dataclass_fields__
        noise = ImuNoise(**{name: _positive(sheet, name, where) for name in names})
    T_body_imu = np.eye(4)
    if sheet is not None and "T_BS" in sheet:
        T_body_imu = transform(sheet["T_BS"], f"{where}: T_BS")
    entry = dict(manifest.imu) if manifest else {}
    T_base_imu = T_body_imu
    if entry:
        T_base_imu = pose_of_entry(entry.get("T_base_imu"), f"{NAME}: imu: T_base_imu")
    covariances = {key: vector(entry, key, NAME, 9) for key in entry if key.endswith("_covariance")}
    known = DatasetImu.__dataclass_fields__
    imu = DatasetImu(
        topic=str(entry.get("topic", IMU_RAW)),
        frame_id=str(entry.get("frame_id", "imu_link")),
        readings=partial(numbers, place / "data.csv", 6),
        noise=noise,
        **{key: value for key, value in covariances.items() if key in known},
    )
    return imu, T_base_imu, T_base_imu @ invert_transform(T_body_imu)


def _add_camera(
    dataset: Dataset,
    mav: Path,
    name: str,
    sheets: dict[str, dict[str, Any]],
    manifest: DatasetManifest | None,
    T_base_body: np.ndarray,
    skip_missing: bool,
) -> None:
    sheet = sheets[name]
    T_base_optical = T_base_body @ sheet["T_body_optical"]
    names = list(sheets)
    is_pair = len(names) == 2
    side = ("left", "right")[names.index(name)] if is_pair else ""
    space = f"/stereo/{side}" if is_pair else f"/{name}"
    entry = dict(manifest.cameras[name]) if manifest else {}
    if entry:
        recorded = pose_of_entry(entry.get("T_base_optical"), f"{NAME}: {name}: T_base_optical")
        if np.abs(recorded - T_base_optical).max() > _SAME:
            raise UserError(
                f"{mav / name / 'sensor.yaml'}: T_BS differs from {NAME}, which would be restored; "
                f"to take the files alone, remove {NAME}"
            )
        T_base_optical = recorded
    R, P = np.eye(3), np.column_stack([sheet["K"], np.zeros(3)])
    if is_pair:
        R, P = rectification([sheets[each] for each in names])[names.index(name)]
    frame = str(entry.get("frame_id", f"stereo_{side}_optical" if is_pair else f"{name}_optical"))
    dataset.cameras.append(
        DatasetCamera(
            topic=str(entry.get("topic", f"{space}/image_raw")),
            info_topic=str(entry.get("info_topic", f"{space}/camera_info")),
            frame_id=frame,
            encoding=str(entry.get("encoding", "")),
            pictures=_pictures(mav / name, skip_missing, dataset.problems),
            width=sheet["width"],
            height=sheet["height"],
            model=sheet["model"],
            D=sheet["D"],
            K=sheet["K"],
            R=R,
            P=P,
        )
    )
    dataset.mountings.append((frame, T_base_optical))


def _camera_sheet(mav: Path, name: str) -> dict[str, Any]:
    """Return width, height, K, model, D and T_body_optical of a camera."""
    path, chain = mav / name / "sensor.yaml", mav.parent / "dso" / "camchain.yaml"
    if path.is_file() or not chain.is_file():
        sheet, where, models = read_sheet(path), str(path), _FROM_SHEET
        T = transform(sheet.get("T_BS"), f"{where}: T_BS")
        coefficients = "distortion_coefficients"
    else:
        whole = read_sheet(chain)
        found, where, models = whole.get(name), f"{chain}: {name}", _KALIBR
        if not isinstance(found, dict):
            raise UserError(f"{where}: is missing; it holds {listed(whole)}")
        sheet = found
        T = invert_transform(transform(sheet.get("T_cam_imu"), f"{where}: T_cam_imu"))
        coefficients = "distortion_coeffs"
    kind = sheet.get("camera_model", "pinhole")
    if kind != "pinhole":
        raise UserError(f"{where}: camera_model: expected pinhole, found {shown(kind)}")
    model = models.get(str(sheet.get("distortion_model", "")))
    if model is None:
        raise UserError(
            f"{where}: distortion_model: expected {', '.join(models)}, found "
            f"{shown(sheet.get('distortion_model'))}"
        )
    width, height = vector(sheet, "resolution", where, 2)
    fx, fy, cx, cy = vector(sheet, "intrinsics", where, 4)
    if min(fx, fy) <= 0.0 or not 1.0 <= min(width, height) <= max(width, height) < 65536.0:
        raise UserError(f"{where}: expected positive focal lengths and resolution")
    D = vector(sheet, coefficients, where, 4, 5)
    return {
        "width": int(width),
        "height": int(height),
        "K": np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]]),
        "model": model,
        "D": D + [0.0] * (5 - len(D)) if model == "plumb_bob" else D,
        "T_body_optical": T,
    }


def _imu_sheet(place: Path) -> tuple[dict[str, Any] | None, Path]:
    other = place.parent.parent / "dso" / "imu_config.yaml"
    for path in (place / "sensor.yaml", other):
        if path.is_file():
            return read_sheet(path), path
    return None, place / "sensor.yaml"


def _positive(sheet: dict[str, Any], key: str, where: Path) -> float:
    (value,) = vector({key: [sheet.get(key)]}, key, where, 1)
    if value < 0.0:
        raise UserError(f"{where}: {key}: expected 0 at least, found {value}")
    return value


def _pictures(place: Path, skip_missing: bool, problems: list[str]) -> list[tuple[int, Path]]:
    """Return stamps and files of the table of a camera; each must be there."""
    table, folder = place / "data.csv", place / "data"
    try:
        present = set(os.listdir(folder))
    except OSError as error:
        raise UserError(f"{folder}: cannot be read ({error.strerror})") from None
    found: list[tuple[int, Path]] = []
    names: set[str] = set()
    n_missing = 0
    for number, cells in rows(table, ","):
        stamp = stamp_of(table, number, cells[0], 0)
        name = cells[1] if len(cells) > 1 else ""
        if not name or "/" in name or "\0" in name or name in (".", ".."):
            raise UserError(f"{table}:{number}: expected a stamp and the name of an image")
        once(names, name, table, number)
        if name not in present:
            if not skip_missing:
                raise UserError(
                    f"{table}:{number}: {name} is not in {folder}; copy it, or leave out what is "
                    "missing with --skip-missing"
                )
            n_missing += 1
            continue
        if found and stamp <= found[-1][0]:
            raise UserError(f"{table}:{number}: stamps must increase, found {stamp}")
        found.append((stamp, folder / name))
    if n_missing:
        problems.append(f"{table}: {n_missing} images are not there; left out")
    return found


def _truth(mav: Path, T_base_body: np.ndarray, problems: list[str]) -> DatasetTruth | None:
    """Return the truth of the body, if there is any."""
    for name, columns in ((STATES, _STATE), (MOCAP, _POSE), ("vicon0", _POSE)):
        table = mav / name / "data.csv"
        if not table.is_file():
            continue
        path, T = mav / name / "sensor.yaml", np.eye(4)
        sheet = read_sheet(path) if path.is_file() else {}
        if "T_BS" in sheet:
            T = transform(sheet["T_BS"], f"{path}: T_BS")
        return DatasetTruth(states=partial(_states, table, columns), T_base_sensor=T_base_body @ T)
    if (mav / "leica0").is_dir():
        problems.append(f"{mav / 'leica0'}: positions without attitude are no truth of a pose")
    return None


def _states(table: Path, columns: int) -> Iterable[tuple[int, int, list[float]]]:
    """Yield the rows of a table of truth; biases may be unknown, attitudes must be rotations."""
    for number, stamp, row in numbers(table, columns, may_be_nan=6 if columns == _STATE else 0):
        if not 0.9 < float(np.linalg.norm(row[3:7])) < 1.1:
            raise UserError(f"{table}:{number}: expected a unit quaternion w x y z, got {row[3:7]}")
        yield number, stamp, row
