/**
 * The parameter `acl` of a request: each occurrence is one entry, `scheme:id:perms` as zkCli has
 * it, whose id may hold commas.
 *
 * A single occurrence may be a list with commas between its entries, too. It is read as the only
 * thing that it can be. What could be both is refused and never guessed, because an id that
 * somebody else has chosen, such as the subject of a certificate, must not become an entry of its
 * own. An empty occurrence is no entry: beside it, a single other one is an entry and no list.
 * Pure.
 */
import { type Acl, permsOf } from '@rookery/protocol';
import { badRequest } from './problem.js';

const EXPECTED = 'acl: expected scheme:id:perms, once for each entry.';
const EITHER =
  'acl: this can be a list or one entry with commas in its id. Give acl once for each entry, ' +
  'and an empty one beside a single entry.';

/** Null where the parameter is absent. Throws HttpError 400. */
export function aclIn(query: URLSearchParams): readonly Acl[] | null {
  const given = query.getAll('acl');
  const [text, ...others] = given;
  if (text === undefined) return null;
  if (others.length === 0) return singleOf(text);
  const entries = given.filter((one) => one !== '').map(entryOf);
  const known = entries.filter((entry) => entry !== null);
  if (known.length === 0 || known.length < entries.length) throw badRequest(EXPECTED);
  return known;
}

function singleOf(text: string): readonly Acl[] {
  const list = text.split(',').map(entryOf);
  const known = list.filter((entry) => entry !== null);
  const isList = list.length > 1 && known.length === list.length;
  const entry = entryOf(text);
  const isEntry = entry !== null && (!text.includes(',') || mayHaveCommas(entry));
  const before = known.slice(0, -1);
  // Of any other scheme, an id may go on behind a comma, up to the end of a later part.
  if (isList && before.every(({ scheme }) => ENDS_AT_COMMA.has(scheme))) return known;
  if (isList || (isEntry && mayBeEntries(text))) throw badRequest(EITHER);
  if (!isEntry) throw badRequest(EXPECTED);
  return [entry];
}

/** The schemes of which no id takes in what looks like another entry. */
const ENDS_AT_COMMA: ReadonlySet<string> = new Set(['world', 'auth', 'ip', 'digest']);
const PERMISSIONS: ReadonlySet<string> = new Set('cdrwa');

/**
 * Whether an entry can be at least two, whatever commas are in their ids: some comma has the end of
 * an entry before it and the beginning of another one behind it. Reads each character a few times.
 */
function mayBeEntries(entry: string): boolean {
  const firstId = entry.indexOf(':');
  const lastId = entry.lastIndexOf(':');
  let comma = entry.indexOf(',');
  while (comma >= 0) {
    let perms = comma;
    while (PERMISSIONS.has(entry.charAt(perms - 1))) perms -= 1;
    const isEnd = perms < comma && entry[perms - 1] === ':' && perms - 1 > firstId;
    const next = entry.indexOf(',', comma + 1);
    const scheme = entry.slice(comma + 1, next < 0 ? entry.length : next);
    const colon = scheme.indexOf(':');
    if (isEnd && colon > 0 && comma + 1 + colon < lastId) return true;
    comma = next;
  }
  return false;
}

function entryOf(text: string): Acl | null {
  const [, scheme = '', id = '', perms = ''] = /^([^:,]+):(.*):([cdrwa]+)$/s.exec(text) ?? [];
  return scheme === '' ? null : { scheme, id, perms: permsOf(perms) };
}

/** Whether a text with commas can be this entry: there is no such id of some schemes. */
function mayHaveCommas({ scheme, id }: Acl): boolean {
  if (scheme === 'world' || scheme === 'auth' || scheme === 'ip') return false;
  // The user of a digest may have a comma, but there is one colon behind it.
  return scheme !== 'digest' || /^[^:]*:[^:]*$/.test(id);
}
