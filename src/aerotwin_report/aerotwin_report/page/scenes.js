// Scenes start when they come near the window, and share one way of drawing.

function startScenes() {
  const figures = document.querySelectorAll(".scene");
  if (figures.length === 0 || typeof DecompressionStream === "undefined") return;
  const colours = document.getElementById("error-colours").textContent;
  const table = Uint8Array.from(atob(colours), (letter) => letter.charCodeAt(0));
  let drawing = null;
  const started = [];

  function theDrawing() {
    if (drawing !== null) return drawing;
    drawing = makeGlDrawing(table) ?? makePlainDrawing(table);
    drawing.canvas.addEventListener("webglcontextlost", () => {
      drawing = makePlainDrawing(table);
      for (const viewer of started) {
        viewer.drawing = drawing;
        viewer.redraw();
      }
    });
    return drawing;
  }

  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      const viewer = new Viewer(entry.target);
      viewer.start(theDrawing()).then(() => started.push(viewer));
    }
  }, { rootMargin: "300px" });
  figures.forEach((figure) => near.observe(figure));
}
