# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Position, attitude and camera of a picture from its JPEG: EXIF, and the gimbal's XMP.

Written as photogrammetry tools expect it, read from any camera. Input is untrusted: missing,
infinite and impossible values are refused with the file's name.
"""

import math
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from PIL.TiffImagePlugin import IFDRational
from scipy.spatial.transform import Rotation

from aerotwin_core.angles import wrap_deg
from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.frames import R_CAM_OPTICAL
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_core.picture_size import check_picture
from aerotwin_reconstruction.survey.camera import FULL_FRAME_DIAGONAL_MM, SurveyCamera

JPEG_QUALITY = 95
# CIPA DC-008 (EXIF 2.32), sections 4.6.4 to 4.6.6.
_MAKE, _MODEL, _DATE_TIME, _EXIF, _GPS = 0x010F, 0x0110, 0x0132, 0x8769, 0x8825
_DATE_ORIGINAL, _SUBSECONDS, _FOCAL, _FOCAL_35 = 0x9003, 0x9291, 0x920A, 0xA405
_PIXELS_PER_UNIT_X, _PIXELS_PER_UNIT_Y, _UNIT = 0xA20E, 0xA20F, 0xA210
_UNIT_MM = {2: 25.4, 3: 10.0}
_VERSION, _LATITUDE, _LONGITUDE, _ALTITUDE, _HORIZONTAL_ERROR = 0, 2, 4, 6, 31
_SECOND_PARTS, _ALTITUDE_PARTS = 10_000_000, 10_000  # 3 um of latitude, 0.1 mm
_XMP_NAME = r'drone-dji:{}\s*(?:=\s*"|>)\s*([-+0-9.eE]+)'
_MAX_XMP = 1 << 20


@dataclass(frozen=True, kw_only=True)
class PhotoTag:
    """Metadata of a picture.

    Attributes
    ----------
    position : GeodeticPoint
        Of the camera, by GNSS.
    horizontal_m, vertical_m : float or None
        Position errors reported by the receiver; the vertical one is in the XMP [m].
    R_enu_optical : (3, 3) array or None
        Attitude of the camera, if a gimbal reports it.
    focal_px : float or None
        Focal length in pixels by the maker's data.
    width_px, height_px : int
    stamp : str
        Date and time, "2026:06:01 10:00:00.000".
    """

    position: GeodeticPoint
    horizontal_m: float | None
    vertical_m: float | None
    R_enu_optical: np.ndarray | None
    focal_px: float | None
    width_px: int
    height_px: int
    stamp: str = ""


def write_photo(path: Path, image: np.ndarray, camera: SurveyCamera, tag: PhotoTag) -> None:
    """Write a picture (h, w, 3) uint8 as a JPEG file with its tag, atomically."""
    exif = Image.Exif()
    exif[_MAKE], exif[_MODEL] = camera.make, camera.model
    seconds, _, parts = tag.stamp.partition(".")
    exif[_DATE_TIME] = seconds
    pixels_per_cm = IFDRational(round(1e4 * camera.width_px), round(1e3 * camera.sensor_width_mm))
    exif.get_ifd(_EXIF).update(
        {
            _DATE_ORIGINAL: seconds,
            _SUBSECONDS: parts or "0",
            _FOCAL: IFDRational(round(1e4 * camera.focal_mm), 10_000),
            _FOCAL_35: round(camera.focal_35mm),
            _PIXELS_PER_UNIT_X: pixels_per_cm,
            _PIXELS_PER_UNIT_Y: pixels_per_cm,
            _UNIT: 3,
        }
    )
    exif.get_ifd(_GPS).update(_gps(tag))
    with atomic_file(path) as file:
        Image.fromarray(image).save(
            file, "JPEG", quality=JPEG_QUALITY, subsampling=0, exif=exif, xmp=_xmp(tag).encode()
        )


def read_photo_tag(path: Path) -> PhotoTag:
    """Return the metadata of a JPEG file.

    Raises
    ------
    UserError
        If it is no picture, or has no position.
    """
    size = check_picture(path)
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(path) as image:
            exif, xmp = image.getexif(), image.info.get("xmp", b"")
            gps, details = dict(exif.get_ifd(_GPS)), dict(exif.get_ifd(_EXIF))
    except (OSError, SyntaxError, ValueError) as error:
        raise UserError(f"{path}: not a picture that can be read ({error}); remove it") from None
    text = bytes(xmp[:_MAX_XMP]).decode("utf-8", "replace")
    try:
        position = _position(gps)
        error = gps.get(_HORIZONTAL_ERROR)
        return PhotoTag(
            position=position,
            horizontal_m=None if error is None else _number(error),
            vertical_m=_xmp_number(text, "RtkStdHgt"),
            R_enu_optical=_attitude(text),
            focal_px=_focal_px(details, size),
            width_px=size[0],
            height_px=size[1],
            stamp=f"{details.get(_DATE_ORIGINAL, '')}.{details.get(_SUBSECONDS, 0)}",
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError, IndexError) as error:
        raise UserError(
            f"{path}: its EXIF must hold GPSLatitude, GPSLongitude and GPSAltitude, got {error}; "
            "survey with GNSS, or write its positions into the pictures first"
        ) from None


def gimbal_angles_deg(R_enu_optical: np.ndarray) -> tuple[float, float, float]:
    """Return yaw (clockwise from north), pitch (up; -90 is straight down) and roll [deg]."""
    R_enu_cam = R_enu_optical @ R_CAM_OPTICAL.T
    if abs(R_enu_cam[2, 0]) > 1.0 - 1e-9:  # straight down or up: yaw and roll are one, roll is 0
        yaw = math.atan2(-R_enu_cam[0, 1], R_enu_cam[1, 1])
        down, roll = math.copysign(0.5 * math.pi, -R_enu_cam[2, 0]), 0.0
    else:
        yaw, down, roll = Rotation.from_matrix(R_enu_cam).as_euler("ZYX")
    return (90.0 - math.degrees(yaw)) % 360.0, -math.degrees(down), math.degrees(roll)


def rotation_of_gimbal(yaw_deg: float, pitch_deg: float, roll_deg: float) -> np.ndarray:
    """Return R_enu_optical of a gimbal's angles; the inverse of `gimbal_angles_deg`."""
    angles = np.radians([90.0 - yaw_deg, -pitch_deg, roll_deg])
    return Rotation.from_euler("ZYX", angles).as_matrix() @ R_CAM_OPTICAL


