// SPDX-FileCopyrightText: 2026 aerotwin contributors
// SPDX-License-Identifier: Apache-2.0
// A name for every control of viser's page that has none: what a screen reader says of a slider is the text beside it.
// It knows roles and labels, no class or component of viser, and leaves every name that is there.
"use strict";
(() => {
  const CONTROLS = "input, select, textarea, button, a[href], summary, [tabindex='0'], [role=slider], [role=button], [role=checkbox], "
    + "[role=switch], [role=combobox], [role=textbox], [role=spinbutton], [role=searchbox], [role=tab], [role=link], [role=menuitem]";
  const NAMED_BY_CONTENT = "button, a, summary, [role=button], [role=tab], [role=link], [role=menuitem]";
  const OURS = "data-aerotwin-named";
  const WAIT_MS = 200, MOST_LEVELS = 8;

  const textOf = (element) => (element?.textContent ?? "").replace(/\s+/g, " ").trim();

  function hasName(element) {
    if (element.hasAttribute(OURS)) return false;
    const ids = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    return Boolean(element.getAttribute("aria-label")?.trim()
      || ids.some((id) => textOf(document.getElementById(id)))
      || [...(element.labels ?? [])].some(textOf)
      || element.getAttribute("title")?.trim()
      || element.getAttribute("alt")?.trim()
      || (element.matches(NAMED_BY_CONTENT) && textOf(element)));
  }

  // The label of the nearest part of the page that has one; next to it all else is worse.
  function nameBeside(element) {
    let part = element.parentElement;
    for (let level = 0; level < MOST_LEVELS && part !== null && part !== document.body; level += 1, part = part.parentElement) {
      const text = [...part.querySelectorAll("label")].map(textOf).find(Boolean);
      if (text) return text;
    }
    return "";
  }

  function nameOfIcon(element) {
    const icon = element.querySelector("svg[class*=icon]")?.getAttribute("class") ?? "";
    return (/icon-([a-z][a-z-]*)/.exec(icon)?.[1] ?? "").replace(/-/g, " ");
  }

  function nameOf(element) {
    if (element.matches(NAMED_BY_CONTENT)) return nameOfIcon(element) || nameBeside(element) || "button";
    const placeholder = element.getAttribute("placeholder")?.trim();
    return nameBeside(element) || placeholder || nameOfIcon(element) || element.getAttribute("role") || element.type || "control";
  }

  function nameAll() {
    for (const element of document.querySelectorAll(CONTROLS)) {
      if (element.type === "hidden" || hasName(element)) continue;
      const name = nameOf(element);
      if (element.getAttribute("aria-label") !== name) element.setAttribute("aria-label", name);
      element.setAttribute(OURS, "");
    }
  }

  let timer = 0;
  new MutationObserver(() => {
    timer ||= setTimeout(() => { timer = 0; nameAll(); }, WAIT_MS);
  }).observe(document, { childList: true, subtree: true, characterData: true });
})();
