// SPDX-FileCopyrightText: 2026 aerotwin contributors
// SPDX-License-Identifier: Apache-2.0
// The map on which the start of a run is chosen. What it sets stands in the fields beside it, so that nobody needs it.
"use strict";

const MAP_POLL_MS = 600, WORLD_WAIT_MS = 400, DRAG_PX = 14;
const START_FIELDS = ["start_east_m", "start_north_m", "start_turn_deg"];
const BAR_SHARE = 0.3;
const MAP_HELP = "Click where the vehicle starts; drag from there to turn its heading. North is up.";

class StartMap {
  // `world` returns the chosen world, `load` asks the server for its map.
  constructor(world, load) {
    this.world = world;
    this.load = load;
    this.view = null;
    this.timer = 0;
    this.asked = "";
    this.known = "";
    this.text = made("p", { className: "hint" });
    this.text.setAttribute("role", "status");
    this.image = made("img", { alt: "" });
    this.origin = made("span", { className: "mark origin", title: "the world's start" });
    this.chosen = made("span", { className: "mark chosen", title: "the chosen start" });
    this.bar = made("span", { className: "bar" });
    const north = made("span", { className: "north", textContent: "N" });
    for (const element of [this.origin, this.chosen, this.bar, north]) element.setAttribute("aria-hidden", "true");
    this.picture = made("div", { className: "picture", hidden: true }, this.image, this.origin, this.chosen, this.bar, north);
    this.credit = made("p", { className: "hint" });
    const summary = made("summary", { textContent: "Choose on a map" });
    this.element = made("details", { className: "map" }, summary, this.text, this.picture, this.credit);
    this.element.addEventListener("toggle", () => this.follow(0));
    this.listen();
  }

  // A start is one in its world: in another one it is that world's own again.
  leaveWorld() {
    if (this.world() === this.known) return;
    this.keepStart();
    for (const { field, set } of controls) if (START_FIELDS.includes(field.name)) set(field.default ?? "");
  }

  // The start that the fields name is one in the world that is chosen now.
  keepStart() {
    this.known = this.world();
  }

  // Show the map of the world that is chosen now, and the start that the fields name.
  follow(wait = WORLD_WAIT_MS) {
    this.place();
    if (!this.element.open || this.world() === this.asked) return;
    this.asked = this.world();
    this.view = null;
    this.picture.hidden = true;
    this.text.textContent = this.asked ? `The map of ${this.asked} is being drawn …` : "Choose a world first.";
    this.credit.textContent = "";
    clearTimeout(this.timer);
    if (this.asked) this.timer = setTimeout(() => this.ask(this.asked), wait);
  }

  async ask(world) {
    let state;
    try {
      state = await this.load(world);
    } catch (error) {
      state = { phase: "failed", reason: `No map: ${said(error).split("; ")[0]}.` };
    }
    if (world !== this.asked) return;
    if (state.phase === "drawing") this.timer = setTimeout(() => this.ask(world), MAP_POLL_MS);
    else if (state.phase === "ready") this.show(state);
    else this.text.textContent = state.reason;
  }

  show(view) {
    this.view = view;
    this.image.src = view.picture;
    const [width, height] = [view.width * view.m_per_px, view.height * view.m_per_px];
    this.image.alt = `${this.asked} from above, ${width.toFixed(0)} m by ${height.toFixed(0)} m, north up`;
    this.picture.style.setProperty("--ratio", view.width / view.height);
    const length = roundLength(width * BAR_SHARE);
    this.bar.style.width = `${100 * length / width}%`;
    this.bar.textContent = `${length} m`;
    this.picture.hidden = false;
    this.text.textContent = MAP_HELP;
    this.credit.textContent = `Ring: the world's start. ${view.attribution}`;
    this.place();
  }

  place() {
    if (this.view === null) return;
    const [east, north, turn] = START_FIELDS.map((name) => Number(at(`field-${name}`)?.value ?? 0));
    this.mark(this.origin, 0, 0, this.view.start_yaw_deg);
    this.mark(this.chosen, east, north, this.view.start_yaw_deg + turn);
    this.chosen.hidden = east === 0 && north === 0 && turn === 0;
  }

  mark(element, east, north, yawDeg) {
    const { west_m, north_m, m_per_px, width, height } = this.view;
    element.style.left = `${100 * (east - west_m) / (m_per_px * width)}%`;
    element.style.top = `${100 * (north_m - north) / (m_per_px * height)}%`;
    element.style.setProperty("--turn", `${-yawDeg}deg`);
  }

  // A press places the start; a drag from there turns it. A finger that scrolls does neither.
  listen() {
    let pressed = null;
    const picture = this.picture;
    picture.addEventListener("pointerdown", (event) => {
      if (event.button === 0) pressed = [event.clientX, event.clientY];
      if (event.pointerType === "mouse") event.preventDefault();
    });
    picture.addEventListener("pointercancel", () => { pressed = null; });
    picture.addEventListener("pointerup", (event) => {
      if (pressed === null || this.view === null) return;
      const box = picture.getBoundingClientRect(), { west_m, north_m, m_per_px, width, height } = this.view;
      const east = west_m + (pressed[0] - box.left) / box.width * width * m_per_px;
      const north = north_m - (pressed[1] - box.top) / box.height * height * m_per_px;
      const [across, down] = [event.clientX - pressed[0], event.clientY - pressed[1]];
      const values = { start_east_m: east.toFixed(2), start_north_m: north.toFixed(2) };
      if (Math.hypot(across, down) > DRAG_PX) {
        const yawDeg = Math.atan2(-down, across) * 180 / Math.PI;
        values.start_turn_deg = String(Math.round(((yawDeg - this.view.start_yaw_deg) % 360 + 540) % 360 - 180));
      }
      pressed = null;
      for (const [name, value] of Object.entries(values)) {
        const input = at(`field-${name}`);
        input.value = value;
        input.dispatchEvent(new Event("input", { bubbles: true }));
      }
    });
  }
}

// 1, 2 or 5 times a power of ten, at most a length [m].
function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return power * [5, 2, 1].find((step) => step * power <= length);
}
