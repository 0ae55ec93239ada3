# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from aerotwin_core.errors import UserError
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import load_trajectory, read_trajectory, write_tum

NINE_DECIMALS = 1e-9


def some_trajectory(n=20):
    rng = np.random.default_rng(6)
    stamps = 1_403_715_529_112_143_517 + np.arange(n) * 50_000_001
    attitudes = Rotation.from_rotvec(rng.normal(0, 1, (n, 3))).as_quat()
    return Trajectory(stamps, rng.normal(0, 10, (n, 3)), attitudes)


def same_attitude(a, b):
    return np.abs(np.sum(a.q_ref_body * b.q_ref_body, axis=1)).min() > 1 - 1e-12


def test_tum_keeps_every_nanosecond(tmp_path):
    write_tum(tmp_path / "t.txt", some_trajectory())
    again = read_trajectory(tmp_path / "t.txt")
    assert (again.stamps_ns == some_trajectory().stamps_ns).all()
    np.testing.assert_allclose(again.p_ref_body, some_trajectory().p_ref_body, atol=NINE_DECIMALS)
    assert same_attitude(again, some_trajectory())


def test_euroc_has_nanoseconds_and_w_first(tmp_path):
    truth = some_trajectory()
    rows = ["#timestamp, x, y, z, qw, qx, qy, qz, vx"]
    for stamp, p, q in zip(truth.stamps_ns, truth.p_ref_body, truth.q_ref_body):
        rows.append(
            ",".join(map(repr, [int(stamp), *p.tolist(), q[3].item(), *q[:3].tolist(), 0.0]))
        )
    (tmp_path / "t.csv").write_text("\n".join(rows))
    again = read_trajectory(tmp_path / "t.csv")
    assert (again.stamps_ns == truth.stamps_ns).all()
    assert same_attitude(again, truth)


@pytest.mark.parametrize("start_ns", [50_000_000, 1_403_715_273_262_142_976])
def test_stamps_in_nanoseconds_are_found_where_w_is_last(tmp_path, start_ns):
    """As ORB-SLAM3 writes EuRoC's: by its names, `1e9 * t` with six digits, and x y z w."""
    truth = some_trajectory()
    stamps = truth.stamps_ns - truth.stamps_ns[0] + start_ns
    rows = [
        " ".join([f"{stamp}.000000", *(f"{x:.9f}" for x in (*p, *q))])
        for stamp, p, q in zip(stamps, truth.p_ref_body, truth.q_ref_body, strict=True)
    ]
    (tmp_path / "t.txt").write_text("\n".join(rows))
    for file_format in ("auto", "tum-ns"):
        again = load_trajectory(tmp_path / "t.txt", file_format=file_format).trajectory
        assert (again.stamps_ns == stamps).all()
        assert same_attitude(again, truth)


def test_kitti_is_row_major(tmp_path):
    T = some_trajectory().transforms()[:, :3]
    np.savetxt(tmp_path / "t.txt", T.reshape(-1, 12))
    again = read_trajectory(tmp_path / "t.txt")
    np.testing.assert_allclose(again.transforms()[:, :3], T, atol=NINE_DECIMALS)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", "no pose"),
        ("# nothing\n\n", "no pose"),
        ("1 2 3\n", "3 columns are no trajectory"),
        ("1 0 0 0 0 0 0 1 9\n", "9 columns are no trajectory"),
        ("1 0 0 0 0 0 0 1\n\n# late\n0 0 0 0 0 0 0 1\n", "go back at line 4"),
        ("# x\n1 nan 0 0 0 0 0 1\n", r"line 2: column 2 is not finite \(1 such rows\)"),
        ("1 0 0 0 0 0 0 1\n2 0 inf 0 0 0 0 1\n", "line 2: column 3 is not finite"),
        ("1 0 0 0 0 0 0 0\n", "line 1: the quaternion has length 0 instead of 1"),
        ("1 0 0 0 0 0 0.5 0.5\n", "length 0.707 instead of 1"),
        ("1 0 0 0 0 0 0 1\n2 0 0\n", "line 2 has 3 columns, the first row has 8"),
        ("1 a b c 0 0 0 1\n", "line 1: column 2 is no number: 'a'"),
        ("1e400 0 0 0 0 0 0 1\n", "no time|not finite"),
        ("99999999999 0 0 0 0 0 0 1\n", "no time in this unit"),
        ("1 0 0 0 1 0 0 0 1 0 0 0\n", "the 3x3 part is no rotation"),
        ("1 1e300 0 0 0 0 0 1\n", r"line 1: 1e\+300 m is no position"),
        ("1 0 0 2e9 0 1 0 0 0 0 1 0\n", r"line 1: 2e\+09 m is no position"),
        ("\0\0\1", "a binary file"),
    ],
)
def test_damaged_files_are_refused_in_words(tmp_path, text, tokens):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(UserError, match=tokens) as caught:
        read_trajectory(tmp_path / "t.txt")
    assert "t.txt" in str(caught.value)


