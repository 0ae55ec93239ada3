# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
from importlib.metadata import version

import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.run_folder import (
    library_versions,
    make_run_folder,
    named_files,
    software_versions,
)


def test_a_place_where_no_folder_can_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"^runs_dir: .*file/.* cannot be made \(Not a directory\)"):
        make_run_folder(tmp_path / "file", "demo")


def test_a_library_that_is_missing_is_reported_in_the_configuration_and_left_out_of_metrics(
    monkeypatch,
):
    monkeypatch.setattr("aerotwin_core.run_folder._LIBRARIES", ("numpy", "no-such-library"))
    assert software_versions()["no-such-library"] == "not installed"
    assert set(library_versions()) == {"python", "machine", "numpy"}
    assert library_versions()["numpy"] == software_versions()["numpy"] == version("numpy")


def test_files_that_a_configuration_names_are_known_by_their_hashes(tmp_path):
    (tmp_path / "mission.yaml").write_text("abc")
    os.mkfifo(tmp_path / "pipe")
    names = {"mission": {"file": f"{tmp_path}/mission.yaml"}, "world": "campus", "seed": 3,
             "extra": [str(tmp_path), str(tmp_path / "pipe"), "a\0b", "x" * 5000]}  # fmt: skip
    # FIPS 180-2, appendix B.1: the hash of "abc".
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert named_files(names) == {f"{tmp_path}/mission.yaml": known}
