// What the page does beside showing: theme, navigation, hints, copies of tables, large figures.

function followTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const tell = () => document.dispatchEvent(new Event("themechange"));
  dark.addEventListener("change", tell);
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.classList.contains("dark") || (!root.classList.contains("light") && dark.matches);
    root.classList.toggle("dark", !isDark);
    root.classList.toggle("light", isDark);
    tell();
  });
}

function followSections() {
  const links = new Map();
  document.querySelectorAll("nav .links a").forEach((link) => links.set(link.hash.slice(1), link));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.classList.remove("here"));
      const link = links.get(entry.target.id), row = link.parentElement;
      link.classList.add("here");
      if (row.scrollWidth > row.clientWidth) row.scrollTo({ left: link.offsetLeft - row.offsetLeft - 40 });
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  links.forEach((_, id) => seen.observe(document.getElementById(id)));
}

// Hints open on hover, focus and touch, stay while the pointer is over them, and close on Escape.
function openHints() {
  let open = null, closing = 0;

  function close() {
    clearTimeout(closing);
    open?.text.classList.remove("open");
    open?.hint.setAttribute("aria-expanded", "false");
    open = null;
  }
  function show(hint) {
    clearTimeout(closing);
    if (open?.hint === hint) return;
    close();
    const text = document.getElementById(hint.getAttribute("aria-describedby"));
    open = { hint, text };
    text.classList.add("open");
    hint.setAttribute("aria-expanded", "true");
    const at = hint.getBoundingClientRect(), size = text.getBoundingClientRect();
    const left = Math.min(at.left, document.documentElement.clientWidth - size.width - 8);
    const isBelow = at.bottom + size.height + 8 < innerHeight || at.top < size.height + 8;
    text.style.left = `${Math.max(8, left)}px`;
    text.style.top = `${isBelow ? at.bottom + 6 : at.top - size.height - 6}px`;
  }
  const closeSoon = () => {
    clearTimeout(closing);
    closing = setTimeout(close, 150);
  };

  for (const holder of document.querySelectorAll(".hinted")) {
    const hint = holder.querySelector(".hint");
    holder.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && show(hint));
    holder.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && closeSoon());
    hint.addEventListener("focus", () => show(hint));
    hint.addEventListener("blur", closeSoon);
    hint.addEventListener("click", () => show(hint));
  }
  document.addEventListener("keydown", (event) => event.key === "Escape" && close());
  addEventListener("scroll", close, { passive: true, capture: true });
}

function cellsOf(table) {
  return [...table.rows].map((row) => [...row.cells].map((cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".hint, .hint-text, .best-mark").forEach((part) => part.remove());
    return copy.textContent.trim();
  }));
}

// RFC 4180; text that a spreadsheet would take for a formula is marked as text.
function asCsv(rows) {
  const safe = (text) => (/^[=+@\t\r]|^-(?!\d)/.test(text) ? `'${text}` : text);
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return rows.map((row) => row.map((text) => quoted(safe(text))).join(",")).join("\r\n");
}

function asMarkdown([head, ...rows]) {
  const line = (row) => `| ${row.map((text) => text.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), `|${head.map(() => " --- ").join("|")}|`, ...rows.map(line)].join("\n");
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // no clipboard for pages of this origin: the old way
    const area = element("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

function offerCopies() {
  for (const card of document.querySelectorAll(".card.table")) {
    const table = card.querySelector("table");
    if (table === null) continue;
    const offer = (name, format) => {
      const made = button(name, `copy the table as ${name}`, async () => {
        await copyText(format(cellsOf(table)));
        made.textContent = "copied";
        setTimeout(() => { made.textContent = name; }, 1500);
      });
      return made;
    };
    card.prepend(element("div", { className: "offers" }, offer("CSV", asCsv), offer("Markdown", asMarkdown)));
  }
}

const LEGIBLE_PX = 900;  // the least width at which the text of a wide figure can be read

// A figure in a window of its own, larger or smaller at will.
function enlargeFigures() {
  const dialog = element("dialog", { className: "large" });
  const frame = element("div", { className: "frame" });
  let picture = null, home = null, percent = 100;
  const resize = (factor) => {
    percent = Math.min(800, Math.max(50, percent * factor));
    picture.style.width = `${percent}%`;
  };
  dialog.append(element("div", { className: "offers" },
    button("−", "smaller", () => resize(1 / 1.4)), button("+", "larger", () => resize(1.4)),
    button("×", "close", () => dialog.close())), frame);
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    picture.style.width = "";
    home.append(picture);
  });
  for (const place of document.querySelectorAll(".picture")) {
    const open = () => {
      [home, picture] = [place, place.firstElementChild];
      frame.replaceChildren(picture);
      dialog.showModal();
      percent = Math.max(100, (100 * LEGIBLE_PX) / frame.clientWidth);
      resize(1);
    };
    const card = place.closest(".card");
    card.prepend(element("div", { className: "offers" }, button("⤢", "enlarge the figure", open)));
  }
}

document.documentElement.classList.add("scripted");
followTheme();
followSections();
openHints();
offerCopies();
enlargeFigures();
startScenes();
