"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = root.classList.contains("dark") || (!root.classList.contains("light") && dark.matches);
    root.classList.toggle("dark", !isDark);
    root.classList.toggle("light", isDark);
  });
  const links = new Map();
  document.querySelectorAll("nav .links a").forEach((link) => links.set(link.hash.slice(1), link));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.classList.remove("here"));
      links.get(entry.target.id)?.classList.add("here");
    }
  }, { rootMargin: "-10% 0px -75% 0px" });
  links.forEach((_, id) => seen.observe(document.getElementById(id)));
})();
