# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Data sets in the layout of EuRoC (ASL): `mav0` with one folder for each sensor.

The body frame is that of the IMU: its T_BS is the identity, those of the cameras are T_imu_optical,
which take coordinates of the optical frame to the IMU's. Stamps are those of the messages [ns].
Names of images have 19 digits, so that their order is that of time; several readers rely on it.
TUM-VI has the same layout, the truth in `mocap0`, and Kalibr's files in `dso`.

References
----------
Burri et al., "The EuRoC micro aerial vehicle datasets", IJRR 35(10), 2016, and the ASL format of
its web page. Schubert et al., "The TUM VI benchmark for evaluating visual-inertial odometry",
IROS 2018.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from aerotwin_core.cli import progress
from aerotwin_core.errors import UserError
from aerotwin_datasets.calibration import (
    MODELS,
    CalibratedCamera,
    DatasetCalibration,
    body_of,
    calibration_of,
)
from aerotwin_datasets.image_pass import pixels_in
from aerotwin_datasets.images import PictureWriter
from aerotwin_datasets.manifest import write_manifest, yaml_text
from aerotwin_datasets.recording import CameraStream, ImuNoise, ImuStream, InOrder, Recording
from aerotwin_datasets.settings import FOLDER as SETTINGS
from aerotwin_datasets.settings import write_settings
from aerotwin_datasets.settings.stella import link_images
from aerotwin_datasets.truth import BodyTruth, truth_of

IMU_COLUMNS = (
    "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
    "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]"
)
POSE_COLUMNS = (
    "#timestamp [ns], p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], "
    "q_RS_z []"
)
STATE_COLUMNS = (
    f"{POSE_COLUMNS}, v_RS_R_x [m s^-1], v_RS_R_y [m s^-1], v_RS_R_z [m s^-1], "
    "b_w_RS_S_x [rad s^-1], b_w_RS_S_y [rad s^-1], b_w_RS_S_z [rad s^-1], "
    "b_a_RS_S_x [m s^-2], b_a_RS_S_y [m s^-2], b_a_RS_S_z [m s^-2]"
)
EUROC, TUM_VI = "euroc", "tum-vi"
STATES, MOCAP = "state_groundtruth_estimate0", "mocap0"
_COVARIANCES = (
    "orientation_covariance",
    "angular_velocity_covariance",
    "linear_acceleration_covariance",
)


def write_euroc(
    recording: Recording, folder: Path, cameras: Sequence[CameraStream], form: str = EUROC
) -> tuple[DatasetCalibration, list[str]]:
    """Write cameras, IMU and truth of a bag; return the calibration and what was left out.

    The cameras become cam0, cam1, ...; `form` is EUROC or TUM_VI.

    Raises `UserError` if nothing states the noise of the IMU, or a lens is not of `MODELS`.
    """
    imu, noise = recording.require_imu() if recording.imu is not None else (None, None)
    T_base_body = body_of(recording)
    mav = folder / "mav0"
    by_topic = {camera.topic: (k, camera) for k, camera in enumerate(cameras)}
    in_order = InOrder(recording, [*by_topic, *([imu.topic] if imu else [])])
    covariances: dict[str, list[float]] | None = None
    with ExitStack() as stack:
        tables = {
            topic: _table(stack, mav / f"cam{k}", "#timestamp [ns],filename")
            for topic, (k, _) in by_topic.items()
        }
        for k in range(len(cameras)):
            (mav / f"cam{k}" / "data").mkdir()
        if imu is not None:
            tables[imu.topic] = _table(stack, mav / "imu0", IMU_COLUMNS)
        total = sum(recording.counts[topic] for topic in tables)
        bar = stack.enter_context(progress(total, "writing the data set", unit="message"))
        pictures = stack.enter_context(PictureWriter())
        for topic, stamp, message in in_order:
            bar.update(1)
            if imu is not None and topic == imu.topic:
                if covariances is None:
                    covariances = {key: getattr(message, key).tolist() for key in _COVARIANCES}
                reading = ",".join(map(repr, _reading(message)))
                tables[topic].write(f"{stamp},{reading}\n")
                continue
            k, camera = by_topic[topic]
            tables[topic].write(f"{stamp},{stamp:019d}.png\n")
            path = mav / f"cam{k}" / "data" / f"{stamp:019d}.png"
            pictures.write(path, pixels_in(camera, message))
    calibration = calibration_of(recording, cameras, in_order.rate_hz)
    for each in calibration.cameras:
        write_sheet(mav / each.name, camera_sheet(each))
    if imu is not None and noise is not None:
        write_sheet(mav / "imu0", imu_sheet(imu, noise, calibration.imu_rate_hz))
    truth = truth_of(recording, T_base_body)
    if truth is not None:
        _write_truth(mav / (MOCAP if form == TUM_VI else STATES), truth)
    named = {f"cam{k}": camera for k, camera in enumerate(cameras)}
    write_manifest(folder, form, recording, named, covariances)
    problems = in_order.problems
    if cameras:
        stamps = in_order.stamps[cameras[0].topic]
        problems += write_settings(folder, calibration, "mav0/cam0/data", stamps)
        link_images(folder / SETTINGS / "stella_vslam", folder)
    return calibration, problems


