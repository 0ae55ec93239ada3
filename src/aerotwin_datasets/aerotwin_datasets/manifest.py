# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`aerotwin.yaml` of an exported data set: what its format has no place for.

Names of topics and frames, mountings on `base_link` and encodings: `aerotwin import` restores the
recording from them. A data set made by others has none.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import shown
from aerotwin_core.frames import pose_from_transform, transform_from_pose
from aerotwin_datasets.recording import (
    BASE,
    STATIC,
    TRUE_BIAS,
    TRUTH,
    CameraStream,
    ImuStream,
    Recording,
)
from aerotwin_datasets.tables import read_sheet, vector

NAME, OTHER_TOPICS = "aerotwin.yaml", "other_topics"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class DatasetManifest:
    """Content of the file; `cameras` are by their names in the data set (cam0, cam1)."""

    format: str
    base_frame: str = BASE
    gravity_m_s2: float
    cameras: dict[str, dict[str, Any]] = field(default_factory=dict)
    imu: dict[str, Any] = field(default_factory=dict)


def write_manifest(
    folder: Path,
    form: str,
    recording: Recording,
    cameras: dict[str, CameraStream],
    covariances: dict[str, list[float]] | None = None,
) -> None:
    """Write the manifest of an exported recording; `covariances` are the IMU's."""
    content: dict[str, Any] = {
        "written_by": "aerotwin export",
        "version": VERSION,
        "format": form,
        "base_frame": recording.base_frame,
        "gravity_m_s2": recording.gravity_m_s2,
        "cameras": {name: _camera(camera) for name, camera in cameras.items()},
    }
    if recording.imu is not None and covariances is not None:
        content["imu"] = _imu(recording.imu, covariances)
    (folder / NAME).write_text(yaml_text(content), encoding="utf-8")


def read_manifest(folder: Path) -> DatasetManifest | None:
    """Return the manifest of a data set; None without one.

    Raises `UserError` if it is not valid.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    sheet = read_sheet(path)
    if sheet.get("version") != VERSION:
        raise UserError(f"{path}: expected version {VERSION}; export the recording again")
    key = "gravity_m_s2"
    manifest = DatasetManifest(
        format=str(sheet.get("format", "")),
        base_frame=str(sheet.get("base_frame", BASE)),
        gravity_m_s2=vector({key: [sheet.get(key)]}, key, path, 1)[0],
        cameras=_mappings(sheet, "cameras", path),
        imu=_mapping(sheet, "imu", path),
    )
    for name, entry in (*manifest.cameras.items(), *([("imu", manifest.imu)] * bool(manifest.imu))):
        for key in ("topic", "frame_id"):
            if not isinstance(entry.get(key), str):
                raise UserError(f"{path}: {name}: {key} is missing; export the recording again")
    _check_topics(manifest, path)
    return manifest


def _check_topics(manifest: DatasetManifest, path: Path) -> None:
    """Raise `UserError` if two streams of the bag to be made would have one topic."""
    cameras = manifest.cameras.values()
    topics = [entry["topic"] for entry in (*cameras, *([manifest.imu] * bool(manifest.imu)))]
    topics += {str(entry["info_topic"]) for entry in cameras if "info_topic" in entry}
    for k, topic in enumerate(topics):
        if topic in (*topics[:k], "", STATIC, TRUTH, TRUE_BIAS):
            raise UserError(
                f"{path}: expected a topic of its own for each sensor, found {shown(topic)} for "
                "more than one; export the recording again"
            )


def is_ours(folder: Path) -> bool:
    """Tell whether a folder is an exported data set, which an export may replace."""
    return (folder / NAME).is_file()


def pose_entry(T: np.ndarray) -> dict[str, list[float]]:
    """Return a transform as the manifest has it."""
    p, q = pose_from_transform(T)
    return {"translation_m": p.tolist(), "rotation_xyzw": q.tolist()}


def pose_of_entry(entry: Any, where: object) -> np.ndarray:
    """Return the transform of an entry.

    Raises `UserError` if it is none.
    """
    entry = entry if isinstance(entry, dict) else {}
    p = vector(entry, "translation_m", where, 3)
    q = vector(entry, "rotation_xyzw", where, 4)
    try:
        return transform_from_pose(p, q)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None


def yaml_text(content: dict[str, Any]) -> str:
    """Return content as YAML: short lists in one line, numbers to the last digit."""
    return str(yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100))


def _camera(camera: CameraStream) -> dict[str, Any]:
    return {
        "name": camera.name,
        "topic": camera.raw_topic,
        "info_topic": camera.info_topic,
        "frame_id": camera.frame_id,
        "encoding": camera.encoding,
        "readout_s": camera.readout_s,
        "distortion_model": camera.camera.distortion_model,
        "K": [float(value) for value in camera.camera.matrix.ravel()],
        "D": [float(value) for value in camera.camera.distortion],
        "T_base_optical": pose_entry(camera.T_base_optical),
    }


def _imu(imu: ImuStream, covariances: dict[str, list[float]]) -> dict[str, Any]:
    return {
        "topic": imu.topic,
        "frame_id": imu.frame_id,
        "T_base_imu": pose_entry(imu.T_base_imu),
        **covariances,
    }


def _mapping(sheet: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = sheet.get(key, {})
    if not isinstance(found, dict):
        raise UserError(f"{path}: {key}: expected names with values")
    return found


def _mappings(sheet: dict[str, Any], key: str, path: Path) -> dict[str, dict[str, Any]]:
    found = _mapping(sheet, key, path)
    return {name: _mapping(found, name, path) for name in found}
