# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Folders that are complete or absent."""

import pytest

from aerotwin_core.atomic_file import atomic_folder, discard_unfinished
from aerotwin_core.errors import UserError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_at_the_end_with_its_content(tmp_path):
    with atomic_folder(tmp_path / "below" / "out") as folder:
        assert folder.name == "out"
        (folder / "a").write_text("1")
        assert not (tmp_path / "below" / "out").exists()
    assert names(tmp_path / "below") == ["out"]
    assert (tmp_path / "below" / "out" / "a").read_text() == "1"


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with (
        pytest.raises(ValueError, match="no"),
        atomic_folder(tmp_path / "out", replaces=lambda _: True) as folder,
    ):
        (folder / "new").write_text("2")
        raise ValueError("no")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


def test_only_what_may_be_replaced_is(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with pytest.raises(UserError, match="exists already"), atomic_folder(tmp_path / "out"):
        pass
    with (
        pytest.raises(UserError, match="not what would be written"),
        atomic_folder(tmp_path / "out", replaces=lambda path: (path / "mine").exists()),
    ):
        pass
    with atomic_folder(tmp_path / "out", replaces=lambda path: (path / "old").exists()) as folder:
        (folder / "new").write_text("2")
    assert names(tmp_path / "out") == ["new"]


def test_a_file_or_a_link_is_never_replaced(tmp_path):
    (tmp_path / "file").write_text("1")
    (tmp_path / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with (
            pytest.raises(UserError, match="not what would be written"),
            atomic_folder(tmp_path / name, replaces=lambda _: True),
        ):
            pass


def test_what_is_unfinished_is_removed_when_the_process_ends(tmp_path):
    with pytest.raises(UserError), atomic_folder(tmp_path / "out") as folder:
        (folder / "a").write_text("1")
        discard_unfinished()
        assert names(tmp_path) == []
    assert names(tmp_path) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("1")
    with (
        pytest.raises(UserError, match="cannot be written"),
        atomic_folder(tmp_path / "file" / "out"),
    ):
        pass
