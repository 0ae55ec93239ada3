# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The formats by name, and what all of them share: whole folders, other topics, settings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aerotwin_core.atomic_file import atomic_folder
from aerotwin_core.bag import BagReader, BagWriter
from aerotwin_core.errors import UserError
from aerotwin_core.messages import TYPESTORE
from aerotwin_datasets import euroc_reader, euroc_writer
from aerotwin_datasets.bag_maker import make_bag
from aerotwin_datasets.manifest import OTHER_TOPICS, is_ours
from aerotwin_datasets.recording import SENSORS, Recording, with_noise


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What an export wrote: images and readings by name, and what was left out and why."""

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
    with atomic_folder(output, replaces=is_ours if overwrite else None) as folder:
        chosen = recording.select(cameras)
        _, problems = euroc_writer.write_euroc(recording, folder, chosen, form)
        held = [camera.topic for camera in chosen]
        held += [recording.imu.topic] if recording.imu else []
        if not is_lean:
            problems += _copy_others(recording, folder, held)
        counts = {topic: recording.bag.counts[topic] for topic in held}
    return Exported(
        counts=counts,
        problems=(*recording.problems, *problems, *recording.bag.problems),
    )


def import_dataset(
    form: str, folder: Path, output: Path, *, overwrite: bool = False, skip_missing: bool = False
) -> Exported:
    """Write a data set as a bag: whole, or nothing.

    With `skip_missing`, images that a table lists and that are not there are left out.

    Raises `UserError`, naming file and line, if it is no such data set, or the bag exists.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no folder; give that of a data set")
    dataset = euroc_reader.open_euroc(folder, form, skip_missing=skip_missing)
    with atomic_folder(output, replaces=_is_bag if overwrite else None) as path:
        path.rmdir()
        with BagWriter(path) as bag:
            counts = make_bag(dataset, bag)
    return Exported(counts=counts, problems=tuple(dataset.problems))


def _copy_others(recording: Recording, folder: Path, held: Sequence[str]) -> list[str]:
    """Copy the messages that the format does not hold; return what could not be copied."""
    source = recording.bag
    topics = [topic for topic in source.topics if topic not in held]
    with BagWriter(folder / OTHER_TOPICS) as bag:
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
        for topic, stamp, cdr in source.raw(known):
            bag.write(topic, stamp, cdr)
    return problems


def _is_bag(folder: Path) -> bool:
    try:
        BagReader(folder)
    except UserError:
        return False
    return (folder / "metadata.yaml").is_file()