def test_what_is_no_file_and_what_is_no_bag_is_said(tmp_path):
    with pytest.raises(UserError, match="no such file"):
        read_trajectory(tmp_path / "absent.txt")
    with pytest.raises(UserError, match="bag"):
        read_trajectory(tmp_path)


REPEATED = (
    "1.5 0 0 0 0 0 0 1\n2 1 0 0 0 0 0 1\n2 2 0 0 0 0 0 1\n2.0 3 0 0 0 0 0 1\n3 4 0 0 0 0 0 1\n"
)


@pytest.mark.parametrize(
    ("duplicates", "stamps", "x", "tokens"),
    [
        ("keep", [1500000000, 2000000000, 2000000001, 2000000002, 3000000000], [0, 1, 2, 3, 4],
         "2 poses have the stamp of the one before, the first at line 3; all are used"),
        ("first", [1500000000, 2000000000, 3000000000], [0, 1, 4], "the first of each is used"),
    ],
)  # fmt: skip
def test_equal_stamps_are_counted_and_said(tmp_path, duplicates, stamps, x, tokens):
    (tmp_path / "t.txt").write_text(REPEATED)
    found = load_trajectory(tmp_path / "t.txt", duplicates=duplicates)
    assert found.trajectory.stamps_ns.tolist() == stamps
    assert found.trajectory.p_ref_body[:, 0].tolist() == x
    (note,) = found.notes
    assert tokens in note
    with pytest.raises(UserError, match="remove them, or take --duplicates"):
        load_trajectory(tmp_path / "t.txt", duplicates="refuse")


def test_quaternions_off_their_length_are_normalised_and_said(tmp_path):
    (tmp_path / "t.txt").write_text("1 0 0 0 0 0 0 1.02\n2 0 0 0 0 0 0 1\n")
    found = load_trajectory(tmp_path / "t.txt")
    assert found.trajectory.q_ref_body[0].tolist() == [0, 0, 0, 1]
    assert "1 quaternions are off length 1 by up to 2.0e-02" in found.notes[0]


def test_matrices_stay_as_they_were_written(tmp_path):
    rounded = np.round(some_trajectory().transforms()[:, :3], 6)
    np.savetxt(tmp_path / "t.txt", rounded.reshape(-1, 12), fmt="%.6f")
    found = load_trajectory(tmp_path / "t.txt")
    np.testing.assert_array_equal(found.trajectory.R_ref_body, rounded[:, :, :3])
    assert "every 0.1 s" in found.notes[0]
    orthonormal = found.trajectory.transforms()[:, :3, :3]
    product = orthonormal @ orthonormal.transpose(0, 2, 1)
    np.testing.assert_allclose(product, np.tile(np.eye(3), (20, 1, 1)), atol=1e-12)


def test_times_of_another_length_are_refused(tmp_path):
    np.savetxt(tmp_path / "t.txt", some_trajectory().transforms()[:, :3].reshape(-1, 12))
    (tmp_path / "times.txt").write_text("0.0\n0.1\n")
    with pytest.raises(UserError, match="has 2 stamps for 20 poses"):
        read_trajectory(tmp_path / "t.txt", times=tmp_path / "times.txt")


HALF = "0.7071067811865476"


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("time_s,x_m,y_m,z_m,qx,qy,qz,qw", f"1.25,1,2,3,0,0,{HALF},{HALF}"),
        ("#stamp_ns,x,y,z,qw,qx,qy,qz", f"1250000000,1,2,3,{HALF},0,0,{HALF}"),
        ("t_ms,speed,pos_x_mm,pos_y_mm,pos_z_mm,roll_deg,pitch_deg,yaw_deg",
         "1250,7,1000,2000,3000,0,0,90"),
        ('timestamp [us],"p_x [cm]",p_y [cm],p_z [cm],q_x,q_y,q_z,q_w',
         f"1250000,100,200,300,0,0,{HALF},{HALF}"),
        ("time_s,pose.pose.position.x,pose.pose.position.y,pose.pose.position.z,"
         "pose.pose.orientation.x,pose.pose.orientation.y,pose.pose.orientation.z,"
         "pose.pose.orientation.w", f"1.25,1,2,3,0,0,{HALF},{HALF}"),
        ("time_s,x_m,y_m,z_m,roll_rad,pitch_rad,yaw_rad", "1.25,1,2,3,0,0,1.5707963267948966"),
    ],
)  # fmt: skip
def test_columns_are_known_by_name_and_unit(tmp_path, header, row):
    (tmp_path / "t.csv").write_text(f"{header}\n{row}\n")
    found = load_trajectory(tmp_path / "t.csv")
    assert found.file_format == "csv"
    assert found.trajectory.stamps_ns.tolist() == [1_250_000_000]
    np.testing.assert_allclose(found.trajectory.p_ref_body, [[1, 2, 3]])
    yaw = Rotation.from_quat(found.trajectory.q_ref_body).as_euler("xyz", degrees=True)
    np.testing.assert_allclose(yaw, [[0, 0, 90]], atol=NINE_DECIMALS)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("time,x_m,y_m,z_m,qx,qy,qz,qw\n1,0,0,0,0,0,0,1\n", "name it time_s, time_ms"),
        ("x_m,y_m,z_m,qx,qy,qz,qw,v\n1,0,0,0,0,0,1,1\n", "no column of time"),
        ("time_s,lat,lon,z_m,qx,qy,qz,qw\n1,0,0,0,0,0,0,1\n", "no columns of position"),
        ("time_s,x_m,y_m,z_m,a,b,c,d\n1,0,0,0,0,0,0,1\n", "no columns of attitude"),
        ("time_s,x_m,y_m,z_m,roll,pitch,yaw\n1,0,0,0,0,0,0\n", "must say their unit"),
        ("time_s,x_m,y_m,z_m\n1,0,0,0,0,0,0,1\n", "4 names stand above 8 columns"),
        ("time_s,x_deg,y_deg,z_deg,qx,qy,qz,qw\n1,0,0,0,0,0,0,1\n", "no unit of a position"),
        ("time_s,x_m,y_m,z_m,qx,qy,qz,qw\nnow,0,0,0,0,0,0,1\n", "is no number: 'now'"),
    ],
)
def test_columns_that_do_not_say_what_they_are_are_refused(tmp_path, text, tokens):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(UserError, match=tokens):
        read_trajectory(tmp_path / "t.csv")


