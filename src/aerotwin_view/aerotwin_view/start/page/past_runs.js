// SPDX-FileCopyrightText: 2026 aerotwin contributors
// SPDX-License-Identifier: Apache-2.0
// The runs of the folder, each with its report, its command and the form that started it.
"use strict";

function setForm({ scenario, values }) {
  at("scenario").value = scenario;
  hideRefusal();
  showScenario();
  for (const { field, set } of controls) if (field.name in values) set(values[field.name]);
  startMap?.keepStart();
  showLine();
  startMap?.follow();
}

function fillForm(launch) {
  setForm(launch);
  at("scenario").focus();
  at("choose").scrollIntoView({ block: "start" });
}

const sentences = (texts) => texts.filter(Boolean).map((text) => `${text.replace(/\.+$/, "")}.`).join(" ");

// A tab is opened at once: later, when the view is there, a browser would refuse it.
async function play(run, button, problem) {
  const tab = window.open("", "_blank");
  button.disabled = true;
  button.textContent = "Opening …";
  problem.textContent = "";
  try {
    const address = new URL((await order("play", { run: run.name })).view);
    address.hostname = location.hostname;
    if (tab === null) location.assign(address);
    else {
      tab.opener = null;
      tab.location.replace(address);
    }
  } catch (error) {
    tab?.close();
    problem.textContent = said(error);
  }
  button.disabled = false;
  button.textContent = "Play";
}

function shownRun(run) {
  const title = made("h3");
  if (run.has_report) title.append(made("a", { href: `runs/${encodeURIComponent(run.name)}/report.html`, target: "_blank", rel: "noopener", textContent: run.name }));
  else title.textContent = run.name;
  const when = run.created ? new Date(run.created).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
  const where = [run.title || run.world, when].filter(Boolean).join(", ");
  const deeds = made("p", { className: "deeds" }), problem = made("p", { className: "error" });
  problem.setAttribute("role", "alert");
  const head = made("div", {}, title, made("p", { className: "when", textContent: where }), deeds, problem);
  const outcome = made("p", { className: run.has_report ? "verdict" : "verdict none", textContent: sentences([run.outcome, ...run.verdicts]) });
  if (run.has_failed) outcome.prepend(made("strong", { className: "failed", textContent: "Failed" }), " ");
  const figures = made("ul", { className: "figures" }, ...run.figures.map((figure) =>
    made("li", { className: figure.status, title: figure.meaning }, `${figure.label} `, made("b", { textContent: `${figure.value} ${figure.unit}`.trim() }))));
  if (run.n_warnings) figures.append(made("li", { className: "warning", textContent: `${run.n_warnings} warning${run.n_warnings > 1 ? "s" : ""}` }));
  const row = made("li", { className: "run" }, head, made("div", {}, outcome, figures));
  if (run.watch) {
    const button = made("button", { type: "button", className: "quiet", textContent: "Play" });
    button.setAttribute("aria-label", `Play ${run.name}`);
    button.addEventListener("click", () => play(run, button, problem));
    deeds.append(button);
  }
  if (run.launch) {
    const again = made("button", { type: "button", className: "quiet", textContent: "Fill the form with this" });
    again.setAttribute("aria-label", `Fill the form with ${run.name}`);
    again.addEventListener("click", () => fillForm(run.launch));
    deeds.append(again);
  }
  if (run.watch) {
    const button = made("button", { type: "button", className: "quiet", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy the command that plays ${run.name}`);
    button.addEventListener("click", () => copy(run.watch, button));
    row.append(made("div", { className: "watch" }, made("code", { textContent: run.watch }), button));
  }
  return row;
}

async function showRuns() {
  try {
    const { runs, folder, most } = await got("runs.json");
    at("past-text").textContent = runs.length
      ? `In ${folder}, the last one first${runs.length === most ? `, at most ${most}` : ""}.` : `None in ${folder} yet.`;
    at("runs").replaceChildren(...runs.map(shownRun));
  } catch (error) {
    at("past-text").textContent = said(error);
  }
}
