# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The files of a bag: from its metadata.yaml if there is one, else from the folder."""

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from aerotwin_core.bag.compression import SUFFIXES
from aerotwin_core.documents import MAX_BYTES, DocumentError, parse_yaml
from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file, file_size

STORAGE_SUFFIXES = (".mcap", ".db3")


@dataclass(frozen=True, kw_only=True)
class BagFiles:
    """The existing files of a bag in their order, and the content of its metadata."""

    files: tuple[Path, ...]
    distro: str = ""  # ROS distribution of the recording, "" if unknown
    n_messages: int | None = None
    start_ns: int | None = None
    problems: tuple[str, ...] = ()  # missing files, unreadable metadata


def is_storage_file(path: Path) -> bool:
    """Tell by its name whether a file holds messages of a bag."""
    inner = Path(path.stem) if path.suffix in SUFFIXES else path
    return inner.suffix in STORAGE_SUFFIXES


def find_files(path: Path) -> BagFiles:
    """Return the files of a bag folder, or of a single file.

    Raises `UserError` if there is none.
    """
    check_is_file(path)
    if path.is_file():
        if not is_storage_file(path):
            raise UserError(f"{path}: not a bag; give a folder, or a .mcap or .db3 file")
        return BagFiles(files=(path,))
    present = sorted((f for f in _listed(path) if is_storage_file(f)), key=_natural)
    try:
        information = _information(path / "metadata.yaml")
    except ValueError as error:
        if not present:
            raise UserError(
                f"{path}: not a bag: expected a folder with metadata.yaml and .mcap or .db3 files, "
                f"but metadata.yaml {error}; "
                + (f"did you mean {path / 'bag'}?" if (path / "bag").is_dir() else "check the path")
            ) from None
        text = f"metadata.yaml {error}; the files of the folder are read in order of their names"
        return BagFiles(files=tuple(present), problems=(text,))
    return _ordered(path, present, information)


def _ordered(path: Path, present: list[Path], information: dict[str, Any]) -> BagFiles:
    # Only names: what lies outside of the folder is not a part of the bag.
    named = [PurePosixPath(str(name)).name for name in information["relative_file_paths"]]
    by_name = {file.name: file for file in present}
    files = [by_name[name] for name in dict.fromkeys(named) if name in by_name]
    missing = [name for name in named if name not in by_name]
    problems = [f"{name} is named in metadata.yaml and missing" for name in missing]
    others = [file for file in present if file not in files]
    if others:
        names = ", ".join(file.name for file in others)
        problems.append(f"{names}: not named in metadata.yaml, read as well")
    if not files and not others:
        raise UserError(f"{path}: none of the bag's files is there: {', '.join(named) or 'none'}")
    is_whole = not missing and not others
    count, distro = information.get("message_count"), information.get("ros_distro")
    start = information.get("starting_time")
    start = start.get("nanoseconds_since_epoch") if isinstance(start, dict) else None
    return BagFiles(
        files=(*files, *others),
        distro=distro if isinstance(distro, str) else "",
        n_messages=count if isinstance(count, int) and is_whole else None,
        start_ns=start if isinstance(start, int) and is_whole else None,
        problems=tuple(problems),
    )


def _listed(path: Path) -> list[Path]:
    try:
        return [file for file in path.iterdir() if file.is_file()]
    except OSError as error:
        raise UserError(
            f"{path}: not a bag: {error.strerror or error}; give a folder, or a .mcap or .db3 file"
        ) from error


def _information(path: Path) -> dict[str, Any]:
    """Return the content of metadata.yaml.

    Raises `ValueError` with text that follows the name of the file.
    """
    if not path.is_file():
        raise ValueError("is missing")
    try:
        if file_size(path) > MAX_BYTES:
            raise ValueError(f"is larger than {MAX_BYTES} bytes")
        loaded = parse_yaml(path.read_bytes())
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror or error})") from error
    except DocumentError as error:
        raise ValueError(f"is not valid YAML ({error})") from error
    information = loaded.get("rosbag2_bagfile_information") if isinstance(loaded, dict) else None
    if not isinstance(information, dict):
        raise ValueError("holds no rosbag2_bagfile_information")
    if not isinstance(information.get("relative_file_paths"), list):
        raise ValueError("lists no files (relative_file_paths)")
    return information


def _natural(path: Path) -> tuple[str, int, str]:
    """Order wbag_10 behind wbag_9."""
    name = path.name.partition(".")[0]
    head = name.rstrip("0123456789")
    digits = name[len(head) :]
    return head, int(digits) if digits else -1, path.name


def nested(flat: dict[str, str]) -> dict[str, Any]:
    """Return the levels of a record whose names join them by dots; JSON texts become values.

    >>> nested({"imu.rate_hz": "250.0", "imu.frame_id": "imu_link"})
    {'imu': {'rate_hz': 250.0, 'frame_id': 'imu_link'}}
    """
    found: dict[str, Any] = {}
    for name, text in flat.items():
        *levels, last = name.split(".")
        at = found
        for level in levels:
            below = at.setdefault(level, {})
            if not isinstance(below, dict):
                break
            at = below
        try:
            at[last] = json.loads(text)
        except ValueError:
            at[last] = text
    return found