def test_tf_of_a_bag_is_a_trajectory(shared_data):
    """The bag of the data folder: 517 messages on /tf; each transform is read by hand too."""
    from aerotwin_core.bag import BagReader

    bag = shared_data("trajectories/evo/tf_example")
    found = load_trajectory(bag, topic="/tf:odom.base_footprint")
    by_hand = {}
    for _, _, message in BagReader(bag).messages(["/tf"]):
        for transform in message.transforms:
            if transform.child_frame_id == "base_footprint":
                stamp, p = transform.header.stamp, transform.transform.translation
                by_hand.setdefault(stamp.sec * 10**9 + stamp.nanosec, [p.x, p.y, p.z])
    stamps = sorted(by_hand)
    assert found.file_format == "bag"
    assert found.trajectory.stamps_ns.tolist() == stamps
    np.testing.assert_allclose(
        found.trajectory.p_ref_body, [by_hand[stamp] for stamp in stamps], atol=NINE_DECIMALS
    )
    assert len(load_trajectory(bag).trajectory) == len(stamps)  # its only moving edge
    with pytest.raises(UserError, match="no_such"):
        load_trajectory(bag, topic="/tf:odom.no_such")


def a_bag(folder, seconds):
    from aerotwin_core import messages
    from aerotwin_core.bag import BagWriter

    with BagWriter(folder) as writer:
        writer.add_topic("/odom", "nav_msgs/msg/Odometry")
        for k, second in enumerate(seconds):
            message = messages.odometry_message(
                second * 10**9, "map", "base", [k, 0, 0], [0, 0, 0, 1], [0] * 3, [0] * 3
            )
            writer.write("/odom", k, messages.serialize(message))
    return folder


def test_equal_stamps_of_a_bag_are_refused_or_said(tmp_path):
    bag = a_bag(tmp_path / "bag", [1, 2, 2, 3])
    with pytest.raises(UserError, match="1 poses of /odom repeat a stamp"):
        load_trajectory(bag, topic="/odom", duplicates="refuse")
    for duplicates, is_said in (("first", False), ("keep", True)):
        found = load_trajectory(bag, topic="/odom", duplicates=duplicates)
        assert found.trajectory.p_ref_body[:, 0].tolist() == [0, 1, 3]
        assert any("equal stamps are not retained" in note for note in found.notes) == is_said
    clean = a_bag(tmp_path / "clean", [1, 2, 3])
    assert len(load_trajectory(clean, topic="/odom", duplicates="refuse").trajectory) == 3


@pytest.mark.parametrize("file_format", ["tum", "kitti", "euroc", "csv"])
def test_a_bag_is_not_read_as_another_format(tmp_path, file_format):
    bag = a_bag(tmp_path / "bag", [1, 2, 3])
    with pytest.raises(UserError, match=f"a bag, not a file of format {file_format}"):
        load_trajectory(bag, topic="/odom", file_format=file_format)


@pytest.mark.parametrize(
    ("name", "content", "tokens"),
    [
        ("flight.ulg", b"ULog\x01\x12\x35\x01" + bytes(64), "PX4 log .ULog.*recording:="),
        ("flight.zip", b"PK\x03\x04" + bytes(64), "a ZIP archive"),
        ("flight.dat", bytes(64), "a binary file"),
    ],
)
def test_a_binary_file_is_named_with_the_way_out(tmp_path, name, content, tokens):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=tokens):
        read_trajectory(tmp_path / name)
