# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Small sound files of every format, in the variants that take different ways through a reader."""

import json
import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import yaml

from aerotwin_core import messages
from aerotwin_core.bag import BagWriter

Writer = Callable[[Path], list[Path]]
_N = 200
_N_POSES = 40
_SECOND = 1_000_000_000


def points() -> np.ndarray:
    """Return points (200, 3) of a wavy ground, 20 m wide [m]."""
    rng = np.random.default_rng(0)
    xy = rng.uniform(-10.0, 10.0, (_N, 2))
    return np.column_stack([xy, np.sin(xy[:, 0]) + 0.1 * xy[:, 1]])


def poses() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stamps (40,) [ns], positions (40, 3) [m] and quaternions (40, 4) xyzw of a spiral."""
    t = np.linspace(0.0, 4.0, _N_POSES)
    positions = np.column_stack([np.cos(t), np.sin(t), 0.1 * t])
    quaternions = np.column_stack([0.0 * t, 0.0 * t, np.sin(t / 2.0), np.cos(t / 2.0)])
    return np.round((t + 100.0) * _SECOND).astype(np.int64), positions, quaternions


def _ply_binary(folder: Path) -> list[Path]:
    from aerotwin_registration import write_cloud

    write_cloud(folder / "cloud.ply", points(), np.ones(_N))
    return [folder / "cloud.ply"]


def _ply_mesh(order: str, name: str) -> Writer:
    """Return a writer of a big- or little-endian mesh with doubles and faces of three and four."""

    def write(folder: Path) -> list[Path]:
        head = (
            f"ply\nformat {name} 1.0\nelement vertex {_N}\nproperty uchar red\nproperty double x\n"
            "property double y\nproperty double z\nelement face 2\n"
            "property list uchar int vertex_indices\nend_header\n"
        )
        body = b"".join(struct.pack(f"{order}B3d", 9, *p) for p in points())
        body += struct.pack(f"{order}B3i", 3, 0, 1, 2) + struct.pack(f"{order}B4i", 4, 3, 4, 5, 6)
        (folder / "mesh.ply").write_bytes(head.encode() + body)
        return [folder / "mesh.ply"]

    return write


def _ply_ascii(folder: Path) -> list[Path]:
    head = f"ply\nformat ascii 1.0\nelement vertex {_N}\n"
    head += "".join(f"property float {axis}\n" for axis in "zyx") + "end_header\n"
    rows = "".join(f"{p[2]:.4f} {p[1]:.4f} {p[0]:.4f}\n" for p in points())
    (folder / "cloud.ply").write_text(head + rows)
    return [folder / "cloud.ply"]


def _pcd(mode: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        head = (
            "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z normal\nSIZE 4 4 4 4\nTYPE F F F F\n"
            f"COUNT 1 1 1 3\nWIDTH {_N}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {_N}\n"
            f"DATA {mode}\n"
        )
        table = np.column_stack([points(), np.ones((_N, 3))]).astype("<f4")
        body = table.tobytes()
        if mode == "ascii":
            body = "".join(" ".join(f"{v:.4f}" for v in row) + "\n" for row in table).encode()
        elif mode == "binary_compressed":
            columns = table[:, :3].T.tobytes() + table[:, 3:].tobytes()
            packed = _lzf_literals(columns)
            body = struct.pack("<II", len(packed), len(columns)) + packed
        (folder / "cloud.pcd").write_bytes(head.encode() + body)
        return [folder / "cloud.pcd"]

    return write


def _lzf_literals(data: bytes) -> bytes:
    """Pack as LZF does where nothing repeats: runs of at most 32 bytes behind their length - 1."""
    parts = [data[k : k + 32] for k in range(0, len(data), 32)]
    return b"".join(bytes([len(part) - 1]) + part for part in parts)


def _text(name: str, head: str, line: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        rows = "".join(line.format(*p) for p in points())
        (folder / name).write_text(head + rows)
        return [folder / name]

    return write


def _numpy(name: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        if name.endswith("z"):
            np.savez_compressed(folder / name, points=points(), intensity=np.ones(_N))
        else:
            np.save(folder / name, points().astype(np.float32))
        return [folder / name]

    return write


def _las(name: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        import laspy

        header = laspy.LasHeader(point_format=3, version="1.2")
        header.offsets, header.scales = np.array([5e5, 4e6, 0.0]), np.array([0.001] * 3)
        las = laspy.LasData(header)
        las.x, las.y, las.z = (points() + header.offsets).T
        las.write(folder / name)
        return [folder / name]

    return write


def _binvox(folder: Path) -> list[Path]:
    from aerotwin_voxel_cloud import frame_of_bounds, grid_of_points, write_binvox

    bounds = np.array([points().min(axis=0), points().max(axis=0)])
    write_binvox(folder / "grid.binvox", grid_of_points(points(), frame_of_bounds(bounds, 1.0)))
    return [folder / "grid.binvox"]


def _obj(folder: Path) -> list[Path]:
    lines = ["mtllib mesh.mtl", "usemtl stone"]
    lines += [f"v {x:.3f} {y:.3f} {z:.3f}" for x, y, z in points()]
    lines += ["vt 0.5 0.5", "f 1/1 2/1 3/1", "f -4 -3 -2 -1"]
    lines += [f"f {k} {k + 1} {k + 2}" for k in range(1, _N - 3)]
    (folder / "mesh.obj").write_text("\n".join(lines) + "\n")
    (folder / "mesh.mtl").write_text("newmtl stone\nKd 0.5 0.5 0.5\n")
    return [folder / "mesh.obj", folder / "mesh.mtl"]


def _glb_bytes(folder: Path) -> bytes:
    from aerotwin_meshes import TexturedMesh
    from aerotwin_meshes.gltf.writer import write_glb

    mesh = TexturedMesh(
        vertices_map=points(),
        triangles=np.column_stack([np.arange(_N - 2) + k for k in range(3)]).astype(np.int32),
        uv=np.zeros((_N, 2), dtype=np.float32),
        texture=np.full((4, 4, 3), 128, dtype=np.uint8),
    )
    write_glb(folder / "mesh.glb", [mesh])
    return (folder / "mesh.glb").read_bytes()


def _glb(folder: Path) -> list[Path]:
    _glb_bytes(folder)
    return [folder / "mesh.glb"]


def _gltf(folder: Path) -> list[Path]:
    data = _glb_bytes(folder)
    (folder / "mesh.glb").unlink()
    n_json = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + n_json])
    document["buffers"][0]["uri"] = "mesh.bin"
    (folder / "mesh.gltf").write_text(json.dumps(document, indent=1))
    (folder / "mesh.bin").write_bytes(data[28 + n_json :])
    return [folder / "mesh.gltf", folder / "mesh.bin"]


def _draco(folder: Path) -> list[Path]:
    """Return a GLB file whose mesh is packed by Draco."""
    import DracoPy

    triangles = np.column_stack([np.arange(_N - 2) + k for k in range(3)]).astype(np.uint32)
    packed = DracoPy.encode(points().astype(np.float32), triangles, quantization_bits=14)
    mesh = DracoPy.decode(packed)
    ids = {"POSITION": mesh.attributes[0]["unique_id"]}
    low, high = points().min(axis=0).tolist(), points().max(axis=0).tolist()
    accessors = [
        {"componentType": 5126, "type": "VEC3", "count": len(mesh.points), "min": low, "max": high},
        {"componentType": 5125, "type": "SCALAR", "count": mesh.faces.size},
    ]
    extension = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": ids}}
    primitive = {"attributes": {"POSITION": 0}, "indices": 1, "extensions": extension}
    document = {
        "asset": {"version": "2.0"},
        "extensionsUsed": list(extension),
        "extensionsRequired": list(extension),
        "scenes": [{"nodes": [0]}],
        "scene": 0,
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "accessors": accessors,
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": len(packed)}],
        "buffers": [{"byteLength": len(packed)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    packed += bytes(-len(packed) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    body += struct.pack("<I4s", len(packed), b"BIN\x00") + packed
    head = struct.pack("<4sII", b"glTF", 2, 12 + len(body))
    (folder / "packed.glb").write_bytes(head + body)
    return [folder / "packed.glb"]


def _tileset(folder: Path) -> list[Path]:
    glb = _glb_bytes(folder)
    (folder / "mesh.glb").unlink()
    table = b'{"BATCH_LENGTH":0}  '
    head = struct.pack("<4sIIIIII", b"b3dm", 1, 28 + len(table) + len(glb), len(table), 0, 0, 0)
    (folder / "tile.b3dm").write_bytes(head + table + glb)
    tile = {
        "boundingVolume": {"box": [0, 0, 0, 20, 0, 0, 0, 20, 0, 0, 0, 20]},
        "geometricError": 0,
        "content": {"uri": "tile.b3dm"},
    }
    root = {**tile, "geometricError": 5, "refine": "ADD", "children": [tile]}
    document = {"asset": {"version": "1.0"}, "geometricError": 10, "root": root}
    (folder / "tileset.json").write_text(json.dumps(document, indent=1))
    return [folder / "tileset.json", folder / "tile.b3dm"]


def _trajectory(name: str, kind: str) -> Writer:
    def write(folder: Path) -> list[Path]:
        stamps, positions, quaternions = poses()
        lines = ["time_s,x_m,y_m,z_m,qx,qy,qz,qw"] if kind == "csv" else []
        for stamp, p, q in zip(stamps.tolist(), positions, quaternions, strict=True):
            if kind in ("tum", "csv"):
                row = [f"{stamp / _SECOND:.6f}", *(f"{v:.6f}" for v in (*p, *q))]
                lines.append(("," if kind == "csv" else " ").join(row))
            elif kind == "euroc":
                row = [str(stamp), *(f"{v:.6f}" for v in (*p, q[3], *q[:3], *[0.0] * 9))]
                lines.append(",".join(row))
            else:
                c, s = 1.0 - 2.0 * q[2] ** 2, 2.0 * q[2] * q[3]
                row3 = (c, -s, 0, p[0], s, c, 0, p[1], 0, 0, 1, p[2])
                lines.append(" ".join(f"{v:.6e}" for v in row3))
        (folder / name).write_text("\n".join(lines) + "\n")
        return [folder / name]

    return write


def _bag_messages() -> list[tuple[str, str, int, bytes]]:
    """Return (topic, type, stamp, CDR) of poses and clouds."""
    found = []
    for stamp, p, q in zip(*poses(), strict=True):
        odometry = messages.odometry_message(
            int(stamp), "map", "base_link", p, q, [0.0] * 3, [0.0] * 3, pose_variances=[0.01] * 6
        )
        found.append(("/odom", "nav_msgs/msg/Odometry", int(stamp), messages.serialize(odometry)))
    for stamp in poses()[0][::10]:
        cloud = messages.point_cloud_message(int(stamp), "base_link", points())
        kind = "sensor_msgs/msg/PointCloud2"
        found.append(("/points", kind, int(stamp), messages.serialize(cloud)))
    return sorted(found, key=lambda row: row[2])


def _bag_mcap(folder: Path) -> list[Path]:
    with BagWriter(folder / "bag") as writer:
        for topic, kind, stamp, cdr in _bag_messages():
            writer.add_topic(topic, kind)
            writer.write(topic, stamp, cdr)
            writer.flush()  # many chunks
    return [folder / "bag", folder / "bag" / "bag_0.mcap", folder / "bag" / "metadata.yaml"]


def _bag_sqlite(folder: Path) -> list[Path]:
    bag = folder / "bag"
    bag.mkdir()
    rows = _bag_messages()
    kinds = dict.fromkeys((topic, kind) for topic, kind, _, _ in rows)
    with closing(sqlite3.connect(bag / "bag_0.db3")) as base, base:
        base.execute(
            "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, "
            "serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL)"
        )
        base.execute(
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, "
            "timestamp INTEGER NOT NULL, data BLOB NOT NULL)"
        )
        base.execute("CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
        numbers = {topic: k for k, (topic, _) in enumerate(kinds, 1)}
        for topic, kind in kinds:
            values = numbers[topic], topic, kind
            base.execute("INSERT INTO topics VALUES(?, ?, ?, 'cdr', '')", values)
        base.executemany(
            "INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)",
            [(numbers[topic], stamp, cdr) for topic, _, stamp, cdr in rows],
        )
    information = {
        "version": 5,
        "storage_identifier": "sqlite3",
        "relative_file_paths": ["bag_0.db3"],
        "message_count": len(rows),
        "starting_time": {"nanoseconds_since_epoch": rows[0][2]},
    }
    text = json.dumps({"rosbag2_bagfile_information": information}, indent=1)  # YAML reads JSON
    (bag / "metadata.yaml").write_text(text)
    return [bag, bag / "bag_0.db3", bag / "metadata.yaml"]


def _protocol(folder: Path) -> list[Path]:
    from aerotwin_core.parameters import to_mapping
    from aerotwin_map_evaluation.protocol import MapProtocol

    text = yaml.safe_dump({"name": "example", "map": to_mapping(MapProtocol())})
    (folder / "protocol.yaml").write_text(text)
    return [folder / "protocol.yaml"]


PLY = (_ply_binary, _ply_mesh("<", "binary_little_endian"), _ply_mesh(">", "binary_big_endian"),
       _ply_ascii)  # fmt: skip
PCD = (_pcd("ascii"), _pcd("binary"), _pcd("binary_compressed"))
XYZ = (_text("cloud.xyz", "", "{:.4f} {:.4f} {:.4f}\n"),
       _text("cloud.txt", "# x y z\n", "{:.4f}\t{:.4f}\t{:.4f}\n"))  # fmt: skip
CSV_CLOUD = (_text("cloud.csv", "x,y,z,nx,ny,nz\n", "{:.4f} , {:.4f} , {:.4f} , 0,0,1\n"),)
NPZ, NPY = (_numpy("cloud.npz"),), (_numpy("cloud.npy"),)
LAS, LAZ = (_las("cloud.las"),), (_las("cloud.laz"),)
BINVOX, OBJ, GLTF, TILESET = (_binvox,), (_obj,), (_glb, _gltf, _draco), (_tileset,)
TUM = (_trajectory("estimate.txt", "tum"),)
KITTI = (_trajectory("poses.txt", "kitti"),)
CSV_TRAJECTORY = (_trajectory("truth.csv", "csv"),)
EUROC = (_trajectory("data.csv", "euroc"),)
BAG_MCAP, BAG_SQLITE = (_bag_mcap,), (_bag_sqlite,)
PROTOCOL = (_protocol,)
