/**
 * What is typed into the search, as the parameters of `/search`.
 *
 * Words are a part of the name; with `*` or `?` they are a pattern, of the whole path if there is a
 * slash in it. `mode:ephemeral`, `owner:0x1234`, `bytes:>1000` and `in:/path` narrow it.
 */
import type { Query } from '../../api/api.js';

const MODES = ['persistent', 'ephemeral', 'container', 'ttl'];
const FOUND_MAX = 10_000;

export type Parsed =
  | { readonly kind: 'query'; readonly query: Query; readonly text: string }
  | { readonly kind: 'wrong'; readonly sentence: string }
  | { readonly kind: 'empty' };

export function parsedSearch(typed: string): Parsed {
  const query: Record<string, string | number> = { path: '/', limit: FOUND_MAX };
  const words: string[] = [];
  for (const word of typed.trim().split(/\s+/)) {
    const [, key = '', value = ''] = /^(mode|owner|bytes|in):(.*)$/.exec(word) ?? [];
    if (key === '') words.push(word);
    else {
      const wrong = narrow(query, key, value);
      if (wrong !== null) return { kind: 'wrong', sentence: wrong };
    }
  }
  const text = words.join(' ');
  if (/[*?]/.test(text)) query['glob'] = text;
  else if (text !== '') query['match'] = text;
  const isEmpty = text === '' && Object.keys(query).length === 2;
  return isEmpty ? { kind: 'empty' } : { kind: 'query', query, text };
}

/** Says what is wrong; null if nothing is. */
function narrow(query: Record<string, string | number>, key: string, value: string): string | null {
  if (key === 'mode') {
    if (!MODES.includes(value)) return `mode: is one of ${MODES.join(', ')}.`;
    query['mode'] = value;
  }
  if (key === 'owner') {
    if (!/^(0x)?[\da-f]{1,16}$/i.test(value)) return 'owner: is a session in hex.';
    query['session'] = value.startsWith('0x') ? value : `0x${value}`;
  }
  if (key === 'bytes') {
    const [, digits] = /^>?(\d{1,9})$/.exec(value) ?? [];
    if (digits === undefined) return 'bytes: is a number of bytes, such as bytes:>1000.';
    query['minBytes'] = Number(digits);
  }
  if (key === 'in') {
    if (!value.startsWith('/')) return 'in: is a path.';
    query['path'] = value.length > 1 ? value.replace(/\/$/, '') : value;
  }
  return null;
}

/** The places of `text` in a name, for marking them: pairs of start and end. */
export function marksIn(name: string, text: string): readonly (readonly [number, number])[] {
  if (text === '' || /[*?]/.test(text)) return [];
  const marks: [number, number][] = [];
  const [lower, wanted] = [name.toLowerCase(), text.toLowerCase()];
  // A letter whose lower case is longer would shift every place behind it.
  if (lower.length !== name.length) return [];
  for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + wanted.length)) {
    marks.push([at, at + wanted.length]);
  }
  return marks;
}
