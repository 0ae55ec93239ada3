# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight that is launched with a view: a real browser shows and steers it.

What buttons did is read from the topics of the simulator.
"""

import re
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from aerotwin_simulator.events.plan import load_events
from support.graph_observer import launched

PORT = 18490
WORDS = [
    "view:=true", f"view_port:={PORT}", "world:=meadow", "speed:=1.0", "mission:=none",
    "camera:=false", "slam:=none", "record:=none", "lidar:=spinning_16",
]  # fmt: skip
_PATIENCE_S = 90.0
LATE_S = 0.5  # simulated time of what is under way when the test begins to listen

pytestmark = [pytest.mark.slow, pytest.mark.ros]


class Heard:
    """The height of the vehicle and the simulated time, as their topics say."""

    def __init__(self) -> None:
        import rclpy
        from nav_msgs.msg import Odometry
        from rclpy.executors import SingleThreadedExecutor
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import NavSatFix

        self.node = rclpy.create_node("beside_the_view")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self.p = (0.0, 0.0, 0.0)
        self.stamp_ns = 0
        self.has_fix = False
        self.node.create_subscription(NavSatFix, "/gnss/fix", self._on_fix, 10)
        self.node.create_subscription(Odometry, "/truth/odom", self._on_odometry, 10)
        self.node.create_subscription(Clock, "/clock", self._on_clock, 10)

    def _on_odometry(self, message) -> None:
        p = message.pose.pose.position
        self.p = (p.x, p.y, p.z)

    def _on_clock(self, message) -> None:
        self.stamp_ns = message.clock.sec * 1_000_000_000 + message.clock.nanosec

    def _on_fix(self, message) -> None:
        self.has_fix = message.status.status >= 0

    def listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=0.05)

    def until(self, is_enough: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not is_enough():
            assert time.monotonic() < end, (self.p, self.stamp_ns)
            self.listen(0.1)


@pytest.fixture(scope="module")
def flight(browser, tmp_path_factory) -> Iterator[tuple[Page, Heard]]:
    folder = tmp_path_factory.mktemp("live")
    words = [*WORDS, f"runs_dir:={folder}"]
    with launched("sitl_flight.launch.yaml", words, folder) as (process, log):
        heard = Heard()
        heard.until(lambda: heard.stamp_ns > 0 and "view: http" in log.read_text())
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.set_default_timeout(1000.0 * _PATIENCE_S)
        page.goto(f"http://127.0.0.1:{PORT}/")
        page.get_by_text(re.compile(r"x real time, 1 robot\b")).wait_for()
        yield page, heard
        page.close()
        assert process.poll() is None, log.read_text()
        heard.node.destroy_node()


def test_the_page_pauses_steps_and_goes_on(flight):
    page, heard = flight
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("pause: paused").wait_for()
    heard.listen(1.0)
    before = heard.stamp_ns
    heard.listen(1.0)
    assert heard.stamp_ns == before
    page.get_by_role("button", name="Step").click()
    page.get_by_text(re.compile("step: ")).wait_for()
    page.get_by_role("button", name="Run").click()
    heard.until(lambda: heard.stamp_ns > before)


def test_the_speed_is_chosen_while_it_runs(flight):
    page, heard = flight
    page.get_by_role("button", name="0.5x").click()
    page.get_by_text("speed set: 0.5x").wait_for()
    heard.listen(1.0)  # to what is under way
    before, start = heard.stamp_ns, time.monotonic()
    heard.listen(4.0)
    assert (heard.stamp_ns - before) * 1e-9 < 0.5 * (time.monotonic() - start) + LATE_S
    for text in ("As fast as possible", "1x"):
        page.get_by_role("button", name=text).click()
        page.get_by_text(f"speed set: {text.lower()}").wait_for()


def test_a_fault_is_injected_shown_ended_and_saved_as_events(flight, tmp_path):
    page, heard = flight
    heard.until(lambda: heard.has_fix)
    page.get_by_text("Faults", exact=True).click()
    page.get_by_role("button", name="Inject the fault").click()
    page.get_by_text(re.compile(r"gnss_loss_1 since [\d.]+ s")).wait_for()
    heard.until(lambda: not heard.has_fix)
    page.get_by_role("button", name="End the active one").click()
    page.get_by_text("no fault is active").wait_for()
    heard.until(lambda: heard.has_fix)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as events (YAML)").click()
    download.value.save_as(tmp_path / "events.yaml")
    (event,) = load_events(tmp_path / "events.yaml")
    assert event.do == "gnss_loss" and 0.0 < event.duration_s < _PATIENCE_S
    page.get_by_role("combobox", name="Fault", exact=True).click()
    page.get_by_role("option", name="gust", exact=True).click()
    page.get_by_role("button", name="Inject the fault").click()
    page.get_by_text("not injected: a gust of zero does nothing").wait_for()
    page.get_by_text("Faults", exact=True).click()


def test_a_vehicle_takes_off_and_flies_to_a_clicked_place(flight):
    page, heard = flight
    start = heard.p
    page.get_by_role("button", name="Take off").click()
    heard.until(lambda: heard.p[2] > start[2] + 1.5)
    page.get_by_role("combobox", name="Follow").click()
    page.get_by_role("option", name="none").click()
    page.mouse.click(300, 620)
    found = page.get_by_text(re.compile(r"\((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\) m in map"))
    found.wait_for()
    match = re.search(r"\((-?[\d.]+), (-?[\d.]+), (-?[\d.]+)\) m in map", found.inner_text())
    x, y, z = map(float, match.groups())
    page.get_by_role("button", name="Fly to the places").click()
    # By its own estimate it is there; GNSS is metres off.
    target = np.array([x, y, z + 5.0])
    heard.until(lambda: np.linalg.norm(np.array(heard.p) - target) < 3.0)
    page.get_by_text(re.compile(r"flying to a place 0\.\d m away")).wait_for()
    page.get_by_role("button", name="Stop there").click()
    page.get_by_text("stopped: the vehicle holds").wait_for()
    page.get_by_role("button", name="Hold").click()
    page.get_by_text(re.compile("hold: sent to the autopilot")).wait_for()
    page.get_by_text(re.compile("vehicle: HOLD, armed")).wait_for()
    heard.listen(3.0)  # it brakes
    held = heard.p
    heard.listen(2.0)
    assert heard.p == pytest.approx(held, abs=0.5)


def test_a_key_drives_and_letting_go_stops(flight):
    page, heard = flight
    z = heard.p[2]
    page.mouse.move(300, 300)
    for _ in range(8):
        page.keyboard.press("t")
        heard.listen(0.2)
    heard.until(lambda: heard.p[2] > z + 0.5)
    heard.listen(3.0)
    stopped = heard.p
    heard.listen(1.0)
    assert heard.p == pytest.approx(stopped, abs=0.3)


def test_the_points_of_the_lidar_can_be_shown(flight):
    page, _ = flight
    choice = page.get_by_role("combobox", name="Points")
    choice.click()
    page.get_by_role("option", name="/lidar/points").click()
    expect(choice).to_have_value("/lidar/points")
    page.wait_for_timeout(3000.0)
    expect(page.get_by_text("no pose is known")).to_have_count(0)


def test_a_vehicle_joins_at_a_clicked_place_and_leaves(flight):
    page, heard = flight
    pytest.importorskip("simulation_interfaces")
    page.get_by_text("Fleet", exact=True).click()
    page.mouse.click(420, 700)
    page.get_by_role("button", name="Add at the last place").click()
    said = page.get_by_text(re.compile(r"add: \w+ joined"))
    said.wait_for()
    name = said.inner_text().split()[1]
    page.get_by_text(re.compile(r"x real time, 2 robots")).wait_for()
    heard.until(lambda: heard.node.count_publishers(f"/{name}/truth/odom") == 1)
    choice = page.get_by_role("combobox", name="Vehicle")
    choice.click()
    page.get_by_role("option", name=name).click()
    page.get_by_role("button", name="Remove the chosen").click()
    page.get_by_text(f"remove: {name} left").wait_for()
    page.get_by_text(re.compile(r"x real time, 1 robot\b")).wait_for()


def test_reset_brings_the_vehicle_back_to_its_start(flight):
    page, heard = flight
    page.get_by_role("button", name="Land").click()
    page.get_by_role("button", name="Reset").click()
    heard.until(lambda: abs(heard.p[0]) < 5.0 and heard.p[2] < 3.0)
