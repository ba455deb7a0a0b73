/**
 * An edit of a znode's data that is not saved yet: what it began with, and what it is by now.
 *
 * Text is edited as text, inside of gzip where it was, and everything else in hex, so that what
 * nobody touched is written back as it was, byte for byte. Pure.
 */
import { type Content, type Language, textOf, UNZIPPED_MAX, zipped } from '../data/detect.js';
import { bytesOfHex, hexText } from '../data/hex.js';
import { laidOut } from '../data/json-layout.js';

export type Form = 'text' | 'hex';

export interface Draft {
  readonly form: Form;
  /** Whether the text is inside of gzip. */
  readonly isZipped: boolean;
  readonly language: Language;
  readonly text: string;
  /** What the edit began with, in the same form. */
  readonly base: string;
  /** The version that it began with. */
  readonly version: number;
}

/** The most bytes that the server takes. */
export const BYTES_MAX = 1_000_000;

export function draftOf(content: Content, version: number): Draft {
  const { body, unzipped, bytes } = content;
  if (body.kind === 'text') {
    const { text, language } = body;
    return { form: 'text', isZipped: unzipped !== null, language, text, base: text, version };
  }
  const text = hexText(bytes);
  return { form: 'hex', isZipped: false, language: 'text', text, base: text, version };
}

/** The content that somebody else wrote, in the form of the draft; null if it has none there. */
export function inFormOf({ form, isZipped }: Draft, content: Content): string | null {
  if (form === 'hex') return hexText(content.bytes);
  if (isZipped && content.unzipped === null) return null;
  if (!isZipped && content.unzipped !== null) return null;
  return textOf(content.unzipped ?? content.bytes);
}

export function isChanged({ text, base }: Draft): boolean {
  return text !== base;
}

/** The bytes to write, or a sentence that says why there are none. */
export async function bytesOfDraft(draft: Draft): Promise<Uint8Array<ArrayBuffer> | string> {
  const plain = draft.form === 'hex' ? bytesOfHex(draft.text) : utf8(draft.text);
  if (plain === null) return 'This is not hex: pairs of the digits 0-9 and a-f.';
  if (draft.isZipped && plain.length > UNZIPPED_MAX) return 'This is more than 16 MB unzipped.';
  const bytes = draft.isZipped ? await zipped(plain) : plain;
  if (bytes.length <= BYTES_MAX) return bytes;
  return `This is ${bytes.length} bytes, and a znode takes ${BYTES_MAX} at most.`;
}

/** Says if the text was valid in its language and is no longer; null otherwise. */
export function warningOf({ language, base, text }: Draft): string | null {
  if (language !== 'json' || laidOut(base) === null || laidOut(text) !== null) return null;
  return 'This was JSON and is no longer.';
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
