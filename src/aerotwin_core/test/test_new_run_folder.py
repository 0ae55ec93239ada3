# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from importlib.metadata import version

import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.run_folder import library_versions, make_run_folder, software_versions


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
