/**
 * Bytes in hex: lines of 16 for the eye, and text that can be edited and read back.
 */
const BYTES_PER_LINE = 16;
const HEX_COLUMNS = 3 * BYTES_PER_LINE;

export interface HexLine {
  readonly offset: string;
  readonly hex: string;
  /** Printable ASCII; a middle dot for the rest. */
  readonly text: string;
}

export function hexLineCount(bytes: Uint8Array): number {
  return Math.ceil(bytes.length / BYTES_PER_LINE);
}

export function hexLine(bytes: Uint8Array, index: number): HexLine {
  const start = index * BYTES_PER_LINE;
  const line = [...bytes.subarray(start, start + BYTES_PER_LINE)];
  const [left, right] = [line.slice(0, 8), line.slice(8)].map((half) => half.map(two).join(' '));
  return {
    offset: start.toString(16).padStart(6, '0'),
    // A short last line has its text below that of the others.
    hex: `${left ?? ''}  ${right ?? ''}`.padEnd(HEX_COLUMNS),
    text: line
      .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·'))
      .join(''),
  };
}

/** For the editor: lines of 16 bytes, in pairs of digits. */
export function hexText(bytes: Uint8Array): string {
  return Array.from({ length: hexLineCount(bytes) }, (_, index) => {
    const start = index * BYTES_PER_LINE;
    return [...bytes.subarray(start, start + BYTES_PER_LINE)].map(two).join(' ');
  }).join('\n');
}

/** The bytes of edited hex; null unless it is pairs of hex digits and white space. */
export function bytesOfHex(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = text.replace(/\s+/g, '');
  if (digits.length % 2 !== 0 || /[^\da-f]/i.test(digits)) return null;
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  );
}

function two(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
