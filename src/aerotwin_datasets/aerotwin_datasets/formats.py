# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The formats by name, and what all of them share: whole folders, other topics, settings."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aerotwin_core.atomic_file import atomic_folder
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.messages import TYPESTORE
from aerotwin_datasets import euroc_reader, euroc_writer, kitti, rosbag1, tum_rgbd
from aerotwin_datasets.bag_maker import Dataset, make_bag
from aerotwin_datasets.calibration import calibration_of
from aerotwin_datasets.manifest import (
    NAME,
    OTHER_TOPICS,
    DatasetManifest,
    is_ours,
    read_manifest,
)
from aerotwin_datasets.recording import COMPRESSED, SENSORS, CameraStream, Recording, with_noise
from aerotwin_datasets.settings import FOLDER as SETTINGS
from aerotwin_datasets.settings import write_settings


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written: messages by topic, and what was left out and why."""

    counts: dict[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def export_bag(
    form: str,
    recording: Recording,
    output: Path,
    *,
    cameras: Sequence[str] = (),
    is_lean: bool = False,
    overwrite: bool = False,
) -> Exported:
    """Write a recording as a data set: the whole folder, or nothing.

    `cameras` are names in the order that they get. Topics that the format does not hold are kept
    beside it as a bag, unless `is_lean`. An existing data set is replaced if `overwrite`.

    Raises `UserError` if the recording lacks what the format needs, or the folder exists.
    """
    _refuse_around(output, recording.bag.path)
    with atomic_folder(output, replaces=is_ours if overwrite else None) as folder:
        if form == rosbag1.FORM:
            held, problems = rosbag1.write_rosbag1(recording, folder)
        else:
            chosen = recording.select(cameras)
            held, problems = _write(form, recording, folder, chosen)
        if not is_lean:
            problems += _copy_others(recording, folder, held)
        counts = {topic: recording.counts[topic] for topic in held}
    return Exported(
        counts=counts,
        problems=(*recording.problems, *problems, *recording.bag.problems),
    )


def export_settings(
    recording: Recording, output: Path, *, cameras: Sequence[str] = ()
) -> tuple[str, ...]:
    """Write `settings` alone below a folder; return which SLAMs get none, and why.

    For SLAMs that hear topics. Raises `UserError` if the recording has no such cameras.
    """
    chosen = recording.select(cameras)
    shutil.rmtree(output / SETTINGS, ignore_errors=True)
    calibration = calibration_of(recording, chosen, recording.rate_hz)
    return (*recording.problems, *write_settings(output, calibration))


def _write(
    form: str, recording: Recording, folder: Path, cameras: Sequence[CameraStream]
) -> tuple[list[str], list[str]]:
    if form == kitti.FORM:
        return kitti.write_kitti(recording, folder, cameras)
    if form == tum_rgbd.FORM:
        return tum_rgbd.write_tum_rgbd(recording, folder, cameras)
    _, problems = euroc_writer.write_euroc(recording, folder, cameras, form)
    held = [camera.topic for camera in cameras]
    return held + ([recording.imu.topic] if recording.imu else []), problems


def import_dataset(
    form: str,
    folder: Path,
    output: Path,
    *,
    overwrite: bool = False,
    skip_missing: bool = False,
    intrinsics: Sequence[float] = (),
) -> Exported:
    """Write a data set as a bag: whole, or nothing.

    With `skip_missing`, images that a table lists and that are not there are left out.
    `intrinsics` are those of a camera whose format does not hold them.

    Raises `UserError`, naming file and line, if it is no such data set, or the bag exists.
    """
    if form != rosbag1.FORM and not folder.is_dir():
        raise UserError(f"{folder}: no folder; give that of a data set")
    _refuse_around(output, folder)
    manifest = read_manifest(folder) if folder.is_dir() else None
    if manifest is not None and manifest.format != form:
        raise UserError(
            f"{folder / NAME}: expected format {form}, found {printable(manifest.format, 40)}; "
            "import it as that"
        )
    with atomic_folder(output, replaces=_is_bag if overwrite else None) as path:
        path.rmdir()
        if form == rosbag1.FORM:
            return _import_rosbag1(folder, path)
        dataset = _open(form, folder, manifest, skip_missing, intrinsics)
        with BagWriter(path, is_live=False) as bag:
            counts = make_bag(dataset, bag)
    return Exported(counts=counts, problems=tuple(dataset.problems))


def _open(
    form: str,
    folder: Path,
    manifest: DatasetManifest | None,
    skip_missing: bool,
    intrinsics: Sequence[float],
) -> Dataset:
    if form in (euroc_writer.EUROC, euroc_writer.TUM_VI):
        return euroc_reader.open_euroc(folder, manifest, skip_missing=skip_missing)
    others = folder / OTHER_TOPICS
    reader = BagReader(others) if manifest and others.is_dir() else None
    if form == kitti.FORM:
        dataset = kitti.open_kitti(folder, manifest)
    else:
        topic = manifest.cameras.get("depth", {}).get("topic") if manifest else None
        has_depth = reader is None or topic not in reader.topics
        dataset = tum_rgbd.open_tum_rgbd(
            folder, manifest, has_depth=has_depth, intrinsics=intrinsics
        )
    dataset.others = reader
    if reader is not None:  # images of one camera without the other: all are there
        dataset.cameras = [c for c in dataset.cameras if c.topic not in reader.topics]
    return dataset


def _import_rosbag1(folder: Path, path: Path) -> Exported:
    source = folder / rosbag1.NAME if folder.is_dir() else folder
    others = folder / OTHER_TOPICS
    reader = BagReader(others) if folder.is_dir() and others.is_dir() else None
    with BagWriter(path, is_live=False) as bag:
        counts: dict[str, int] = {}
        if reader is not None:
            dataset = Dataset(others=reader)
            counts = make_bag(dataset, bag)
        found, problems = rosbag1.read_rosbag1(source, bag, set(counts) | _topics(reader))
    return Exported(counts=counts | found, problems=tuple(problems))


def _topics(reader: BagReader | None) -> set[str]:
    return set() if reader is None else set(reader.topics)


def _copy_others(recording: Recording, folder: Path, held: Sequence[str]) -> list[str]:
    """Copy the messages that the format does not hold; return what could not be copied.

    Compressed images are decoded there, and copied as they are.
    """
    source = recording.bag
    topics = [
        topic for topic, kind in source.topics.items() if topic not in held or kind == COMPRESSED
    ]
    with BagWriter(folder / OTHER_TOPICS, is_live=False) as bag:
        setup, imu = source.metadata(SENSORS), recording.imu
        if imu is not None:
            setup = with_noise(setup, imu.topic, imu.frame_id, imu.noise, recording.gravity_m_s2)
        if setup:
            bag.add_metadata(SENSORS, setup)
        known, problems = [], []
        for topic in topics:
            kind = source.topics[topic]
            if kind not in TYPESTORE.types:
                problems.append(f"topic {topic}: {kind} is no standard type; left out")
                continue
            bag.add_topic(topic, kind, latched=topic.endswith("static"))
            known.append(topic)
        for topic, stamp, cdr in recording.raw(known):
            bag.write(topic, stamp, cdr)
    return problems


def _refuse_around(output: Path, source: Path) -> None:
    """Raise `UserError` if what is read lies in the folder that would be replaced."""
    if source.resolve().is_relative_to(output.resolve()):
        raise UserError(f"{output}: holds {source}, which is read; name another folder with -o")


def _is_bag(folder: Path) -> bool:
    try:
        BagReader(folder)
    except UserError:
        return False
    return (folder / "metadata.yaml").is_file()
