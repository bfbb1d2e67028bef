/** A file of text, in whatever encoding it is. */

const MARKS = [["utf-16le", 0xff, 0xfe], ["utf-16be", 0xfe, 0xff]];

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
