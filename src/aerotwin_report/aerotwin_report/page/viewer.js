// A scene of the page: the still picture becomes a view that can be turned.

const POINT_SIZES = [1, 8];
const PATH_PX = 3;
const LIGHT = 40;
const REACH_PX = 7;
const HELP = "Drag turns, with Shift it shifts; the wheel zooms after a click; pointing reads. "
  + "Keys: arrows, + and −, 1 to 4, Enter.";

class Viewer {
  constructor(figure) {
    this.figure = figure;
    this.stage = figure.querySelector(".stage");
    this.document = JSON.parse(figure.querySelector(".scene-data").textContent);
    this.look = { pointSize: 2, light: LIGHT, ratio: 1, cut: Infinity };
    this.isDirty = false;
    this.picked = null;
  }

  // Decode, build the controls and draw; called once, when the scene comes near the window.
  async start(drawing) {
    this.drawing = drawing;
    this.layers = this.document.layers;
    const scales = new Map();
    await Promise.all(this.layers.map(async (layer) => {
      layer.cells = await decodeLayer(layer);
      layer.isOn = layer.is_shown;
      layer.rgb = [1, 3, 5].map((k) => parseInt(layer.colour.slice(k, k + 2), 16));
    }));
    for (const layer of this.layers) layer.scale = layer.values === null ? null : scaleOf(layer, scales);
    this.scales = [...scales.values()];
    this.camera = makeCamera(this.document.half_m, this.document.reach_m);
    this.look.pointSize = this.fittingSize();
    this.canvas = element("canvas", { tabIndex: 0, className: "space" });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `${this.document.title}: 3-D view. Arrow keys turn, with Shift they `
      + "shift, plus and minus zoom, 1 to 4 look from the side of the buttons, Enter reads the point in the middle.");
    this.readout = element("output", { className: "readout", hidden: true });
    this.stage.append(this.canvas, this.readout, this.viewButtons(), this.touchButton());
    this.figure.querySelector(".controls").append(...this.controls());
    this.listen();
    this.figure.classList.add("live");
    this.resize();
    this.lookFrom("3-D");
  }

  // Points so large that those which are on would fill a third of the picture, side by side.
  fittingSize() {
    const { width, height } = this.stage.getBoundingClientRect();
    const n = this.layers.reduce((sum, layer) => sum + (layer.isOn && layer.kind === "points" ? layer.n : 0), 1);
    return Math.min(6, Math.max(2, Math.sqrt((0.33 * width * height) / n)));
  }

  lookFrom(name) {
    lookFrom(this.camera, name, this.canvas.width / this.canvas.height);
    this.redraw();
  }

  resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { width, height } = this.stage.getBoundingClientRect();
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
    this.look.ratio = ratio;
    this.redraw();
  }

  redraw() {
    if (this.isDirty) return;
    this.isDirty = true;
    requestAnimationFrame(() => {
      this.isDirty = false;
      this.draw();
    });
  }

  draw() {
    const { width, height } = this.canvas;
    const context = this.canvas.getContext("2d");
    const from = this.drawing.draw(this.layers, this.camera, width, height, this.look);
    context.clearRect(0, 0, width, height);
    context.drawImage(this.drawing.canvas, ...from, width, height, 0, 0, width, height);
    context.strokeStyle = context.fillStyle = getComputedStyle(this.stage).color;
    context.font = `${12 * this.look.ratio}px system-ui, sans-serif`;
    drawScaleBar(context, this.camera, this.look.ratio);
    drawAxes(context, this.camera, this.look.ratio);
    if (this.picked !== null) drawRing(context, this.picked, clipMatrix(this.camera, width / height), this.look.ratio);
  }

  // Read the point under a place of the canvas [CSS pixels], or say nothing.
  pick(x, y) {
    const { width, height } = this.canvas;
    const matrix = clipMatrix(this.camera, width / height);
    const [px, py] = [x * this.look.ratio, y * this.look.ratio];
    this.picked = pointAt(this.layers, matrix, width, height, [px, py], REACH_PX * this.look.ratio, this.look.cut);
    this.readout.hidden = this.picked === null;
    if (this.picked !== null) this.readout.textContent = this.described(this.picked);
    this.redraw();
  }

  described({ layer, i }) {
    const place = pointOf(layer, i).map((part, k) => (part + this.document.origin_m[k]).toFixed(2));
    const parts = [layer.name];
    if (layer.values !== null) {
      const value = valueOf(layer, i);
      const { quantity, unit } = layer.values;
      parts.push(Number.isNaN(value) ? `${quantity} not judged` : `${quantity} ${value.toPrecision(3)} ${unit}`.trim());
    }
    return `${parts.join(" · ")} · east ${place[0]}, north ${place[1]}, up ${place[2]} m`;
  }

  listen() {
    const redraw = () => this.redraw();
    new ResizeObserver(() => this.resize()).observe(this.stage);
    document.addEventListener("themechange", redraw);
    addEventListener("beforeprint", () => {
      this.draw();
      this.stage.querySelector(".still").src = this.canvas.toDataURL();
    });
    listenToPointers(this);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const step = event.shiftKey ? 0 : 6;
    const height = this.canvas.height, move = height / 20;
    const turns = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const zooms = { "+": 0.87, "=": 0.87, "-": 1.15, "_": 1.15 }[event.key];
    const view = Object.keys(VIEWS)[Number(event.key) - 1];
    if (turns && step) turn(this.camera, turns[0] * step, turns[1] * step);
    else if (turns) shift(this.camera, -turns[0] * move, turns[1] * move, height);
    else if (zooms) zoom(this.camera, zooms);
    else if (view !== undefined) return this.lookFrom(view);
    else if (event.key === "Enter") return this.pick(this.canvas.width / this.look.ratio / 2, height / this.look.ratio / 2);
    else return;
    event.preventDefault();
    this.redraw();
  }

  viewButtons() {
    const views = Object.keys(VIEWS).map((name, k) =>
      button(name, `look from ${name} (key ${k + 1})`, () => this.lookFrom(name)));
    const all = () => (document.fullscreenElement ? document.exitFullscreen() : this.stage.requestFullscreen());
    if (this.stage.requestFullscreen) views.push(button("⤢", "whole screen", all));
    return element("div", { className: "views" }, ...views);
  }

  // A finger scrolls the page until this was tapped.
  touchButton() {
    const toggle = button("tap to turn", "let fingers turn the view instead of scrolling the page", () => {
      const isOn = this.stage.classList.toggle("touched");
      toggle.textContent = isOn ? "done" : "tap to turn";
    });
    toggle.className = "touch";
    return toggle;
  }

  controls() {
    const layers = this.layers.map((layer) => {
      const box = element("input", { type: "checkbox", checked: layer.isOn });
      box.addEventListener("change", () => {
        layer.isOn = box.checked;
        this.redraw();
      });
      const swatch = element("i", { className: layer.scale === null ? "swatch" : "swatch scaled" });
      if (layer.scale === null) swatch.style.background = layer.colour;
      const name = element("span", {}, `${layer.name} `, element("small", {}, counted(layer)));
      return element("label", {}, box, swatch, name);
    });
    const size = slider("point size", POINT_SIZES[0], POINT_SIZES[1], this.look.pointSize, (value) => {
      this.look.pointSize = value;
      this.redraw();
      return `${value.toFixed(1)} px`;
    });
    const light = slider("depth shading", 0, 4 * LIGHT, this.look.light, (value) => {
      this.look.light = value;
      this.redraw();
      return value === 0 ? "none" : `${(value / LIGHT).toFixed(1)} ×`;
    });
    const hasPoints = this.layers.some((layer) => layer.kind === "points");
    const top = this.document.half_m[2];
    const cut = slider("cut above", -top, top, top, (value) => {
      this.look.cut = value < top ? value : Infinity;
      this.redraw();
      return value < top ? `${(value + this.document.origin_m[2]).toFixed(1)} m` : "nothing";
    });
    return [
      element("div", { className: "layers" }, ...layers),
      ...this.scales.map((scale) => this.scaleControls(scale)),
      ...(hasPoints ? [element("div", {}, size, light, ...(top > 0 ? [cut] : []))] : []),
      element("p", { className: "help" }, HELP),
    ];
  }

  scaleControls(scale) {
    const said = (value) => `${value.toPrecision(3)} ${scale.unit}`.trim();
    const ends = [element("span"), element("span")];
    const show = () => {
      ends[0].textContent = scale.low <= scale.least ? said(scale.low) : `≤ ${said(scale.low)}`;
      ends[1].textContent = scale.high >= scale.most ? said(scale.high) : `≥ ${said(scale.high)}`;
      this.redraw();
    };
    const curve = { least: scale.least, most: scale.most };
    const upTo = curvedSlider("colours up to", curve, scale.high, (value) => {
      scale.high = Math.max(value, scale.low + (scale.most - scale.least) * 1e-6 + 1e-12);
      show();
      return said(scale.high);
    });
    const from = curvedSlider("colours from", curve, scale.low, (value) => {
      scale.low = Math.min(value, scale.high - (scale.most - scale.least) * 1e-6 - 1e-12);
      show();
      return said(scale.low);
    });
    const hide = curvedSlider("hide below", curve, scale.least, (value) => {
      scale.hideBelow = value > scale.least ? value : null;
      this.redraw();
      return scale.hideBelow === null ? "nothing" : said(value);
    });
    show();
    return element("div", { className: "scale" },
      element("b", {}, scale.unit ? `${scale.quantity} [${scale.unit}]` : scale.quantity),
      element("div", { className: "bar" }), element("div", { className: "ends" }, ...ends), from, upTo, hide);
  }
}

