// Scenes as the page carries them, and what both ways of drawing need of them.

const NOT_JUDGED = 65535;
const GREY = [154, 163, 176];

// Undo `pack` of scene_data.py: four 16-bit numbers for each point, x y z and the value's code.
async function decodeLayer(layer) {
  const packed = Uint8Array.from(atob(layer.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const cells = new Uint16Array(4 * layer.n);
  for (let column = 0; column < (layer.values ? 4 : 3); column++) {
    const low = 2 * column * layer.n, high = low + layer.n;
    for (let i = 0, code = 0; i < layer.n; i++) {
      const folded = planes[low + i] | (planes[high + i] << 8);
      code = (code + ((folded >>> 1) ^ -(folded & 1))) & 0xffff;
      cells[4 * i + column] = code;
    }
  }
  return cells;
}

function pointOf(layer, i) {
  return [0, 1, 2].map((k) => layer.low_m[k] + layer.cells[4 * i + k] * layer.step_m);
}

function valueOf(layer, i) {
  const code = layer.cells[4 * i + 3];
  return code === NOT_JUDGED ? NaN : layer.values.low + code * layer.values.step;
}

// Whether the threshold leaves a point in the picture; what was not judged goes with the lowest.
function isHidden(layer, value) {
  return layer.scale !== null && layer.scale.hideBelow !== null && !(value >= layer.scale.hideBelow);
}

// The highest cell of a layer that a cut at a height leaves; paths are not cut.
function topCellOf(layer, cut) {
  return layer.kind === "path" ? Infinity : (cut - layer.low_m[2]) / layer.step_m;
}

function colourOf(layer, value, table) {
  if (layer.scale === null) return layer.rgb;
  if (Number.isNaN(value)) return GREY;
  const share = (value - layer.scale.low) / (layer.scale.high - layer.scale.low);
  const row = 3 * Math.round(255 * Math.min(1, Math.max(0, share)));
  return [table[row], table[row + 1], table[row + 2]];
}

// Clip matrix of a layer's lattice: clip = rows x (cell x, cell y, cell z, 1).
function latticeRows(layer, matrix) {
  return [0, 1, 2, 3].map((r) => {
    const [a, b, c, d] = [matrix[r], matrix[4 + r], matrix[8 + r], matrix[12 + r]];
    const [x, y, z] = layer.low_m;
    return [a * layer.step_m, b * layer.step_m, c * layer.step_m, d + a * x + b * y + c * z];
  });
}

// The point that is drawn nearest to the eye within `reach` pixels of a place, or null.
function pointAt(layers, matrix, width, height, [x, y], reach, cut) {
  let best = null, bestDepth = Infinity;
  for (const layer of layers) {
    if (!layer.isOn) continue;
    const [rx, ry, rz, rw] = latticeRows(layer, matrix);
    const cells = layer.cells, topCell = topCellOf(layer, cut);
    for (let i = 0; i < layer.n; i++) {
      const a = cells[4 * i], b = cells[4 * i + 1], c = cells[4 * i + 2];
      if (c > topCell) continue;
      const w = rw[0] * a + rw[1] * b + rw[2] * c + rw[3];
      if (w <= 0) continue;
      const dx = ((rx[0] * a + rx[1] * b + rx[2] * c + rx[3]) / w * 0.5 + 0.5) * width - x;
      if (dx > reach || dx < -reach) continue;
      const dy = (0.5 - (ry[0] * a + ry[1] * b + ry[2] * c + ry[3]) / w * 0.5) * height - y;
      if (dx * dx + dy * dy > reach * reach) continue;
      const depth = (rz[0] * a + rz[1] * b + rz[2] * c + rz[3]) / w - (layer.kind === "path" ? 1 : 0);
      if (depth >= bestDepth || depth < -2) continue;
      if (layer.scale !== null && isHidden(layer, valueOf(layer, i))) continue;
      [best, bestDepth] = [{ layer, i, x: x + dx, y: y + dy }, depth];
    }
  }
  return best;
}
