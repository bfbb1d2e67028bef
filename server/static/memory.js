/** What the browser remembers from one visit to the next; nothing, where it is not allowed to. */

export function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds for this visit.
  }
}
