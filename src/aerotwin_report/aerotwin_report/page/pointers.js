// Mouse and fingers: one turns (with Shift or another button it shifts), two zoom and shift.

const TURN_DEGREES_PER_PX = 0.35;

function listenToPointers(viewer) {
  const { canvas, camera, stage } = viewer;
  const down = new Map();
  let isDragged = false;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && !stage.classList.contains("touched")) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    isDragged = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event), before = down.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType === "mouse") later(() => viewer.pick(...now));
      return;
    }
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (down.size === 1 && Math.hypot(dx, dy) < (isDragged ? 0 : 3)) return;
    isDragged = true;
    const height = canvas.height / viewer.look.ratio;
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.max(Math.hypot(point[0] - other[0], point[1] - other[1]), 1);
      zoom(camera, apart(before) / apart(now));
      shift(camera, dx / 2, dy / 2, height);
    } else if (event.shiftKey || (event.buttons & 6) !== 0) {
      shift(camera, dx, dy, height);
    } else {
      turn(camera, -dx * TURN_DEGREES_PER_PX, dy * TURN_DEGREES_PER_PX);
    }
    down.set(event.pointerId, now);
    viewer.redraw();
  });
  const up = (event) => {
    if (!isDragged) viewer.pick(...place(event));  // a tap or a click reads
    down.delete(event.pointerId);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", (event) => down.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => {
    if (down.size === 0 && viewer.picked !== null && document.activeElement !== canvas) viewer.pick(-99, -99);
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  // The wheel scrolls the page unless the view was chosen by a click or a key, or Ctrl is held.
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    zoom(camera, Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)));
    viewer.redraw();
  }, { passive: false });

  let waiting = null;
  function later(task) {  // reading goes through all points: once a frame is enough
    if (waiting === null) {
      requestAnimationFrame(() => {
        const last = waiting;
        waiting = null;
        last();
      });
    }
    waiting = task;
  }
}
