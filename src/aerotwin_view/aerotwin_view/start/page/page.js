// SPDX-FileCopyrightText: 2026 aerotwin contributors
// SPDX-License-Identifier: Apache-2.0
// Texts of launch files, runs and outputs are inserted as text, never as HTML.
"use strict";

const TOKEN = document.querySelector("meta[name=aerotwin-token]").content;
const LINE_WAIT_MS = 150, BUSY_MS = 700, IDLE_MS = 4000;
const OTHER = "another …";
const at = (id) => document.getElementById(id);

function made(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function got(path) {
  return answer(await fetch(path));
}

async function order(path, body = null) {
  return answer(await fetch(path, {
    method: "POST", headers: { "X-Aerotwin-Token": TOKEN }, body: JSON.stringify(body),
  }));
}

async function answer(response) {
  const value = await response.json();
  if (!response.ok) throw Object.assign(new Error(value.error), { field: value.field });
  return value;
}

function said(error) {
  return error instanceof TypeError ? "The page's server has ended; start aerotwin view again." : error.message;
}

// The form: each control is { name, element, value(), set(text) }.

let form = null, controls = [], startMap = null;

function emptyMeaning(field) {
  if (!field.is_computed || field.kind === "choice") return "";
  if (field.follows.length) return `; left empty, it follows from ${field.follows.join(" and ")}`;
  return field.shown_default ? "" : "; left empty, it is found when the run starts";
}

function withHint(field, control, element) {
  const hint = made("p", { className: "hint", id: `hint-${field.name}`, textContent: field.description + emptyMeaning(field) });
  control.setAttribute("aria-describedby", hint.id);
  element.append(hint);
  return element;
}

function labelled(field, control, ...more) {
  control.id = `field-${field.name}`;
  const label = made("label", { htmlFor: control.id, textContent: field.name });
  return withHint(field, control, made("div", { className: "field" }, label, control, ...more));
}

function textControl(field) {
  const input = made("input", { type: "text", autocomplete: "off", spellcheck: false });
  if (field.kind === "number") input.inputMode = "decimal";
  if (field.default === null) input.required = true;
  else if (field.is_computed) input.placeholder = field.shown_default;
  else input.value = field.default;
  return { element: labelled(field, input), value: () => input.value, set: (text) => { input.value = text; } };
}

function choiceControl(field) {
  const select = made("select");
  if (field.is_computed) select.append(made("option", { value: "", textContent: `${field.shown_default} (default)` }));
  if (field.default === null) select.append(made("option", { value: "", textContent: "choose" }));
  for (const option of field.options) select.append(made("option", { value: option, textContent: option }));
  if (field.default !== null && !field.is_computed) select.value = field.default;
  select.required = field.default === null;
  return { element: labelled(field, select), value: () => select.value, set: (text) => { select.value = text; } };
}

function suggestedControl(field) {
  const select = made("select"), input = made("input", { type: "text", hidden: true, autocomplete: "off", spellcheck: false });
  for (const option of field.options) select.append(made("option", { value: option, textContent: option }));
  select.append(made("option", { value: OTHER, textContent: OTHER }));
  input.setAttribute("aria-label", `${field.name}, another value`);
  select.addEventListener("change", () => {
    input.hidden = select.value !== OTHER;
    if (!input.hidden) input.focus();
  });
  return {
    element: labelled(field, select, input),
    value: () => (select.value === OTHER ? input.value : select.value),
    set: (text) => {
      select.value = field.options.includes(text) ? text : OTHER;
      input.hidden = select.value !== OTHER;
      input.value = input.hidden ? "" : text;
    },
  };
}

function flagControl(field) {
  const input = made("input", { type: "checkbox", id: `field-${field.name}`, checked: field.default === "true" });
  const label = made("label", { htmlFor: input.id, textContent: field.name });
  const tick = made("div", { className: "tick" }, input, label);
  const element = withHint(field, input, made("div", { className: "field" }, tick));
  return { element, value: () => String(input.checked), set: (text) => { input.checked = text === "true"; } };
}

function worldControl(field) {
  const cards = form.worlds.map((world) => {
    const radio = made("input", { type: "radio", name: "world", value: world.name, checked: world.name === field.default });
    const picture = world.has_picture
      ? made("img", { src: `pictures/${encodeURIComponent(world.name)}.jpg`, alt: "", loading: "lazy" })
      : made("span", { className: "blank" }, made("span", { textContent: "no picture" }));
    return made("label", { className: "world" }, radio, picture, made("span", { className: "name", textContent: world.name }));
  });
  const input = made("input", { type: "text", id: "field-world", autocomplete: "off", spellcheck: false });
  input.required = field.default === null;
  const label = made("label", { htmlFor: input.id, textContent: "or another one" });
  const radios = cards.map((card) => card.querySelector("input"));
  const picked = () => radios.find((radio) => radio.checked);
  if (field.default !== null && !picked()) input.value = field.default;
  input.addEventListener("input", () => {
    for (const radio of radios) radio.checked = radio.value === input.value.trim();
  });
  for (const radio of radios) radio.addEventListener("change", () => { input.value = ""; input.required = false; });
  const other = withHint(field, input, made("div", { className: "other field" }, label, input));
  const element = made("div", {}, made("div", { className: "worlds" }, ...cards), other);
  const set = (text) => {
    for (const radio of radios) radio.checked = radio.value === text;
    input.value = picked() ? "" : text;
  };
  return { element, value: () => input.value.trim() || picked()?.value || "", set };
}

const KINDS = { world: worldControl, choice: choiceControl, flag: flagControl, suggested: suggestedControl, number: textControl, text: textControl };

function control(field) {
  const made_one = KINDS[field.kind](field);
  controls.push({ ...made_one, field });
  return made_one.element;
}

function showScenario() {
  const scenario = form.scenarios.find((each) => each.name === at("scenario").value);
  at("summary").textContent = scenario.summary;
  controls = [];
  startMap = null;
  at("groups").replaceChildren(...scenario.groups.map((group, k) => {
    const isLast = k === scenario.groups.length - 1 && k > 0;
    const elements = group.fields.map(control);
    const inside = group.fields.some((field) => field.kind === "world")
      ? elements : [made("div", { className: "fields" }, ...elements)];
    if (group.fields.some((field) => field.name === START_FIELDS[0])) {
      startMap = new StartMap(() => request().values.world ?? worldDefault(), (world) => order("map", { world }));
      inside.push(startMap.element);
    }
    if (!isLast) return made("fieldset", {}, made("legend", { textContent: group.title }), ...inside);
    const count = made("span", { className: "count", textContent: ` (${group.fields.length})` });
    return made("details", { className: "group" }, made("summary", {}, group.title, count), ...inside);
  }));
  startMap?.keepStart();
  showLine();
}

function request() {
  const values = {};
  for (const { field, value } of controls) {
    const text = value().trim();
    if (text !== "" && text !== field.default) values[field.name] = text;
  }
  return { scenario: at("scenario").value, values };
}

// The server says which values differ from the defaults: 0 is 0.0.
function markChanged(names) {
  for (const { field, element } of controls) element.classList.toggle("changed", names.includes(field.name));
}

function worldDefault() {
  return controls.find(({ field }) => field.name === "world")?.field.default ?? "";
}

// What is refused of one field is said there; what is typed there takes it back.

function showRefusal(error) {
  const refused = controls.find(({ field }) => field.name === error.field);
  if (refused === undefined) {
    at("error").textContent = said(error);
    return;
  }
  const input = at(`field-${error.field}`);
  const text = made("p", { className: "error refusal", id: "refusal", textContent: error.message });
  refused.element.append(text);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", `${text.id} hint-${error.field}`);
  input.closest("details")?.setAttribute("open", "");
  input.focus();
  at("error").textContent = `Not started: see ${error.field}.`;
}

function hideRefusal() {
  const text = at("refusal");
  if (text === null) return;
  text.remove();
  const input = document.querySelector("[aria-invalid]");
  input.removeAttribute("aria-invalid");
  input.setAttribute("aria-describedby", `hint-${input.id.replace("field-", "")}`);
}

// What was filled in survives a reload, in this tab.
const KEPT = "form";

function keptForm() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    const names = [...at("scenario").options].map((option) => option.value);
    return kept && names.includes(kept.scenario) ? kept : null;
  } catch {
    return null;
  }
}

