# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files of formats that are not read are named, with what converts them."""

import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.foreign_format import FOREIGN_FORMATS, foreign_format, refuse_foreign_format

HEADS = {
    "VTK data": b"# vtk DataFile Version 3.0\nx\nASCII\n",
    "a Gazebo world or model (SDF)": b'<?xml version="1.0"?>\n<sdf version="1.9">',
    "one tile of a 3-D Tiles tileset (b3dm)": b"b3dm\x01\0\0\0",
    "a COLLADA mesh": b'<?xml version="1.0"?>\n<COLLADA xmlns="">',
    "a ZIP archive": b"PK\x03\x04\x14\0",
}


@pytest.mark.parametrize("known", FOREIGN_FORMATS, ids=lambda known: known.name)
def test_a_file_is_known_by_its_ending_with_a_way_out(known, tmp_path):
    for suffix in known.suffixes:
        path = tmp_path / f"place{suffix.upper()}"
        path.write_bytes(b"anything")
        with pytest.raises(UserError) as error:
            refuse_foreign_format(path, "a cloud")
        message = str(error.value)
        assert message.startswith(f"{path}: expected a cloud, found {known.name}; ")
        assert "{" not in message


@pytest.mark.parametrize(("name", "head"), HEADS.items())
def test_a_file_is_known_by_what_it_begins_with(name, head):
    found = foreign_format("place", head)
    assert found is not None and found.name == name


def test_what_is_read_is_not_foreign(tmp_path):
    for name, head in (
        ("world.yaml", b"name: cliff\n"),
        ("tileset.json", b'{"asset": {}}'),
        ("cloud.ply", b"ply\nformat ascii 1.0\n"),
        ("mesh.glb", b"glTF\x02\0\0\0"),
        ("cloud.laz", b"LASF"),
    ):
        assert foreign_format(name, head) is None
        (tmp_path / name).write_bytes(head)
        refuse_foreign_format(tmp_path / name, "anything")
    refuse_foreign_format(tmp_path / "nothing.vtk", "anything")


def test_an_unknown_ending_is_refused_where_endings_are_known(tmp_path):
    path = tmp_path / "place.foo"
    path.write_bytes(b"hello")
    with pytest.raises(UserError, match=r"expected a world, found a file that ends in '.foo'"):
        refuse_foreign_format(path, "a world", (".yaml", ""))
    refuse_foreign_format(path, "a world")
