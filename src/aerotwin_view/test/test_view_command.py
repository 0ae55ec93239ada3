# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What `aerotwin view` refuses, in one sentence, before a page is opened."""

import pytest

from aerotwin_core.cli import main

EXIT_USER_ERROR = 2
HUGE = (
    b"ply\nformat binary_little_endian 1.0\nelement vertex 900000000000\n"
    b"property float x\nproperty float y\nproperty float z\nend_header\n"
)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("huge.ply", HUGE, "huge.ply: "),
        ("cut.ply", HUGE.replace(b"900000000000", b"3") + b"123", "cut.ply: "),
        ("text.ply", b"no ply at all", "text.ply: "),
        ("nan.xyz", b"0 0 0\nnan 1 2\n", "nan.xyz: "),
        ("empty.pcd", b"", "empty.pcd: "),
        ("mesh.obj", b"v 0 0 0\n", "mesh.obj: "),
        ("picture.glb", b"glTF", "picture.glb: "),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith(": ") else "",
)
def test_a_broken_or_huge_map_is_an_error(tmp_path, capsys, name, content, message):
    (tmp_path / name).write_bytes(content)
    assert main(["view", str(tmp_path / name)]) == EXIT_USER_ERROR
    said = capsys.readouterr().err
    assert message in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.ply"], "nowhere.ply: no such file"),
        (["meadow", "--align", "icp"], "--align: expected a map with --reference beside it"),
        (["a.ply", "--html", "a.html"], "--html: expected a bag beside it"),
        (["--reference", "meadow"], "--reference: expected a world, a bag, a map or --live"),
        (["--live", "--html", "a.html"], "--html: expected a bag beside it, found none"),
        (["--live", "--video", "a.mp4"], "--video: expected a bag beside it, found none"),
        (["--live", "--reference", "meadow"], "--reference: expected a map beside it, found none"),
        (["my_bag", "--follow", "uav0"], "--follow: expected --html beside it, found none"),
        (["meadow", "--live"], "expected a world, a bag, a map or --live, one of them"),
    ],
)
def test_what_contradicts_is_refused(capsys, arguments, message):
    assert main(["view", *arguments]) == EXIT_USER_ERROR
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("port", ["99999999", "70000", "80", "-1", "x"])
@pytest.mark.parametrize("shown", [[], ["meadow"], ["--live"]])
def test_a_port_that_is_none_is_refused_whatever_is_shown(capsys, shown, port):
    with pytest.raises(SystemExit) as ended:
        main(["view", *shown, f"--port={port}"])
    assert ended.value.code == EXIT_USER_ERROR
    assert "expected a number from 1024 to 65535, found" in capsys.readouterr().err


def test_an_unknown_world_of_what_is_heard_is_refused_as_any_other(capsys):
    assert main(["view", "--live", "--world", "nowhere"]) == EXIT_USER_ERROR
    assert "'nowhere'" in capsys.readouterr().err
