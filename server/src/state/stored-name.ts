/**
 * A name as it lies in memory, and the order of names by their code units. Nothing is decoded.
 * Called by Payloads and by the selection of names.
 */
const ASCII_MAX = 0x7f;

/** As ASCII where possible, otherwise as UTF-16 code units. */
export interface StoredName {
  readonly bytes: Uint8Array;
  readonly start: number;
  /** In code units. */
  readonly length: number;
  readonly isWide: boolean;
}

/** A text in the form of a name that is stored. */
export function asStoredName(text: string): StoredName {
  let isWide = false;
  for (let i = 0; i < text.length; i++) isWide ||= text.charCodeAt(i) > ASCII_MAX;
  const bytes = Buffer.from(text, isWide ? 'utf16le' : 'latin1');
  return { bytes, start: 0, length: text.length, isWide };
}

/** Below, at or above 0. */
export function compareUnits(a: StoredName, b: StoredName): number {
  const common = Math.min(a.length, b.length);
  for (let i = 0; i < common; i++) {
    const difference = unitAt(a, i) - unitAt(b, i);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function unitAt({ bytes, start, isWide }: StoredName, index: number): number {
  if (!isWide) return bytes[start + index] ?? 0;
  return (bytes[start + 2 * index] ?? 0) | ((bytes[start + 2 * index + 1] ?? 0) << 8);
}