let lineTimer = 0, lineNumber = 0;

function showLine() {
  sessionStorage.setItem(KEPT, JSON.stringify(request()));
  clearTimeout(lineTimer);
  lineTimer = setTimeout(async () => {
    const number = ++lineNumber;
    const asked = request();
    let line = null, changed = null, error = "";
    try {
      ({ line, changed } = await order("line", asked));
    } catch (failure) {
      error = said(failure);
    }
    if (number !== lineNumber) return;
    if (changed !== null) markChanged(changed);
    at("line").textContent = line ?? "";
    at("copy").disabled = line === null;
    if (at("refusal") === null) at("error").textContent = error;
  }, LINE_WAIT_MS);
}

// The run.

const ENDS = { 0: "good", 130: "stopped" };
let lastPhase = "", lastOutput = "", stateTimer = 0, isChecking = false;

// The view of a run is heard on the machine itself, from wherever this page is read.
function isWithin(view) {
  const here = ["127.0.0.1", "localhost"];
  return Boolean(view) && (here.includes(location.hostname) || !here.includes(new URL(view).hostname));
}

function sentence(state) {
  switch (state.phase) {
    case "starting": return "Starting …";
    case "running":
      if (isWithin(state.view)) return "Running; the view shows and steers it.";
      return `Running; its view is on its own machine: ${state.view}`;
    case "reporting":
      return `${state.reason ? `Ended: ${state.reason}. ` : ""}The report is being written.`;
    case "stopping": return "Stopping: the report is being written. Stop again gives it up.";
    case "ended":
      if (state.exit_code === 0) return `Ended: ${state.reason || "without an error"}.`;
      if (state.exit_code === 130) return "Stopped.";
      return `Ended with exit code ${state.exit_code}: ${state.reason || "the output says why."}`;
  }
  return "";
}

