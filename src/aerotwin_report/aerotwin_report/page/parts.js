// Elements of the page. Text always goes in as text, never as HTML.

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function button(text, title, action) {
  const made = element("button", { type: "button", title }, text);
  made.setAttribute("aria-label", title);
  made.addEventListener("click", action);
  return made;
}

// A labelled slider; `show` takes the value and returns what to write beside it.
function slider(name, least, most, value, show) {
  const input = element("input", { type: "range", min: least, max: most, step: (most - least) / 1000 });
  input.value = value;
  const said = element("output", {}, show(Number(input.value)));
  input.addEventListener("input", () => { said.textContent = show(Number(input.value)); });
  return element("label", { className: "slider" }, element("span", {}, name), input, said);
}

// A slider that is fine near its least value, where errors are, and still reaches the largest.
function curvedSlider(name, { least, most }, value, show) {
  const span = Math.max(most - least, 1e-12);
  const at = Math.cbrt(Math.min(1, Math.max(0, (value - least) / span)));
  return slider(name, 0, 1, at, (share) => show(share === at ? value : least + span * share ** 3));
}