// Layers of one quantity and unit share a scale.
function scaleOf(layer, scales) {
  const { quantity, unit, limits, low, step } = layer.values;
  const key = `${quantity}|${unit}`;
  let most = -Infinity;
  for (let i = 0; i < layer.n; i++) {
    const code = layer.cells[4 * i + 3];
    if (code !== NOT_JUDGED && code > most) most = code;
  }
  const largest = Number.isFinite(most) ? low + most * step : limits[1];
  if (!scales.has(key)) {
    scales.set(key, {
      quantity, unit, low: limits[0], high: limits[1], hideBelow: null,
      least: Math.min(low, limits[0]), most: Math.max(largest, limits[1]),
    });
  }
  const scale = scales.get(key);
  scale.least = Math.min(scale.least, low);
  scale.most = Math.max(scale.most, largest);
  return scale;
}

function counted(layer) {
  const said = (n) => n.toLocaleString("en");
  const far = layer.n_far > 0 ? `, ${said(layer.n_far)} far from all others left out` : "";
  return `${layer.n === layer.n_all ? said(layer.n) : `${said(layer.n)} of ${said(layer.n_all)}`}${far}`;
}

function drawScaleBar(context, camera, ratio) {
  const { width, height } = context.canvas;
  const pixel = metresPerPixel(camera, height);
  const wanted = 110 * ratio * pixel;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const metres = [5, 2, 1].map((k) => k * power).find((length) => length <= wanted);
  const [left, base, length] = [width - 14 * ratio - metres / pixel, height - 14 * ratio, metres / pixel];
  context.lineWidth = 2 * ratio;
  context.beginPath();
  context.moveTo(left, base - 5 * ratio);
  context.lineTo(left, base);
  context.lineTo(left + length, base);
  context.lineTo(left + length, base - 5 * ratio);
  context.stroke();
  context.textAlign = "center";
  const text = metres >= 1 ? `${metres} m` : `${Number((metres * 100).toPrecision(2))} cm`;
  context.fillText(text, left + length / 2, base - 6 * ratio);
}

function drawAxes(context, camera, ratio) {
  const { right, up, towards } = axesOf(camera);
  const [x, y, length] = [42 * ratio, 44 * ratio, 26 * ratio];
  context.lineWidth = 2 * ratio;
  context.textAlign = "center";
  for (const [k, name] of ["E", "N", "up"].entries()) {
    if (Math.abs(towards[k]) > 0.98) continue;
    const [dx, dy] = [right[k] * length, -up[k] * length];
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + dx, y + dy);
    context.stroke();
    context.fillText(name, x + dx * 1.4, y + dy * 1.4 + 4 * ratio);
  }
}

function drawRing(context, { layer, i }, matrix, ratio) {
  const place = projected(pointOf(layer, i), matrix, context.canvas);
  if (place === null) return;
  context.lineWidth = 2 * ratio;
  context.beginPath();
  context.arc(place[0], place[1], 6 * ratio, 0, 2 * Math.PI);
  context.stroke();
}
