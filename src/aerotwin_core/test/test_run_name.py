# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where a run is written."""

import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.run_folder import make_run_folder


@pytest.mark.parametrize("name", ["a", "größe 2", "..", "-x", "a.b", "n" * 200])
def test_a_run_has_a_folder_of_its_own_among_the_runs(tmp_path, name):
    folders = [make_run_folder(tmp_path / "runs", name) for _ in range(2)]
    assert folders[0] != folders[1]
    assert sorted((tmp_path / "runs").iterdir()) == sorted(folders)
    assert name in folders[0].name


@pytest.mark.parametrize(
    "name", ["a/b", "../x", "../../x", "/x", "a\nb", "\x1b[31m", "n" * 201, "a\0"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    with pytest.raises(UserError, match="name: expected a part of a folder's name") as caught:
        make_run_folder(tmp_path / "runs", name)
    assert str(caught.value).isprintable()
    assert list(tmp_path.iterdir()) == []
