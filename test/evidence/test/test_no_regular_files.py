# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A pipe without a writer, or a socket, in the place of each file that is read."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import UserError
from aerotwin_core.parameters import read_yaml
from aerotwin_core.tum import read_tum
from aerotwin_datasets.kitti_sequence import read_sequence
from aerotwin_launch.arguments import find_launch_file
from aerotwin_launch.document import load_document
from aerotwin_launch.errors import LaunchError
from aerotwin_map_evaluation.inputs import read_poses, read_transform
from aerotwin_meshes.mesh_files import read_mesh_file
from aerotwin_px4_bridge.track import read_track
from aerotwin_registration import read_cloud
from aerotwin_scenarios.teach_repeat.judging import read_marks
from aerotwin_scenarios.teach_repeat.survey_marks import PAINTED, read_painted
from aerotwin_sensor_models.allan_plot import read_recording
from aerotwin_teach_repeat.route_graph.submap_files import FolderSubmaps, SubmapRecord
from aerotwin_teach_repeat.teaching import load_route
from aerotwin_teach_repeat.teaching.driven import read_driven
from aerotwin_teach_repeat.teaching.vtr_wrapper import read_relative_transforms
from aerotwin_trajectory_evaluation.files import load_trajectory
from aerotwin_worlds import load_world
from evidence.fuzzing import FORMATS
from evidence.verification.leave_one_out import POSES, read_posed_scans

LIMIT_S = 60
"""A pipe without a writer blocks for ever; the first reading of a format may compile kernels."""
SAMPLES = [
    pytest.param(name, variant, id=f"{name}-{variant}")
    for name, form in FORMATS.items()
    if name not in ("http-answer", "submap")  # the file is opened by the test's own reader
    for variant in range(len(form.write))
]


def _of_kitti(path: Path) -> object:
    for side in ("image_0", "image_1"):
        (path.parent / side).mkdir()
        (path.parent / side / "000000.png").touch()
    return read_sequence(path.parent)


def _of_submaps(path: Path) -> object:
    record = SubmapRecord(vertex_id=0, n_points=1, n_bytes=0, sha256="")
    return FolderSubmaps(path.parent.parent, "npz", {0: record}).load(0)


READERS: list[tuple[str, Callable[[Path], object]]] = [
    ("times.txt", _of_kitti),
    ("submaps/0000000.npz", _of_submaps),
    (PAINTED, lambda path: read_painted(path.parent)),
    (POSES, lambda path: read_posed_scans(path.parent)),
    ("marks.csv", read_marks),
    ("track.csv", read_track),
    ("imu.csv", lambda path: read_recording(path, 0.0, 1.0)),
    ("relative_transforms.csv", read_relative_transforms),
    ("route.yaml", load_route),
    ("drive.tum", read_driven),
    ("drive.tum", read_tum),
    ("T.txt", read_transform),
    ("poses.txt", lambda path: read_poses(str(path))),
    ("times.txt", lambda path: load_trajectory(_kitti_poses(path), times=path)),
    ("bag.mcap", BagReader),
    ("bag.db3", BagReader),
    ("scan.bin", lambda path: read_cloud(path, bin_columns="xyzi")),
    ("mesh.ply", read_mesh_file),
    ("my_world.yaml", load_world),
    ("my.launch.yaml", load_document),
    ("my.launch.yaml", lambda path: find_launch_file([str(path)], {})),
]


def _kitti_poses(path: Path) -> Path:
    file = path.with_name("kitti.txt")
    file.write_text("1 0 0 0 0 1 0 0 0 0 1 0\n" * 3)
    return file


@contextmanager
def time_limit():
    """Fail where something blocks; a signal ends the opening of a pipe."""

    def give_up(*_: object) -> None:
        pytest.fail(f"still waiting after {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    before = os.getcwd()
    os.chdir(path.parent)  # the address of a socket holds 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(before)


@pytest.mark.parametrize(("what", "make"), [("a pipe", make_pipe), ("a socket", make_socket)])
@pytest.mark.parametrize(("name", "variant"), SAMPLES)
def test_no_reader_of_a_format_waits_for_it(
    tmp_path, name: str, variant: int, what: str, make: Callable[[Path], None]
):
    form = FORMATS[name]
    n_files = len(form.write[variant](_folder(tmp_path / "sound")))
    for k in range(n_files):
        entry, *others = form.write[variant](_folder(tmp_path / f"{k}"))
        place = (entry, *others)[k]
        if place.is_dir():
            continue
        place.unlink()
        make(place)
        with time_limit():
            try:
                _, said = form.read(entry)
            except UserError as error:
                said = (str(error),)
        found = [line for line in said if place.name in line]
        assert found, said
        if place == entry:
            assert f"expected a file, found {what}" in found[0], found


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize(("what", "make"), [("a pipe", make_pipe), ("a socket", make_socket)])
@pytest.mark.parametrize(("name", "read"), READERS)
def test_no_reader_of_one_file_waits_for_it(
    tmp_path, name: str, read: Callable[[Path], object], what: str, make: Callable[[Path], None]
):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    make(path)
    with time_limit(), pytest.raises((UserError, LaunchError)) as refused:
        read(path)
    assert f"{path}: expected a file, found {what}" in str(refused.value)


def test_what_a_shell_pipes_in_is_read(tmp_path):
    """`<(zcat poses.txt.gz)` is a pipe that opens at once; it is read where one reading does."""
    for text, read in ((b"a: [1]\n", read_yaml), (b"5 0 0 0 0 0 0 1\n6 1 0 0 0 0 0 1\n", read_tum)):
        end, other = os.pipe()
        os.write(other, text)
        os.close(other)
        with time_limit():
            assert len(read(f"/dev/fd/{end}")) > 0
        os.close(end)
