// Drawing with WebGL. One context serves all views of the page, whose number is not limited then:
// each frame is drawn here and copied to the view's own canvas.

const POINT_SHADER = `
in vec3 cell; in float code;
uniform mat4 clip; uniform vec3 low; uniform float step, size, topCell;
uniform float valueLow, valueStep, scaleLow, scaleHigh, hideBelow;
uniform bool isColoured, hides; uniform vec3 colour, grey; uniform sampler2D table;
out vec3 shade;
void main() {
  gl_Position = clip * vec4(low + cell * step, 1.0);
  gl_PointSize = size;
  if (cell.z > topCell) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
  shade = colour;
  if (!isColoured) return;
  bool isJudged = code < 65534.5;
  float value = valueLow + code * valueStep;
  float share = clamp((value - scaleLow) / (scaleHigh - scaleLow), 0.0, 1.0);
  shade = isJudged ? texture(table, vec2((share * 255.0 + 0.5) / 256.0, 0.5)).rgb : grey;
  if (hides && !(isJudged && value >= hideBelow)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}`;
const ROUND_SHADER = `
in vec3 shade; uniform float size; out vec4 colour;
void main() {
  if (size > 3.5 && length(gl_PointCoord - 0.5) > 0.5) discard;
  colour = vec4(shade, 1.0);
}`;
// Eye-dome lighting (Boucheny, "Interactive scientific visualisation of large datasets", 2009,
// chapter 4): a point is darker the farther it lies behind its neighbours on the screen. Depth is
// taken relative to that of the target where the view is parallel, as a logarithm where it is not.
const WHOLE_SHADER = `
in vec2 corner;
void main() { gl_Position = vec4(corner, 0.0, 1.0); }`;
const LIT_SHADER = `
uniform sampler2D picture, depths; uniform vec3 range; uniform bool isParallel;
uniform float strength, reach; out vec4 colour;
float depthOf(float stored) {
  if (isParallel) return (range.x + stored * (range.y - range.x)) / range.z * 1.4427;
  return log2(range.x * range.y / (range.y - stored * (range.y - range.x)));
}
void main() {
  ivec2 here = ivec2(gl_FragCoord.xy);
  float stored = texelFetch(depths, here, 0).r;
  if (stored >= 1.0) discard;
  float depth = depthOf(stored), behind = 0.0;
  for (int k = 0; k < 8; k++) {
    float angle = 0.7853982 * float(k);
    ivec2 there = here + ivec2(round(reach * vec2(cos(angle), sin(angle))));
    float other = texelFetch(depths, max(there, ivec2(0)), 0).r;
    if (other < 1.0) behind += max(0.0, depth - depthOf(other));
  }
  colour = vec4(texelFetch(picture, here, 0).rgb * exp(-strength * behind / 8.0), 1.0);
  gl_FragDepth = stored;
}`;
// A segment is a ribbon of constant width on the screen: lines of WebGL are one pixel wide.
const PATH_SHADER = `
in vec3 from, to; in vec2 corner; in vec3 shadeAt;
uniform mat4 clip; uniform vec2 screen; uniform float size; out vec3 shade;
void main() {
  vec4 a = clip * vec4(from, 1.0), b = clip * vec4(to, 1.0);
  vec2 along = (b.xy / max(b.w, 1e-4) - a.xy / max(a.w, 1e-4)) * screen;
  along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
  vec2 across = vec2(-along.y, along.x);
  vec4 end = corner.x < 0.5 ? a : b;
  vec2 off = (across * corner.y + along * (corner.x - 0.5)) * size / screen;
  gl_Position = end + vec4(off * end.w, 0.0, 0.0);
  shade = shadeAt;
}`;
const FLAT_SHADER = `
in vec3 shade; uniform float alpha; out vec4 colour;
void main() { colour = vec4(shade * alpha, alpha); }`;
const LIT_REACH_PX = 1.5;

