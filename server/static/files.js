/** Files of the player: their text in any encoding, and the drop target. */

/** @type {[string, number, number][]} */
const MARKS = [
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
];

/**
 * The text of a file: UTF-16 if it has a byte order mark, else UTF-8, else windows-1251, the encoding of many
 * older Russian programs.
 *
 * @param {File} file
 */
export async function readText(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const marked = MARKS.find(([, first, second]) => bytes[0] === first && bytes[1] === second);
  if (marked) return new TextDecoder(marked[0]).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1251").decode(bytes);
  }
}

/** @param {DragEvent} event */
const hasFile = ({ dataTransfer }) => dataTransfer?.types.includes("Files") ?? false;

/**
 * Make an element take dropped texts, and files dropped anywhere on the page while it is visible. The browser
 * must not open other dropped files in place of the page.
 *
 * @param {HTMLElement} element
 * @param {{ file: (file: File) => void, text: (text: string) => void }} actions
 */
export function dropTarget(element, { file, text }) {
  const takes = (/** @type {DragEvent} */ event) =>
    element.contains(/** @type {Node} */ (event.target)) || (hasFile(event) && !element.hidden);
  addEventListener("dragover", event => {
    const taken = takes(event);
    element.classList.toggle("dropping", taken);
    if (!taken && !hasFile(event)) return;
    event.preventDefault();
    if (!taken && event.dataTransfer) event.dataTransfer.dropEffect = "none";
  });
  addEventListener("dragleave", event => {
    // The pointer has left the window.
    if (!event.relatedTarget) element.classList.remove("dropping");
  });
  addEventListener("drop", event => {
    const taken = takes(event);
    element.classList.remove("dropping");
    if (taken || hasFile(event)) event.preventDefault();
    if (!taken || !event.dataTransfer) return;
    const [first] = event.dataTransfer.files;
    if (first) file(first);
    else text(event.dataTransfer.getData("text"));
  });
}
