# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Small sound flights, airframes, results, surveys and folders of maps."""

import json
import shutil
import struct
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np

from evidence.fuzzing.samples import points, poses

Writer = Callable[[Path], list[Path]]


def _ulog(folder: Path) -> list[Path]:
    from evidence.fuzzing.crafted.logs import ulog_record, write_ulog

    topic = "vehicle_local_position"
    fields = "uint64_t timestamp;float x;float y;float z;bool xy_valid;bool z_valid;"
    more = ("xy_reset_counter", "z_reset_counter")
    fields += "".join(f"uint8_t {name};" for name in more) + "float[2] delta_xy;float delta_z;"
    rows = (
        ulog_record("D", struct.pack("<HQ3f4B3f", 0, stamp // 1000, *p, 1, 1, 0, 0, 0, 0, 0))
        for stamp, p in zip(poses()[0].tolist(), poses()[1].tolist(), strict=True)
    )
    return write_ulog(folder, [f"{topic}:{fields}"], topic, *rows)


def _gnss_csv(folder: Path) -> list[Path]:
    rows = (
        f"{stamp},{47.0 + 1e-5 * x:.7f},{8.0 + 1e-5 * y:.7f},{500.0 + z:.3f}\n"
        for stamp, (x, y, z) in zip((poses()[0] // 1000).tolist(), poses()[1].tolist(), strict=True)
    )
    (folder / "flight.csv").write_text("time_us,lat_deg,lon_deg,alt_m\n" + "".join(rows))
    return [folder / "flight.csv"]


def _submap(folder: Path) -> list[Path]:
    from aerotwin_teach_repeat.route_graph.submap_files import submap_path, write_submap
    from aerotwin_teach_repeat.route_graph.types import Submap

    cloud = points().astype(np.float32)
    normals = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(cloud), 1))
    path = submap_path(folder, 0, "npz")
    path.parent.mkdir()
    write_submap(folder, Submap(vertex_id=0, points=cloud, normals=normals), "npz")
    return [path]


def _dense_map(folder: Path) -> list[Path]:
    from aerotwin_core.camera import PinholeCamera
    from aerotwin_dense_localization.mapping.dense_map import DenseMap
    from aerotwin_dense_localization.mapping.folder import save_map
    from aerotwin_dense_localization.mapping.surface import SplatSurface

    n = 50
    surface = SplatSurface(
        camera=PinholeCamera(width=32, height=24, fx=20.0, fy=20.0, cx=15.5, cy=11.5),
        T_map_surface=np.eye(4),
        pixels=np.arange(n, dtype=np.int32),
        depth=np.linspace(1.0, 2.0, n, dtype=np.float32),
        variance=np.full(n, 0.01, np.float32),
        slopes=np.zeros((n, 2), np.float32),
        colours=np.full((n, 3), 100.0, np.float32),
        n_seen=np.full(n, 3, np.int64),
    )
    save_map(folder, DenseMap([surface]))
    return [folder / "manifest.json", folder / "surfaces" / "00000.npz"]


def _survey(folder: Path) -> list[Path]:
    from aerotwin_core.geodesy import GeodeticPoint
    from aerotwin_reconstruction.survey import SurveyCamera, write_photo
    from aerotwin_reconstruction.survey.photo import PhotoTag

    picture = np.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    tag = PhotoTag(
        position=GeodeticPoint(latitude_deg=47.0, longitude_deg=8.0, altitude_m=500.0),
        horizontal_m=0.02, vertical_m=0.04, R_enu_optical=np.diag([1.0, -1.0, -1.0]),
        focal_px=30.0, width_px=32, height_px=24, stamp="2026:06:01 10:00:02.500",
    )  # fmt: skip
    write_photo(folder / "a.jpg", picture, SurveyCamera(width_px=32, height_px=24), tag)
    shutil.copyfile(folder / "a.jpg", folder / "b.jpg")
    return [folder, folder / "a.jpg", folder / "b.jpg"]


def _airframe(folder: Path) -> list[Path]:
    source = resources.files("aerotwin_multirotor_dynamics") / "airframes" / "iris.yaml"
    (folder / "airframe.yaml").write_bytes(source.read_bytes())
    return [folder / "airframe.yaml"]


def _metrics(folder: Path) -> list[Path]:
    document = {"schema_version": 1, "title": "run", "sections": [{"values": [1.5, None, "x"]}]}
    (folder / "metrics.json").write_text(json.dumps(document, indent=1))
    return [folder / "metrics.json"]


ULOG, GNSS_CSV, SUBMAP, DENSE_MAP = (_ulog,), (_gnss_csv,), (_submap,), (_dense_map,)
SURVEY, AIRFRAME, METRICS = (_survey,), (_airframe,), (_metrics,)
