/**
 * Completion of a path as it is typed, asked of the server: a page of the children whose names
 * begin as typed, however many the directory has.
 */
import type { Api } from '../../api/api.js';
import { childrenPage } from '../children/children-page.js';
import { childOf, withoutSlashes } from '../paths.js';

const SHOWN_MAX = 50;

/** The directory that is typed so far, and the beginning of a name in it. */
export function splitTyped(typed: string): { readonly directory: string; readonly begin: string } {
  const slash = typed.lastIndexOf('/');
  const directory = slash <= 0 ? '/' : withoutSlashes(typed.slice(0, slash)) || '/';
  return { directory, begin: typed.slice(slash + 1) };
}

/**
 * A text that is sorted right before every name with this beginning, for `after`; '' for the start
 * of the directory. Names are sorted by code unit.
 */
export function justBefore(begin: string): string {
  const last = begin.charCodeAt(begin.length - 1);
  // Surrogates and the first characters have no neighbour that can be sent.
  if (begin === '' || last <= 0x21 || (last >= 0xd800 && last <= 0xe000)) return '';
  return `${begin.slice(0, -1)}${String.fromCharCode(last - 1)}\u{ffef}`;
}

/** Paths; none for a directory that is not there or may not be read. Throws when aborted. */
export async function completions(
  api: Api,
  typed: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { directory, begin } = splitTyped(typed);
  const options = { after: justBefore(begin), limit: SHOWN_MAX, signal };
  const page = await childrenPage(api, directory, options);
  return page.children
    .map(({ name }) => name)
    .filter((name) => name.startsWith(begin))
    .map((name) => childOf(directory, name));
}

/** What all of them begin with; '' for none. */
export function commonBeginning(texts: readonly string[]): string {
  const [first = '', ...rest] = texts;
  let length = first.length;
  for (const text of rest) {
    while (!text.startsWith(first.slice(0, length))) length -= 1;
  }
  return first.slice(0, length);
}