def camera_sheet(camera: CalibratedCamera) -> dict[str, Any]:
    """Return the `sensor.yaml` of a camera.

    Raises `UserError` if its lens is not of `MODELS`.
    """
    model = MODELS.get(camera.lens.distortion_model)
    if model is None:
        raise UserError(
            f"camera {camera.name}: its lens is {camera.lens.distortion_model}; this format knows "
            f"{', '.join(MODELS)}"
        )
    return {
        "sensor_type": "camera",
        "comment": camera.name,
        "T_BS": matrix_entry(camera.T_body_optical),
        "rate_hz": camera.rate_hz,
        "resolution": [camera.lens.width, camera.lens.height],
        "camera_model": "pinhole",
        "intrinsics": camera.intrinsics,
        "distortion_model": model,
        "distortion_coefficients": camera.coefficients,
    }


def imu_sheet(imu: ImuStream, noise: ImuNoise, rate_hz: float) -> dict[str, Any]:
    """Return the `sensor.yaml` of the IMU."""
    return {
        "sensor_type": "imu",
        "comment": imu.frame_id,
        "T_BS": matrix_entry(np.eye(4)),
        "rate_hz": rate_hz,
        "gyroscope_noise_density": noise.gyroscope_noise_density,
        "gyroscope_random_walk": noise.gyroscope_random_walk,
        "accelerometer_noise_density": noise.accelerometer_noise_density,
        "accelerometer_random_walk": noise.accelerometer_random_walk,
    }


def matrix_entry(T: np.ndarray) -> dict[str, Any]:
    """Return a transform as the sheets have it."""
    return {"cols": 4, "rows": 4, "data": [float(value) for value in T.ravel()]}


def write_sheet(place: Path, sheet: dict[str, Any]) -> None:
    """Write `sensor.yaml` of a sensor."""
    (place / "sensor.yaml").write_text(yaml_text(sheet), encoding="utf-8")


def _write_truth(place: Path, truth: BodyTruth) -> None:
    is_mocap = place.name == MOCAP
    q_wxyz = np.roll(truth.trajectory.q_ref_body, 1, axis=1)
    parts = [truth.trajectory.p_ref_body, q_wxyz]
    if not is_mocap:
        parts += [truth.v_map_body, truth.gyroscope_bias, truth.accelerometer_bias]
    states = np.hstack(parts)
    with ExitStack() as stack:
        table = _table(stack, place, POSE_COLUMNS if is_mocap else STATE_COLUMNS)
        for stamp, row in zip(truth.trajectory.stamps_ns.tolist(), states.tolist(), strict=True):
            table.write(f"{stamp},{','.join(map(repr, row))}\n")
    kind = "pose" if is_mocap else "visual-inertial"
    sheet = {"sensor_type": kind, "comment": "ground truth", "T_BS": matrix_entry(np.eye(4))}
    write_sheet(place, sheet)


def _reading(message: Any) -> tuple[float, ...]:
    rate, force = message.angular_velocity, message.linear_acceleration
    return rate.x, rate.y, rate.z, force.x, force.y, force.z


def _table(stack: ExitStack, place: Path, columns: str) -> TextIO:
    place.mkdir(parents=True)
    table = (place / "data.csv").open("w", encoding="utf-8", newline="\n")
    stack.enter_context(table)
    table.write(f"{columns}\n")
    return table
