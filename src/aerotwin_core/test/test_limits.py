# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The limit of memory for a file, and NPZ files and pictures that would pass it."""

import io
import os
import zipfile
from functools import partial

import numpy as np
import pytest
from PIL import Image

from aerotwin_core import limits
from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file, check_memory, file_size, memory_limit
from aerotwin_core.numpy_files import NpzFile
from aerotwin_core.picture_size import check_picture


def test_a_small_file_may_take_the_default_and_a_large_one_in_proportion(monkeypatch):
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    assert memory_limit() == memory_limit(1000) == limits.DEFAULT_MB * 1_000_000
    assert memory_limit(10**9) == limits.TIMES_FILE * 10**9


def test_a_user_can_raise_the_limit_as_the_message_says(monkeypatch):
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    with pytest.raises(UserError, match=rf"a\.x: its points would .* {limits.VARIABLE}=5001$"):
        check_memory(5_000_000_001, where="a.x", what="its points")
    monkeypatch.setenv(limits.VARIABLE, "5001")
    check_memory(5_000_000_001, where="a.x", what="its points")


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "many\x1b", "9" * 30])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv(limits.VARIABLE, text)
    with pytest.raises(UserError, match=f"{limits.VARIABLE}: expected a number of megabytes"):
        memory_limit()


def test_arrays_beyond_the_limit_are_refused_by_their_headers(monkeypatch):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=np.zeros(1_000_000), b=np.ones(3))
    monkeypatch.setenv(limits.VARIABLE, "17")
    archive = NpzFile(buffer, "a.npz")
    assert archive.names == ("a", "b")
    np.testing.assert_array_equal(archive.read(["b"], copies=2)["b"], np.ones(3))
    with pytest.raises(UserError, match=r"a\.npz: its arrays would take 24 MB"):
        archive.read(["a"], copies=3)
    assert len(archive.read(["a"], copies=2)["a"]) == 1_000_000


def test_an_array_that_claims_more_than_its_bytes_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("a.npy", "w") as member:
        about = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        np.lib.format.write_array_header_1_0(member, about)
    with pytest.raises(ValueError, match="needs 8000000000000 bytes, 0 are there"):
        NpzFile(buffer, "a.npz").read(["a"], copies=1)


def test_python_objects_are_not_unpickled():
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="Python objects"):
        NpzFile(buffer, "a.npz").read(["a"], copies=1)


def test_the_size_of_a_picture_is_that_of_its_header(tmp_path, monkeypatch):
    Image.new("RGB", (40, 30)).save(tmp_path / "a.jpg", quality=50)
    assert check_picture(tmp_path / "a.jpg") == (40, 30)
    data = (tmp_path / "a.jpg").read_bytes()
    at = data.index(b"\xff\xc0") + 5
    for size in (13_000, 65_500):
        size_bytes = size.to_bytes(2, "big") * 2
        (tmp_path / "b.jpg").write_bytes(data[:at] + size_bytes + data[at + 4 :])
        with pytest.raises(UserError, match=r"b\.jpg: its .*pixels"):
            check_picture(tmp_path / "b.jpg")
    (tmp_path / "c.jpg").write_bytes(b"no picture")
    with pytest.raises(UserError, match=r"c\.jpg: not a picture"):
        check_picture(tmp_path / "c.jpg")


def test_broken_metadata_of_a_picture_warns_of_nothing(tmp_path, recwarn):
    exif = (
        b"Exif\0\0II*\0\x08\0\0\0" + b"\x05\0" + b"\xff" * 20
    )  # five entries, one and a half there
    Image.new("RGB", (40, 30)).save(tmp_path / "a.jpg", exif=exif)
    with pytest.warns(UserWarning, match="Corrupt EXIF"):
        Image.open(tmp_path / "a.jpg").close()
    recwarn.clear()
    assert check_picture(tmp_path / "a.jpg") == (40, 30)
    assert not recwarn.list


def test_a_device_or_a_pipe_is_refused_before_it_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    os.mkfifo(tmp_path / "pipe")
    assert file_size(tmp_path / "file") == 3
    found = {"/dev/zero": "a device", tmp_path / "pipe": "a pipe"}
    for path, kind in found.items():
        for check in (file_size, check_is_file, partial(check_is_file, is_read_once=True)):
            with pytest.raises(UserError, match=f"{path}: expected a file, found {kind}; "):
                check(path)
    for path in (tmp_path, tmp_path / "missing", "a\0b"):
        check_is_file(path)


def test_a_pipe_of_the_shell_is_a_file_where_one_reading_does():
    ends = os.pipe()
    path = f"/dev/fd/{ends[0]}"
    check_is_file(path, is_read_once=True)
    for check in (file_size, check_is_file):
        with pytest.raises(UserError, match=f"{path}: .* a pipe; write .* to a file first"):
            check(path)
    for end in ends:
        os.close(end)
