// Orbit camera: z is up; it looks at `target` from `distance` in the direction of yaw and pitch.

const FOCAL = 1 / Math.tan((35 * Math.PI) / 360);  // half of a field of view of 35 degrees
const VIEWS = {
  "3-D": { yaw: -120, pitch: 35, isParallel: false },
  Top: { yaw: -90, pitch: 90, isParallel: true },
  South: { yaw: -90, pitch: 0, isParallel: true },
  West: { yaw: 180, pitch: 0, isParallel: true },
};

function makeCamera(half, reach) {
  const radius = Math.max(Math.hypot(...half), 1e-3);
  return { target: [0, 0, 0], radius, half, reach: Math.max(reach, radius), distance: 1, yaw: 0, pitch: 0, isParallel: false };
}

// Look from a named direction so that the whole box is in the picture.
function lookFrom(camera, name, aspect) {
  const { yaw, pitch, isParallel } = VIEWS[name];
  Object.assign(camera, { yaw, pitch, isParallel, target: [0, 0, 0] });
  const { right, up, towards } = axesOf(camera);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  let distance = camera.radius * 0.02;
  for (let k = 0; k < 8; k++) {
    const corner = camera.half.map((half, axis) => ((k >> axis) & 1 ? half : -half));
    const reach = FOCAL * Math.max(Math.abs(dot(corner, up)), Math.abs(dot(corner, right)) / aspect);
    distance = Math.max(distance, 1.04 * reach + (isParallel ? 0 : dot(corner, towards)));
  }
  camera.distance = distance;
}

function axesOf(camera) {
  const yaw = (camera.yaw * Math.PI) / 180, pitch = (camera.pitch * Math.PI) / 180;
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return { right: [-sy, cy, 0], up: [-sp * cy, -sp * sy, cp], towards: [cp * cy, cp * sy, sp] };
}

// Nearest and farthest depth that is drawn [m]; parallel views see behind the eye, too.
function depthRange({ distance, reach, target, isParallel }) {
  const around = 1.01 * reach + Math.hypot(...target);
  return [isParallel ? distance - around : Math.max(distance - around, distance * 0.01), distance + around];
}

// Clip coordinates = matrix x point, column after column as WebGL wants it.
function clipMatrix(camera, aspect) {
  const { right, up, towards } = axesOf(camera);
  const { distance, target, isParallel } = camera;
  const [near, far] = depthRange(camera);
  const away = towards.map((part) => -part);  // depth = distance + away . (point - target)
  const scaled = (axis, factor) => [...axis.map((part) => part * factor), 0];
  const flat = isParallel ? FOCAL / distance : FOCAL;
  const rows = isParallel
    ? [scaled(right, flat / aspect), scaled(up, flat), scaled(away, 2 / (far - near)), [0, 0, 0, 1]]
    : [scaled(right, flat / aspect), scaled(up, flat), scaled(away, (far + near) / (far - near)), [...away, distance]];
  rows[2][3] = isParallel
    ? (2 * distance - far - near) / (far - near)
    : ((far + near) * distance - 2 * far * near) / (far - near);
  for (const row of rows) row[3] -= row[0] * target[0] + row[1] * target[1] + row[2] * target[2];
  return new Float32Array([0, 1, 2, 3].flatMap((column) => rows.map((row) => row[column])));
}

// Metres of one pixel at the target.
function metresPerPixel(camera, height) {
  return (2 * camera.distance) / (FOCAL * height);
}

function turn(camera, yawDegrees, pitchDegrees) {
  camera.yaw = (camera.yaw + yawDegrees) % 360;
  camera.pitch = Math.min(90, Math.max(-90, camera.pitch + pitchDegrees));
  camera.isParallel = false;
}

function shift(camera, rightPixels, downPixels, height) {
  const { right, up } = axesOf(camera);
  const scale = metresPerPixel(camera, height);
  camera.target = camera.target.map((part, k) => part - scale * (right[k] * rightPixels - up[k] * downPixels));
}

function zoom(camera, factor) {
  camera.distance = Math.min(camera.radius * 20, Math.max(camera.radius * 1e-3, camera.distance * factor));
}
