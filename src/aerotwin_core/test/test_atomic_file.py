# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that are whole or absent, and what is no file and must stay what it is."""

import os
import stat
import threading
import time

import pytest

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.cli import write_json
from aerotwin_core.errors import UserError

PATIENCE_S = 10.0


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "new" / "result.txt"
    with atomic_file(path) as file:
        file.write(b"first")
    with pytest.raises(RuntimeError), atomic_file(path) as file:
        file.write(b"second")
        raise RuntimeError
    assert path.read_bytes() == b"first" and list(path.parent.iterdir()) == [path]


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    path, link = tmp_path / "there" / "result.json", tmp_path / "link.json"
    path.parent.mkdir()
    path.write_text("old")
    link.symlink_to(path)
    write_json(str(link), {"a": 1})
    assert link.is_symlink() and '"a": 1' in path.read_text()
    assert list(path.parent.iterdir()) == [path]


def test_a_device_is_written_to_and_stays(tmp_path):
    controller, device = os.openpty()
    path, link = os.ttyname(device), tmp_path / "link"
    link.symlink_to(path)
    before = os.stat(path).st_ino
    for place in (path, str(link)):
        write_json(place, {"a": 1})
        assert b'"a": 1' in os.read(controller, 1000)
    assert stat.S_ISCHR(os.stat(path).st_mode) and os.stat(path).st_ino == before
    os.close(controller)
    os.close(device)


def test_the_nowhere_of_all_programs_stays_a_device():
    write_json(os.devnull, {"a": 1})
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_pipe_is_written_to_while_somebody_reads(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    with pytest.raises(UserError, match=r"pipe: cannot be written \(No such device or address\)"):
        write_json(str(path), {})
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    end = time.monotonic() + PATIENCE_S
    while True:  # until it has opened its end
        try:
            write_json(str(path), {"a": 1})
            break
        except UserError:
            assert time.monotonic() < end
    reader.join(PATIENCE_S)
    assert b'"a": 1' in read[0] and stat.S_ISFIFO(os.stat(path).st_mode)


def test_a_folder_in_its_place_is_an_error(tmp_path):
    with pytest.raises(UserError, match="cannot be written"):
        write_json(str(tmp_path), {})
