/**
 * The blocks of a PEM file by their label, with the lines that begin and end them.
 *
 * A block without an end, or with a dash in its text, is left out. The time is linear in the length
 * of the file. Pure.
 */
export function pemBlocks(text: string, label: string): readonly string[] {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const blocks: string[] = [];
  let at = text.indexOf(begin);
  while (at >= 0) {
    const dash = text.indexOf('-', at + begin.length);
    if (dash < 0) break;
    const isWhole = text.startsWith(end, dash);
    if (isWhole) blocks.push(text.slice(at, dash + end.length));
    at = text.indexOf(begin, isWhole ? dash + end.length : dash);
  }
  return blocks;
}
