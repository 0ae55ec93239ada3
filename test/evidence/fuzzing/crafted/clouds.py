# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Hostile clouds and grids."""

import struct
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np

_ZEROS = bytes(1 << 20)


def _ply_digits(folder: Path) -> list[Path]:
    head = f"ply\nformat ascii 1.0\nelement vertex {'9' * 5000}\nproperty float x\nend_header\n"
    (folder / "cloud.ply").write_text(head)
    return [folder / "cloud.ply"]


def write_npz_of_zeros(path: Path, arrays: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Write arrays of zeros, by name their type and shape: a thousandth of their size on disk."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (kind, shape) in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                head = BytesIO()
                about = {"descr": kind, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(head, about)
                member.write(head.getvalue())
                left = np.dtype(kind).itemsize * int(np.prod(shape))
                while left:
                    left -= member.write(_ZEROS[: min(left, len(_ZEROS))])


def _npz_zeros(folder: Path) -> list[Path]:
    write_npz_of_zeros(folder / "cloud.npz", {"points": ("<f8", (50_000_000, 3))})
    return [folder / "cloud.npz"]


def _npz_many(folder: Path) -> list[Path]:
    """Thirty arrays, each below any limit for one."""
    arrays = {f"a{k}": ("<f8", (2_000_000, 3)) for k in range(30)}
    write_npz_of_zeros(folder / "cloud.npz", arrays)
    return [folder / "cloud.npz"]


def _npy_shape(folder: Path) -> list[Path]:
    with (folder / "cloud.npy").open("wb") as file:
        about = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)}
        np.lib.format.write_array_header_1_0(file, about)
    return [folder / "cloud.npy"]


def _pcd_count(folder: Path) -> list[Path]:
    head = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n"
    head += f"WIDTH {'9' * 5000}\nHEIGHT 1\nPOINTS {'9' * 5000}\nDATA binary\n"
    (folder / "cloud.pcd").write_text(head)
    return [folder / "cloud.pcd"]


def _pcd_lzf(folder: Path) -> list[Path]:
    """A run of zeros, and references to it: 264 bytes out of three."""
    n = 30_000_000
    head = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
    head += f"WIDTH {n}\nHEIGHT 1\nPOINTS {n}\nDATA binary_compressed\n"
    n_more, rest = divmod(12 * n - 1, 264)
    packed = b"\x00\x00" + b"\xe0\xff\x00" * n_more
    packed += b"".join(b"\x00\x00" for _ in range(rest))
    body = struct.pack("<II", len(packed), 12 * n) + packed
    (folder / "cloud.pcd").write_bytes(head.encode() + body)
    return [folder / "cloud.pcd"]


def _ply_list(folder: Path) -> list[Path]:
    head = (
        "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\n"
        "property float y\nproperty float z\nproperty list uint uchar w\nend_header\n"
    )
    data = struct.pack("<3fI", 1.0, 2.0, 3.0, 0xFFFFFFFF)
    (folder / "cloud.ply").write_bytes(head.encode() + data)
    return [folder / "cloud.ply"]


def _ply_of_nothing(folder: Path) -> list[Path]:
    """Elements without properties take no byte in the file."""
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {10**12}\nend_header\n"
    (folder / "cloud.ply").write_text(head)
    return [folder / "cloud.ply"]


def _text_of_digits(folder: Path) -> list[Path]:
    (folder / "cloud.xyz").write_text("9" * 5000 + "\n1 2 3\n")
    return [folder / "cloud.xyz"]


def _binvox_layer(n: int) -> Callable[[Path], list[Path]]:
    """Return a writer of one layer of cells: each word of 512 cells holds 64 of them."""

    def write(folder: Path) -> list[Path]:
        head = f"#binvox 1\ndim 1 {n} {n}\ntranslate 0 0 0\nscale {n}\ndata\n".encode()
        n_full, rest = divmod(n**2, 255)
        (folder / "grid.binvox").write_bytes(head + b"\x01\xff" * n_full + bytes([1, rest]))
        return [folder / "grid.binvox"]

    return write


def _laz_of_one_point(folder: Path) -> list[Path]:
    """Equal points, of which many fit a byte."""
    import laspy

    header = laspy.LasHeader(point_format=0, version="1.2")
    with laspy.open(folder / "cloud.laz", "w", header=header) as writer:
        record = laspy.ScaleAwarePointRecord.zeros(1_000_000, header=header)
        for _ in range(15):
            writer.write_points(record)
    return [folder / "cloud.laz"]


def _binvox_full(folder: Path) -> list[Path]:
    head = b"#binvox 1\ndim 1000 1000 1000\ntranslate 0 0 0\nscale 1000\ndata\n"
    n_full, rest = divmod(1000**3, 255)
    body = b"\x01\xff" * n_full + struct.pack("BB", 1, rest)
    (folder / "grid.binvox").write_bytes(head + body)
    return [folder / "grid.binvox"]


def _binvox_digits(folder: Path) -> list[Path]:
    (folder / "grid.binvox").write_bytes(b"#binvox 1\ndim %s 1 1\n" % (b"9" * 200) + b"data\n")
    return [folder / "grid.binvox"]


CRAFTED: dict[str, dict[str, Callable[[Path], list[Path]]]] = {
    "ply": {
        "count of 5,000 digits": _ply_digits,
        "list of 4 GB": _ply_list,
        "10^12 vertices of nothing": _ply_of_nothing,
    },
    "pcd": {"count of 5,000 digits": _pcd_count, "360 MB of zeros in LZF": _pcd_lzf},
    "laz": {"15 million equal points": _laz_of_one_point},
    "xyz": {"number of 5,000 digits": _text_of_digits},
    "npy": {"shape of 24 TB": _npy_shape},
    "npz": {"1.2 GB of zeros": _npz_zeros, "thirty arrays of 48 MB": _npz_many},
    "binvox": {
        "1000^3 full cells": _binvox_full,
        "a layer of 31,600^2 full cells": _binvox_layer(31_600),
        "a layer of 15,800^2 full cells": _binvox_layer(15_800),
        "dim of 200 digits": _binvox_digits,
    },
}
