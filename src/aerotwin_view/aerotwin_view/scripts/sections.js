// SPDX-FileCopyrightText: 2026 aerotwin contributors
// SPDX-License-Identifier: Apache-2.0
// Sections of viser's panel: their heads are buttons, for keys and screen readers, too; in a small window those after the
// first begin folded. A head is what holds a text and an arrow up or down, as only heads of sections do.
"use strict";
(() => {
  const UP = "svg[class*=icon-chevron-up]", DOWN = "svg[class*=icon-chevron-down]";
  const SMALL_PX = 700, MOST_OPEN = 2, WAIT_MS = 100;
  const known = new WeakSet();

  function heads() {
    const found = [...document.querySelectorAll(`div > ${UP}, div > ${DOWN}`)].filter((icon) => icon.style.display !== "none");
    return found.map((icon) => icon.parentElement).filter((head) => head.firstChild.nodeType === Node.TEXT_NODE);
  }

  function begin(head) {
    head.setAttribute("role", "button");
    head.tabIndex = 0;
    head.addEventListener("keydown", (event) => {
      if (event.target !== head || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      event.stopPropagation();
      head.click();
    });
  }

  function isOpen(head) {
    return head.querySelector(UP) !== null;
  }

  function look() {
    const found = heads(), sections = found.map((head) => head.parentElement);
    const outer = found.filter((head) => !sections.some((each) => each !== head.parentElement && each.contains(head)));
    for (const head of found) {
      const isNew = !known.has(head);
      known.add(head);
      if (isNew) begin(head);
      if (isNew && innerWidth < SMALL_PX && outer.indexOf(head) >= MOST_OPEN && isOpen(head)) head.click();
      head.setAttribute("aria-expanded", String(isOpen(head)));
    }
  }

  let timer = 0;
  new MutationObserver(() => {
    timer ||= setTimeout(() => { timer = 0; look(); }, WAIT_MS);
  }).observe(document, { childList: true, subtree: true });
})();
