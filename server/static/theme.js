/* Light or dark: as the system has it, unless one is chosen. Loaded in the head, before anything is painted. */

(() => {
  const STORED = "theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  // A browser may forbid storing anything: then the choice holds for this visit.
  const storage = action => {
    try {
      return action(localStorage);
    } catch {
      return null;
    }
  };
  const stored = storage(kept => kept.getItem(STORED));
  if (stored) root.dataset.theme = stored;

  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("#theme");
    const tell = () => button.setAttribute("aria-pressed", String(isDark()));
    button.addEventListener("click", () => {
      const wanted = isDark() ? "light" : "dark";
      const same = wanted === (system.matches ? "dark" : "light");
      if (same) {
        delete root.dataset.theme;
        storage(kept => kept.removeItem(STORED));
      } else {
        root.dataset.theme = wanted;
        storage(kept => kept.setItem(STORED, wanted));
      }
      tell();
    });
    system.addEventListener("change", tell);
    tell();
  });
})();
