/**
 * What the data of a znode is: found by looking at the bytes, never by running them.
 *
 * Text is UTF-8 that decodes without loss; everything else is binary and shown in hex, so that no
 * edit of a lossy text can damage it. gzip is opened within a bound, and what is inside is looked
 * at in the same way.
 */
import { DEPTH_MAX, laidOut } from './json-layout.js';
import { type Payload, payloadOf } from './payloads.js';

export type Language = 'json' | 'yaml' | 'xml' | 'properties' | 'text';

export interface TextContent {
  readonly kind: 'text';
  readonly text: string;
  readonly language: Language;
  /** For reading; null where the text itself is as good. */
  readonly pretty: string | null;
  /** Nested so deeply that highlighting it would cost too much. */
  readonly isTooDeep: boolean;
}

export interface BinaryContent {
  readonly kind: 'binary';
}

export interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes inside of gzip; null if it is none, or is damaged. */
  readonly unzipped: Uint8Array<ArrayBuffer> | null;
  /** Said if it looks like gzip and could not be opened. */
  readonly zipProblem: string | null;
  /** The content of what is inside, where the data is gzip. */
  readonly body: TextContent | BinaryContent;
  /** What the bytes mean to a recipe, if they are known. */
  readonly payload: Payload | null;
}

/** The bytes that are unzipped at most: a megabyte can hold a gigabyte of zeros. */
export const UNZIPPED_MAX = 16_000_000;
/** Text beyond it is not laid out or highlighted as it comes. */
const LAID_OUT_MAX = 2_000_000;

export async function contentOf(bytes: Uint8Array<ArrayBuffer>, path: string): Promise<Content> {
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
  const unzipped = isZipped ? await unzip(bytes) : null;
  const isBroken = typeof unzipped === 'string';
  const inside = unzipped === null || isBroken ? bytes : unzipped;
  return {
    bytes,
    unzipped: isBroken ? null : unzipped,
    zipProblem: isBroken ? unzipped : null,
    body: bodyOf(inside),
    payload: payloadOf(inside, path),
  };
}

export function bodyOf(bytes: Uint8Array): TextContent | BinaryContent {
  const text = textOf(bytes);
  if (text === null) return { kind: 'binary' };
  const layout =
    /^\s*[[{"\d\-tfn]/.test(text) && text.length <= LAID_OUT_MAX ? laidOut(text) : null;
  if (layout !== null && /^\s*[[{]/.test(text)) {
    const pretty = layout.text === text ? null : layout.text;
    const isTooDeep = layout.depth > DEPTH_MAX;
    return { kind: 'text', text, language: 'json', pretty, isTooDeep };
  }
  const language = languageOf(text);
  return { kind: 'text', text, language, pretty: null, isTooDeep: isDeep(text) };
}

/** Null for what is not UTF-8, or has controls that no text has. */
export function textOf(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they tell binary data from text
    const controls = text.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
    return controls * 50 > text.length ? null : text;
  } catch {
    // TextDecoder says in this way that it is no UTF-8.
    return null;
  }
}

function languageOf(text: string): Language {
  const trimmed = text.slice(0, 10_000).trim();
  if (
    /^<(\?xml|!DOCTYPE|!--|[A-Za-z_][\w.:-]*[\s/>])/.test(trimmed) &&
    text.trimEnd().endsWith('>')
  ) {
    return 'xml';
  }
  const lines = trimmed.split(/\r?\n/, 200).filter((line) => !/^\s*([#!]|$)/.test(line));
  const share = (pattern: RegExp): number =>
    lines.length === 0 ? 0 : lines.filter((line) => pattern.test(line)).length / lines.length;
  if (/^(%YAML|---)/.test(trimmed)) return 'yaml';
  if (share(/^[\w.\-/]+\s*=/) >= 0.8) return 'properties';
  const isYaml = share(/^\s*(- |[\w"'./-]+:(\s|$))/) >= 0.6 && share(/:(\s|$)|^\s*- /) > 0;
  return isYaml && (lines.length > 1 || /^[\w-]+: \S/.test(trimmed)) ? 'yaml' : 'text';
}

/** Cheap and generous: brackets or tags that are open at once, and lists within lists. */
function isDeep(text: string): boolean {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    const isOpening = char === 0x7b || char === 0x5b || char === 0x28;
    const isClosing = char === 0x7d || char === 0x5d || char === 0x29;
    if (isOpening || (char === 0x3c && text.charCodeAt(at + 1) !== 0x2f)) depth += 1;
    else if (isClosing || char === 0x3c) depth -= 1;
    else if (char === 0x2f && text.charCodeAt(at + 1) === 0x3e) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest > DEPTH_MAX || /(?:[-?:] ){100}/.test(text);
}

/** The bytes inside, or a sentence that says why they are not to be had. */
async function unzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    for await (const piece of stream as unknown as AsyncIterable<Uint8Array>) {
      length += piece.length;
      if (length > UNZIPPED_MAX) return 'What is inside of gzip is larger than 16 MB.';
      pieces.push(piece);
    }
  } catch {
    // The stream says no more than that it is not valid.
    return 'This begins like gzip and is damaged.';
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

export async function zipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
