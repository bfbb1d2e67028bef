/** Files and texts that are dropped on the page. */

const hasFile = ({ dataTransfer }) => dataTransfer.types.includes("Files");

/**
 * Have what is dropped taken while an element is to be seen: texts that are dropped on it, files wherever they are. A
 * file that nobody takes is not opened in place of the page.
 */
export function listenToDrops(element, { file, text }) {
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
    const taken = takes(event), { files } = event.dataTransfer;
    element.classList.remove("dropping");
    if (taken || hasFile(event)) event.preventDefault();
    if (!taken) return;
    if (files.length) file(files[0]);
    else text(event.dataTransfer.getData("text"));
  });
}
