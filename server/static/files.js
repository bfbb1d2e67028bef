/** Files from outside: their text in any encoding, and what is dropped on the page. */

const MARKS = [
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
];

/** The text of a file: UTF-16 by its mark, UTF-8, or else windows-1251, as many an older Russian program writes. */
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

const hasFile = ({ dataTransfer }) => dataTransfer.types.includes("Files");

/**
 * Have what is dropped taken while an element is to be seen: texts that are dropped on it, files wherever they are. A
 * file that nobody takes is not opened in place of the page.
 */
export function dropTarget(element, { file, text }) {
  const takes = event => element.contains(event.target) || (hasFile(event) && !element.hidden);
  addEventListener("dragover", event => {
    const taken = takes(event);
    element.classList.toggle("dropping", taken);
    if (!taken && !hasFile(event)) return;
    event.preventDefault();
    if (!taken) event.dataTransfer.dropEffect = "none";
  });
  addEventListener("dragleave", event => {
    // It has left the window.
    if (!event.relatedTarget) element.classList.remove("dropping");
  });
  addEventListener("drop", event => {
    const taken = takes(event);
    const { files } = event.dataTransfer;
    element.classList.remove("dropping");
    if (taken || hasFile(event)) event.preventDefault();
    if (!taken) return;
    if (files.length) file(files[0]);
    else text(event.dataTransfer.getData("text"));
  });
}
