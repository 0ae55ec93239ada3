# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_reconstruction.survey import SurveyCamera, read_photo_tag, read_photos, write_photo
from aerotwin_reconstruction.survey.flight import camera_rotation
from aerotwin_reconstruction.survey.folder import TRUTH, read_truth, write_poses
from aerotwin_reconstruction.survey.photo import PhotoTag, gimbal_angles_deg, rotation_of_gimbal

RATIONAL_M = 1e-4  # altitude has 0.1 mm; latitude and longitude 3 um
ANGLE_TEXT = 1e-5  # angles have four decimals of a degree: 1e-6 rad
CAMERA = SurveyCamera(width_px=64, height_px=48)
PICTURE = np.full((48, 64, 3), 90, np.uint8)


def tag(latitude=-47.397742123, longitude=-8.545594456, altitude=-12.3456, **values):
    provided = {
        "horizontal_m": 0.02,
        "vertical_m": 0.04,
        "R_enu_optical": camera_rotation(0.3, 0.9, 0.05),
        "focal_px": CAMERA.focal_px,
        "width_px": 64,
        "height_px": 48,
        "stamp": "2026:06:01 10:00:02.500",
    }
    position = GeodeticPoint(latitude_deg=latitude, longitude_deg=longitude, altitude_m=altitude)
    return PhotoTag(position=position, **(provided | values))


@pytest.mark.parametrize(
    "place", [(47.397742123, 8.545594456, 488.1234), (-33.85, -151.2, -12.3456), (0.0, 180.0, 0.0)]
)
def test_a_position_survives_the_file_to_a_tenth_of_a_millimetre(tmp_path, place):
    path = tmp_path / "a.jpg"
    write_photo(path, PICTURE, CAMERA, tag(*place))
    read = read_photo_tag(path)
    plane = LocalTangentPlane(tag(*place).position)
    p = read.position
    off = plane.from_geodetic(p.latitude_deg, p.longitude_deg, p.altitude_m)
    np.testing.assert_allclose(off, 0.0, atol=RATIONAL_M)
    assert read.focal_px == pytest.approx(CAMERA.focal_px, rel=1e-6)
    assert (read.width_px, read.height_px) == (64, 48)
    assert (read.horizontal_m, read.vertical_m) == (0.02, 0.04)
    assert read.stamp == "2026:06:01 10:00:02.500"
    np.testing.assert_allclose(read.R_enu_optical, tag().R_enu_optical, atol=ANGLE_TEXT)


def test_other_readers_of_exif_find_the_usual_entries(tmp_path):
    path = tmp_path / "a.jpg"
    write_photo(path, PICTURE, CAMERA, tag(47.5, 8.25, 500.0))
    with Image.open(path) as image:
        exif = image.getexif()
        gps, details = dict(exif.get_ifd(0x8825)), dict(exif.get_ifd(0x8769))
    assert [float(part) for part in gps[2]] == [47.0, 30.0, 0.0] and gps[1] == "N"
    assert [float(part) for part in gps[4]] == [8.0, 15.0, 0.0] and gps[3] == "E"
    assert float(gps[6]) == 500.0 and gps[29] == "2026:06:01"
    assert float(details[0x920A]) == pytest.approx(9.6) and details[0xA405] == 26
    assert exif[0x010F] == "aerotwin" and exif[0x0132] == "2026:06:01 10:00:02"


def test_gimbal_angles_are_those_of_a_compass():
    # Looking north and down 30 degrees: yaw 0, pitch -30. East: 90.
    for heading, yaw in ((0.5 * np.pi, 0.0), (0.0, 90.0), (-0.5 * np.pi, 180.0)):
        R = camera_rotation(heading, np.radians(30.0))
        found = gimbal_angles_deg(R)
        assert (found[0] - yaw + 180.0) % 360.0 - 180.0 == pytest.approx(0.0, abs=1e-9)
        assert found[1:] == pytest.approx((-30.0, 0.0), abs=1e-9)
    straight_down = gimbal_angles_deg(camera_rotation(0.5 * np.pi, 0.5 * np.pi))
    assert straight_down == pytest.approx((0.0, -90.0, 0.0), abs=1e-9)


def test_gimbal_angles_and_rotation_are_inverse():
    for R in Rotation.random(50, rng=np.random.default_rng(2)).as_matrix():
        np.testing.assert_allclose(rotation_of_gimbal(*gimbal_angles_deg(R)), R, atol=1e-9)


def test_the_35_mm_equivalent_stands_in_where_pixels_have_no_size(tmp_path):
    path, exif = tmp_path / "a.jpg", Image.Exif()
    exif.get_ifd(0x8769)[0xA405] = 26
    exif.get_ifd(0x8825).update({1: "N", 2: (47, 0, 0), 3: "E", 4: (8, 0, 0), 6: 400})
    Image.fromarray(PICTURE).save(path, exif=exif)
    read = read_photo_tag(path)
    assert read.focal_px == pytest.approx(26.0 * 80.0 / 43.2666, rel=1e-4)
    assert read.R_enu_optical is None and read.horizontal_m is None


def test_what_is_no_survey_is_refused_by_name(tmp_path):
    Image.fromarray(PICTURE).save(tmp_path / "plain.jpg")
    with pytest.raises(UserError, match=r"plain\.jpg.*GPSLatitude"):
        read_photo_tag(tmp_path / "plain.jpg")
    (tmp_path / "torn.jpg").write_bytes(b"\xff\xd8\xff\xe1 no picture")
    with pytest.raises(UserError, match=r"torn\.jpg"):
        read_photo_tag(tmp_path / "torn.jpg")
    with pytest.raises(UserError, match="two pictures"):
        read_photos(Path(tmp_path / "nowhere"))


def test_true_poses_survive_their_file_and_damage_is_refused(tmp_path):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec([0.1, 0.2, 0.3]).as_matrix(), [1.0, 2.0, 1.0 / 3.0]
    write_poses(tmp_path / TRUTH, ["a.jpg"], [T])
    np.testing.assert_array_equal(read_truth(tmp_path)["a.jpg"], T)
    path = tmp_path / "truth.csv"
    path.write_text(path.read_text().replace("2.0", "nan"))
    with pytest.raises(UserError, match=r"truth\.csv"):
        read_truth(tmp_path)
