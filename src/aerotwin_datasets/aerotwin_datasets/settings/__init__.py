# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings files of SLAMs made by others, written from the calibration of a data set.

Calibration, noise and rates are those of the recording; what tunes a SLAM has the value of its
authors' example for EuRoC.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_datasets.calibration import DatasetCalibration
from aerotwin_datasets.settings.basalt import write_basalt
from aerotwin_datasets.settings.dso import write_dso
from aerotwin_datasets.settings.kalibr import write_kalibr, write_openvins
from aerotwin_datasets.settings.lidar import write_kiss_slam, write_rko_lio
from aerotwin_datasets.settings.orb_slam import write_orb_slam2, write_orb_slam3
from aerotwin_datasets.settings.stella import write_stella
from aerotwin_datasets.settings.text import write_lines
from aerotwin_datasets.settings.vins_fusion import write_vins_fusion

__all__ = ["FOLDER", "write_settings"]
FOLDER = "settings"
_WRITERS: dict[str, Callable[[Path, DatasetCalibration], None]] = {
    "basalt": write_basalt,
    "dso": write_dso,
    "kalibr": write_kalibr,
    "openvins": write_openvins,
    "orb_slam2": write_orb_slam2,
    "orb_slam3": write_orb_slam3,
    "stella_vslam": write_stella,
    "vins_fusion": write_vins_fusion,
}

_README = """\
How these files are used. DIR is the folder of the data set; what a program is called differs.

DSO            dso_dataset files=DIR/settings/dso/images calib=DIR/settings/dso/camera.txt mode=1
ORB-SLAM2      stereo_euroc VOCABULARY orb_slam2/stereo.yaml DIR/mav0/cam0/data DIR/mav0/cam1/data
               DIR/settings/times.txt
ORB-SLAM3      stereo_inertial_euroc VOCABULARY orb_slam3/stereo_inertial.yaml DIR times.txt
               (version 1.0 on)
OpenVINS       config_path:=DIR/settings/openvins/estimator_config.yaml; calibration is not refined
VINS-Fusion    vins_node DIR/settings/vins_fusion/config.yaml; its noise is that of one sample
Basalt         basalt_vio --dataset-path DIR --dataset-type euroc
               --cam-calib DIR/settings/basalt/calibration.json --config-path euroc_config.json
stella_vslam   run_euroc_slam --vocab VOCABULARY -d DIR/settings/stella_vslam/mav0
               -c stella_vslam/stereo.yaml (or --without-vocab)
KISS-SLAM      kiss_slam_pipeline --dataloader rosbag --topic TOPIC
               --config DIR/settings/kiss_slam/config.yaml DIR/other_topics
RKO-LIO        rko_lio --imu TOPIC --lidar TOPIC --config DIR/settings/rko_lio/config.yaml
               DIR/other_topics
Kalibr         kalibr/camchain.yaml and imu.yaml, for whatever reads them

Noise: an IMU whose bias changes when it is switched on has an error that these files cannot state;
multiply the random walks by 2 to 10 if a filter is too confident. The stamp of an image with a
rolling shutter is that of its first row, which a SLAM for global shutters takes for that of all:
its middle was exposed half the readout later.
"""


def write_settings(
    folder: Path,
    calibration: DatasetCalibration,
    images: str = "",
    stamps_ns: Sequence[int] = (),
) -> list[str]:
    """Write `settings` below a data set; return which SLAMs get none, and why.

    `images` is the folder of the first camera's images, below that of the data set.
    """
    problems = []
    for name, write in _WRITERS.items() if calibration.cameras else ():
        place = folder / FOLDER / name
        place.mkdir(parents=True)
        try:
            write(place, calibration)
        except UserError as error:
            problems.append(f"no settings of {name}: {error}")
            shutil.rmtree(place)
    place = folder / FOLDER
    if calibration.clouds:
        write_kiss_slam(place / "kiss_slam", calibration)
        write_rko_lio(place / "rko_lio", calibration)
    if stamps_ns:
        write_lines(place / "times.txt", (f"{stamp:019d}" for stamp in stamps_ns))
    if stamps_ns and (place / "dso").is_dir():
        lines = (f"{k:06d} {at // 10**9}.{at % 10**9:09d}" for k, at in enumerate(stamps_ns))
        write_lines(place / "dso" / "times.txt", lines)
        (place / "dso" / "images").symlink_to(Path("..", "..", images))
    write_lines(place / "README.txt", _README.splitlines())
    return problems