function showLink(link, address) {
  link.hidden = !address;
  if (address) link.href = address;
  else link.removeAttribute("href");
}

function showState(state) {
  at("run").hidden = state.phase === "none";
  if (state.phase === "none") return;
  const isOver = state.phase === "ended";
  const text = sentence(state);
  if (at("state").textContent !== text) at("state").textContent = text;
  at("dot").className = `dot ${isOver ? (ENDS[state.exit_code] ?? "bad") : state.phase}`;
  at("run-line").textContent = state.line;
  showLink(at("view"), isWithin(state.view) && state.view);
  showLink(at("report"), state.report && `runs/${encodeURIComponent(state.report)}/report.html`);
  at("start").disabled = isChecking || !isOver;
  if (isOver && document.activeElement === at("stop")) at("start").focus();
  at("stop").hidden = isOver;
  const output = state.output.join("\n");
  if (output !== lastOutput) {
    const log = at("output"), isAtEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    log.textContent = lastOutput = output;
    if (isAtEnd || state.phase !== lastPhase) log.scrollTop = log.scrollHeight;
  }
  if (isOver && lastPhase !== "ended") showRuns();
  lastPhase = state.phase;
}

async function follow() {
  clearTimeout(stateTimer);
  let wait = IDLE_MS;
  try {
    const state = await got("state.json");
    showState(state);
    if (state.phase !== "none" && state.phase !== "ended") wait = BUSY_MS;
  } catch (error) {
    at("error").textContent = said(error);
  }
  stateTimer = setTimeout(follow, wait);
}

// What a person does.

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no clipboard for pages of this origin: the old way
    const area = made("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

at("copy").addEventListener("click", () => copy(at("line").textContent, at("copy")));
at("scenario").addEventListener("change", showScenario);
function formChanged() {
  startMap?.leaveWorld();
  hideRefusal();
  showLine();
  startMap?.follow();
}

at("groups").addEventListener("input", formChanged);
at("groups").addEventListener("change", formChanged);
at("choose").addEventListener("submit", async (event) => {
  event.preventDefault();
  isChecking = at("start").disabled = true;
  at("start").textContent = "Checking …";
  try {
    hideRefusal();
    at("error").textContent = "";
    lastPhase = "";
    const state = await order("start", request());
    isChecking = false;
    showState(state);
    at("run").scrollIntoView({ block: "nearest" });
  } catch (error) {
    isChecking = at("start").disabled = false;
    showRefusal(error);
  }
  at("start").textContent = "Start";
  follow();
});
at("stop").addEventListener("click", async () => {
  try {
    showState(await order("stop"));
  } catch (error) {
    at("error").textContent = said(error);
  }
});

(async () => {
  try {
    form = await got("form.json");
  } catch (error) {
    at("error").textContent = said(error);
    return;
  }
  for (const { name } of form.scenarios) at("scenario").append(made("option", { value: name, textContent: name }));
  const kept = keptForm();
  showScenario();
  if (kept) setForm(kept);
  showRuns();
  follow();
})();
