// Drawing without WebGL: points and paths are projected here, pixel by pixel.

function makePlainDrawing(table) {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");

  function drawPoints(layer, rows, frame, size, topCell) {
    const [rx, ry, rz, rw] = rows;
    const { cells } = layer;
    const inks = inksOf(layer, table);
    for (let i = 0; i < layer.n; i++) {
      const ink = inks(i);
      if (ink === 0) continue;
      const a = cells[4 * i], b = cells[4 * i + 1], c = cells[4 * i + 2];
      if (c > topCell) continue;
      const w = rw[0] * a + rw[1] * b + rw[2] * c + rw[3];
      if (w <= 0) continue;
      const x = ((rx[0] * a + rx[1] * b + rx[2] * c + rx[3]) / w * 0.5 + 0.5) * frame.width;
      const y = (0.5 - (ry[0] * a + ry[1] * b + ry[2] * c + ry[3]) / w * 0.5) * frame.height;
      stamp(frame, x, y, (rz[0] * a + rz[1] * b + rz[2] * c + rz[3]) / w, size, ink);
    }
  }

  function drawPath(layer, matrix, frame, size) {
    const inks = inksOf(layer, table);
    const corners = Array.from({ length: layer.n }, (_, i) => projected(pointOf(layer, i), matrix, frame));
    for (let i = 0; i + 1 < layer.n; i++) {
      const ink = inks(i), [from, to] = [corners[i], corners[i + 1]];
      if (ink === 0 || from === null || to === null) continue;
      const n = Math.min(Math.ceil(Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]), 1)), 4096);
      for (let k = 0; k < n; k++) {
        const [x, y] = [0, 1].map((j) => from[j] + ((to[j] - from[j]) * k) / n);
        stamp(frame, x, y, -2, size, ink);  // paths stand before all points
      }
    }
  }

  return {
    canvas,
    draw(layers, camera, width, height, look) {
      const matrix = clipMatrix(camera, width / height);
      const [pointSize, pathSize] = [look.pointSize, PATH_PX].map((size) => Math.round(size * look.ratio));
      [canvas.width, canvas.height] = [width, height];
      const picture = context.createImageData(width, height);
      const depth = new Float32Array(width * height).fill(1);
      const frame = { width, height, depth, inks: new Uint32Array(picture.data.buffer) };
      const on = layers.filter((layer) => layer.isOn);
      for (const layer of on) {
        if (layer.kind !== "points") continue;
        drawPoints(layer, latticeRows(layer, matrix), frame, pointSize, topCellOf(layer, look.cut));
      }
      drawLight(frame, camera, look);
      for (const layer of on) if (layer.kind === "path") drawPath(layer, matrix, frame, pathSize);
      context.putImageData(picture, 0, 0);
      return [0, 0];
    },
  };
}

// The light of draw_gl.js, from four neighbours of each pixel.
function drawLight({ width, height, depth, inks }, camera, look) {
  if (look.light === 0) return;
  const [near, far] = depthRange(camera);
  const logs = depth.map((clip) => {
    const stored = (clip + 1) / 2;
    if (stored >= 1) return Infinity;
    if (camera.isParallel) return ((near + stored * (far - near)) / camera.distance) * 1.4427;
    return Math.log2((near * far) / (far - stored * (far - near)));
  });
  for (let at = width; at < width * (height - 1); at++) {
    if (inks[at] === 0) continue;
    let behind = 0;
    for (const other of [at - 1, at + 1, at - width, at + width]) behind += Math.max(0, logs[at] - logs[other]);
    const share = Math.exp((-look.light * behind) / 4);
    const [r, g, b] = [0, 8, 16].map((bits) => ((inks[at] >>> bits) & 255) * share);
    inks[at] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
}

function projected(point, matrix, frame) {
  const row = (r) => matrix[r] * point[0] + matrix[4 + r] * point[1] + matrix[8 + r] * point[2] + matrix[12 + r];
  const w = row(3);
  if (w <= 0) return null;
  return [((row(0) / w) * 0.5 + 0.5) * frame.width, (0.5 - (row(1) / w) * 0.5) * frame.height];
}

// Colour of a point as one number in the byte order of a picture; 0 = not drawn.
function inksOf(layer, table) {
  const ink = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  if (layer.scale === null) {
    const same = ink(layer.rgb);
    return () => same;
  }
  return (i) => {
    const value = valueOf(layer, i);
    return isHidden(layer, value) ? 0 : ink(colourOf(layer, value, table));
  };
}

function stamp(frame, x, y, depth, size, ink) {
  const left = Math.max(0, Math.round(x - size / 2)), right = Math.min(frame.width, Math.round(x - size / 2) + size);
  const top = Math.max(0, Math.round(y - size / 2)), end = Math.min(frame.height, Math.round(y - size / 2) + size);
  for (let row = top; row < end; row++) {
    for (let column = left; column < right; column++) {
      const at = row * frame.width + column;
      if (depth >= frame.depth[at]) continue;
      frame.depth[at] = depth;
      frame.inks[at] = ink;
    }
  }
}
