# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The logs that ArduPilot wrote in a flight."""

import os
import shutil
from pathlib import Path


def collect_logs(run_folder: Path, instance: int) -> list[Path]:
    """Copy the dataflash logs of an ArduPilot that has ended beside the other files of the run.

    The copies are `ardupilot_<instance>.bin`, `ardupilot_<instance>_2.bin` and so on, in the order
    of their start, in the `run_folder` of `ardupilot_process`; none when it wrote none.
    """
    logs = (Path(run_folder) / f"ardupilot_{instance}" / "logs").glob("*.BIN")
    found = sorted(path for path in logs if path.stat().st_size > 0)
    targets = [log_path(run_folder, instance, number) for number in range(len(found))]
    for source, target in zip(found, targets, strict=True):
        unfinished = target.with_suffix(".bin.part")
        shutil.copyfile(source, unfinished)
        os.replace(unfinished, target)
    return targets


def log_path(run_folder: Path, instance: int, number: int = 0) -> Path:
    """Return the target of `collect_logs` for log `number` (from 0) of a vehicle."""
    suffix = f"_{number + 1}" if number else ""
    return Path(run_folder) / f"ardupilot_{instance}{suffix}.bin"
