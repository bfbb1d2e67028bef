/* The light or dark theme: the choice of the player, else of the system. A script in the head runs before
   painting. */

(() => {
  const STORED = "theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  // A browser may forbid storage: then the choice holds for this visit.
  const storage = (/** @type {(kept: Storage) => string | null | void} */ action) => {
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
    const button = /** @type {HTMLButtonElement} */ (document.querySelector("#theme"));
    const render = () => button.setAttribute("aria-pressed", String(isDark()));
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
      render();
    });
    system.addEventListener("change", render);
    render();
  });
})();