function makeGlDrawing(table) {
  const canvas = document.createElement("canvas");
  // WebGL by software is slower than drawing the points ourselves.
  const gl = canvas.getContext("webgl2", { antialias: true, failIfMajorPerformanceCaveat: true });
  if (gl === null) return null;
  const points = program(gl, POINT_SHADER, ROUND_SHADER);
  const paths = program(gl, PATH_SHADER, FLAT_SHADER);
  const light = program(gl, WHOLE_SHADER, LIT_SHADER);
  if (points === null || paths === null || light === null) return null;
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  texture(gl, 0, gl.RGB8, 256, 1, gl.RGB, gl.UNSIGNED_BYTE, table);
  const whole = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, whole);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  const buffers = new Map();
  const unlit = gl.createFramebuffer();

  // The canvas, and the pictures that are drawn before light falls on them, grow to the largest view.
  function grow(width, height) {
    if (canvas.width >= width && canvas.height >= height && unlit.made) return;
    canvas.width = Math.max(canvas.width, width);
    canvas.height = Math.max(canvas.height, height);
    const size = [canvas.width, canvas.height];
    gl.bindFramebuffer(gl.FRAMEBUFFER, unlit);
    gl.deleteTexture(unlit.colours ?? null);
    gl.deleteTexture(unlit.depths ?? null);
    unlit.colours = texture(gl, 1, gl.RGBA8, ...size, gl.RGBA, gl.UNSIGNED_BYTE, null);
    unlit.depths = texture(gl, 2, gl.DEPTH_COMPONENT24, ...size, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, unlit.colours, 0);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, unlit.depths, 0);
    unlit.made = true;
  }

  function clear(target) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  function bufferOf(layer, contents) {
    let buffer = buffers.get(layer);
    if (buffer === undefined) {
      buffer = gl.createBuffer();
      buffers.set(layer, buffer);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, contents(), gl.STATIC_DRAW);
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  }

  function drawPoints(layer, matrix, size, cut) {
    const { at, use } = points;
    use();
    bufferOf(layer, () => layer.cells);
    attribute(gl, at.cell, 3, gl.UNSIGNED_SHORT, 8, 0);
    attribute(gl, at.code, 1, gl.UNSIGNED_SHORT, 8, 6);
    gl.uniformMatrix4fv(at.clip, false, matrix);
    gl.uniform3fv(at.low, layer.low_m);
    gl.uniform1f(at.step, layer.step_m);
    gl.uniform1f(at.size, size);
    gl.uniform1f(at.topCell, Math.min(topCellOf(layer, cut), NOT_JUDGED));
    gl.uniform3fv(at.colour, layer.rgb.map((part) => part / 255));
    gl.uniform3fv(at.grey, GREY.map((part) => part / 255));
    gl.uniform1i(at.isColoured, layer.scale !== null ? 1 : 0);
    if (layer.scale !== null) {
      gl.uniform1f(at.valueLow, layer.values.low);
      gl.uniform1f(at.valueStep, layer.values.step);
      gl.uniform1f(at.scaleLow, layer.scale.low);
      gl.uniform1f(at.scaleHigh, layer.scale.high);
      gl.uniform1i(at.hides, layer.scale.hideBelow !== null ? 1 : 0);
      gl.uniform1f(at.hideBelow, layer.scale.hideBelow ?? 0);
    }
    gl.drawArrays(gl.POINTS, 0, layer.n);
  }

  function drawPath(layer, matrix, size, width, height) {
    const { at, use } = paths;
    use();
    const look = layer.scale === null ? "" : `${layer.scale.low} ${layer.scale.high} ${layer.scale.hideBelow}`;
    if (layer.look !== look) {  // its colours changed: they stand in the buffer
      layer.look = look;
      gl.deleteBuffer(buffers.get(layer) ?? null);
      buffers.delete(layer);
    }
    bufferOf(layer, () => ribbon(layer, table));
    attribute(gl, at.from, 3, gl.FLOAT, 44, 0);
    attribute(gl, at.to, 3, gl.FLOAT, 44, 12);
    attribute(gl, at.corner, 2, gl.FLOAT, 44, 24);
    attribute(gl, at.shadeAt, 3, gl.FLOAT, 44, 32);
    gl.uniformMatrix4fv(at.clip, false, matrix);
    gl.uniform2f(at.screen, width, height);
    gl.uniform1f(at.size, size);
    // Where points hide it, it shines through.
    for (const [alpha, hiddenToo] of [[0.35, true], [1, false]]) {
      gl[hiddenToo ? "disable" : "enable"](gl.DEPTH_TEST);
      gl.uniform1f(at.alpha, alpha);
      gl.drawArrays(gl.TRIANGLES, 0, layer.nVertices);
    }
  }

  function drawLight(camera, look) {
    const { at, use } = light;
    use();
    gl.bindBuffer(gl.ARRAY_BUFFER, whole);
    attribute(gl, at.corner, 2, gl.FLOAT, 0, 0);
    gl.uniform1i(at.picture, 1);
    gl.uniform1i(at.depths, 2);
    gl.uniform3f(at.range, ...depthRange(camera), camera.distance);
    gl.uniform1i(at.isParallel, camera.isParallel ? 1 : 0);
    gl.uniform1f(at.strength, look.light);
    gl.uniform1f(at.reach, LIT_REACH_PX * look.ratio);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  return {
    canvas,
    // Draw into the lower left corner of `canvas`; returns where the picture begins in it.
    draw(layers, camera, width, height, look) {
      const matrix = clipMatrix(camera, width / height);
      const on = layers.filter((layer) => layer.isOn);
      grow(width, height);
      gl.viewport(0, 0, width, height);
      gl.enable(gl.DEPTH_TEST);
      gl.disable(gl.BLEND);
      clear(unlit);
      for (const layer of on) {
        if (layer.kind === "points") drawPoints(layer, matrix, look.pointSize * look.ratio, look.cut);
      }
      clear(null);
      drawLight(camera, look);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      for (const layer of on) {
        if (layer.kind === "path") drawPath(layer, matrix, PATH_PX * look.ratio, width, height);
      }
      return [0, canvas.height - height];
    },
  };
}

