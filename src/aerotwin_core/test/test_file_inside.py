# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.file_inside import file_inside


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.obj").write_text("outside")
    folder = tmp_path / "place"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes/wall.obj").write_text("inside")
    (folder / "link.obj").symlink_to("../secret.obj")
    return folder


@pytest.mark.parametrize(
    "name", ["meshes/wall.obj", "meshes\\wall.obj", "meshes/../meshes/wall.obj"]
)
def test_a_file_in_the_folder_or_below_is_found(folder, name):
    assert file_inside(folder, name, where="w").read_text() == "inside"


@pytest.mark.parametrize(
    "name", ["../secret.obj", "..\\secret.obj", "link.obj", "/etc/passwd", "meshes/wall.obj\0"]
)
def test_a_name_that_leads_out_is_refused(folder, name):
    with pytest.raises(UserError, match=r"^world.yaml: mesh: .*must lie in"):
        file_inside(folder, name, where="world.yaml: mesh")


def test_what_the_folder_holds_of_the_kind_is_listed_where_the_file_is_missing(folder):
    (folder / "notes.txt").write_text("")
    with pytest.raises(UserError, match=r"'gone.obj' does not exist; its folder holds link.obj; "):
        file_inside(folder, "gone.obj", where="w", kinds="*.obj")
