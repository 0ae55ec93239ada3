# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.home_path import expanded


def test_a_home_folder_is_written_out(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expanded("~/PX4") == tmp_path / "PX4"
    assert expanded("a/~b") == Path("a/~b")


def test_one_who_is_not_here_is_named():
    with pytest.raises(UserError, match=r"~nobody_here/x: ~nobody_here is no user .* in full"):
        expanded("~nobody_here/x")