function texture(gl, unit, inside, width, height, format, kind, contents) {
  const made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texImage2D(gl.TEXTURE_2D, 0, inside, width, height, 0, format, kind, contents);
  for (const name of ["MIN_FILTER", "MAG_FILTER"]) gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], gl.NEAREST);
  for (const name of ["WRAP_S", "WRAP_T"]) gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], gl.CLAMP_TO_EDGE);
  return made;
}

// Six corners of two triangles for each segment of a path that the threshold leaves.
function ribbon(layer, table) {
  const corners = [[0, -1], [1, -1], [1, 1], [0, -1], [1, 1], [0, 1]];
  const numbers = [];
  for (let i = 0; i + 1 < layer.n; i++) {
    const value = layer.scale === null ? 0 : valueOf(layer, i);
    if (isHidden(layer, value)) continue;
    const [from, to] = [pointOf(layer, i), pointOf(layer, i + 1)];
    const shade = colourOf(layer, value, table).map((part) => part / 255);
    for (const corner of corners) numbers.push(...from, ...to, ...corner, ...shade);
  }
  layer.nVertices = numbers.length / 11;
  return new Float32Array(numbers);
}

function program(gl, vertexText, fragmentText) {
  const made = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertexText], [gl.FRAGMENT_SHADER, fragmentText]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, `#version 300 es\nprecision highp float;precision highp sampler2D;${text}`);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) return null;
  const at = {};
  const count = (what) => gl.getProgramParameter(made, what);
  for (let k = 0; k < count(gl.ACTIVE_UNIFORMS); k++) {
    const { name } = gl.getActiveUniform(made, k);
    at[name] = gl.getUniformLocation(made, name);
  }
  const attributes = [];
  for (let k = 0; k < count(gl.ACTIVE_ATTRIBUTES); k++) {
    const { name } = gl.getActiveAttrib(made, k);
    attributes.push(at[name] = gl.getAttribLocation(made, name));
  }
  const use = () => {
    gl.useProgram(made);
    for (let k = 0; k < gl.getParameter(gl.MAX_VERTEX_ATTRIBS); k++) gl.disableVertexAttribArray(k);
    attributes.forEach((k) => gl.enableVertexAttribArray(k));
  };
  return { at, use };
}

function attribute(gl, at, n, kind, stride, offset) {
  if (at !== undefined) gl.vertexAttribPointer(at, n, kind, false, stride, offset);
}