def _gps(tag: PhotoTag) -> dict:
    position = tag.position
    time = tag.stamp.partition(" ")[2].partition(".")[0]
    table: dict[int, Any] = {
        _VERSION: b"\x02\x03\x00\x00",
        1: "N" if position.latitude_deg >= 0.0 else "S",
        _LATITUDE: _sexagesimal(abs(position.latitude_deg)),
        3: "E" if position.longitude_deg >= 0.0 else "W",
        _LONGITUDE: _sexagesimal(abs(position.longitude_deg)),
        5: b"\x00" if position.altitude_m >= 0.0 else b"\x01",
        _ALTITUDE: IFDRational(round(abs(position.altitude_m) * _ALTITUDE_PARTS), _ALTITUDE_PARTS),
        29: tag.stamp.partition(" ")[0],
    }
    if time:
        table[7] = tuple(IFDRational(int(part), 1) for part in time.split(":"))
    if tag.horizontal_m is not None:
        table[_HORIZONTAL_ERROR] = IFDRational(round(tag.horizontal_m * 1e4), 10_000)
    return table


def _sexagesimal(angle_deg: float) -> tuple[IFDRational, IFDRational, IFDRational]:
    parts = round(angle_deg * 3600.0 * _SECOND_PARTS)
    minutes, seconds = divmod(parts, 60 * _SECOND_PARTS)
    degrees, minutes = divmod(minutes, 60)
    return IFDRational(degrees, 1), IFDRational(minutes, 1), IFDRational(seconds, _SECOND_PARTS)


def _position(gps: dict) -> GeodeticPoint:
    angles = []
    for key, negative in ((_LATITUDE, "S"), (_LONGITUDE, "W")):
        degrees, minutes, seconds = (_number(part) for part in gps[key])
        sign = -1.0 if str(gps[key - 1]).strip().upper().startswith(negative) else 1.0
        angles.append(sign * (degrees + minutes / 60.0 + seconds / 3600.0))
    below = gps.get(5, b"\x00") in (b"\x01", 1)
    altitude = _number(gps[_ALTITUDE]) * (-1.0 if below else 1.0)
    return GeodeticPoint(latitude_deg=angles[0], longitude_deg=angles[1], altitude_m=altitude)


def _focal_px(details: dict, size: tuple[int, int]) -> float | None:
    """Return the focal length from the size of a pixel, or from its 35 mm equivalent."""
    if _FOCAL in details and _PIXELS_PER_UNIT_X in details:
        unit_mm = _UNIT_MM.get(details.get(_UNIT, 2), 0.0)
        if unit_mm > 0.0:
            return _positive(
                _number(details[_FOCAL]) * _number(details[_PIXELS_PER_UNIT_X]) / unit_mm
            )
    if details.get(_FOCAL_35):
        return _positive(_number(details[_FOCAL_35]) * math.hypot(*size) / FULL_FRAME_DIAGONAL_MM)
    return None


def _xmp(tag: PhotoTag) -> str:
    """Return the XMP packet with the tags of DJI's cameras, which photogrammetry tools read."""
    arguments = {}
    if tag.R_enu_optical is not None:
        yaw, pitch, roll = gimbal_angles_deg(tag.R_enu_optical)
        arguments = {
            "GimbalYawDegree": f"{wrap_deg(yaw):+.4f}",
            "GimbalPitchDegree": f"{pitch:+.4f}",
            "GimbalRollDegree": f"{roll:+.4f}",
        }
    if tag.vertical_m is not None:
        arguments["RtkStdHgt"] = f"{tag.vertical_m:.4f}"
    attributes = " ".join(f'drone-dji:{name}="{value}"' for name, value in arguments.items())
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" '
        f'xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/" {attributes}/></rdf:RDF></x:xmpmeta>'
    )


def _attitude(xmp: str) -> np.ndarray | None:
    names = ("GimbalYawDegree", "GimbalPitchDegree", "GimbalRollDegree")
    angles = [_xmp_number(xmp, name) for name in names]
    if angles[0] is None or angles[1] is None:
        return None
    return rotation_of_gimbal(angles[0], angles[1], angles[2] or 0.0)


def _xmp_number(xmp: str, name: str) -> float | None:
    found = re.search(_XMP_NAME.format(name), xmp)
    return None if found is None else _number(found[1])


def _number(value) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value}, which is no number")
    return number


def _positive(number: float) -> float:
    if not number > 0.0:
        raise ValueError(f"a focal length of {number}")
    return number
