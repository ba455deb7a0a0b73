/**
 * The names of entries and their order: by rank (a priority or a time), then by the number that the
 * server appended, which wraps at 2^31.
 *
 * Curator's are `queue-<n>`, `queue-<0|1><8 hex digits of the priority><n>`, `queue-|<hex
 * time>|<n>` and `queue-|<id>|<n>`. ZooKeeper's own are `qn-<n>`, and kazoo's
 * `entry-<priority>-<n>`. Names of any other form are not entries and are ignored. Pure.
 */
import { compareSequences, sequenceOf } from '../shared/sequence.js';

export interface EntryName {
  readonly name: string;
  /** The name without the number, with which another entry of this kind is created. */
  readonly head: string;
  readonly sequence: number;
  /** Lower ranks come first. */
  readonly rank: number;
  readonly id: string | null;
}

export interface EntryLayout {
  /** Null if the name is not that of an entry. */
  readonly parse: (name: string) => EntryName | null;
  /**
   * Whether the order of names by code unit is the order of the queue (until the numbers wrap), so
   * that the first names of a huge directory are the first entries.
   */
  readonly isSortedByName: boolean;
}

export function compareEntries(left: EntryName, right: EntryName): number {
  return (
    left.rank - right.rank ||
    compareSequences(left.sequence, right.sequence) ||
    (left.name < right.name ? -1 : 1)
  );
}

interface Meaning {
  readonly rank?: number;
  readonly id?: string;
}

/** `head` matches the name up to the number, and `read` interprets its first group. */
function layout(
  head: RegExp,
  isSortedByName: boolean,
  read: (group: string) => Meaning | null = () => ({}),
): EntryLayout {
  const parse = (name: string): EntryName | null => {
    const match = head.exec(name);
    const meaning = match === null ? null : read(match[1] ?? '');
    if (match === null || meaning === null) return null;
    const [start] = match;
    const sequence = sequenceOf(name, start);
    if (sequence === null) return null;
    return { name, head: start, sequence, rank: meaning.rank ?? 0, id: meaning.id ?? null };
  };
  return { parse, isSortedByName };
}

export const CURATOR_ENTRY = 'queue-';
export const SIMPLE_ENTRY = 'qn-';
export const KAZOO_ENTRY = 'entry-';

export const PlainLayout = layout(/^queue-/, true);
export const SimpleLayout = layout(/^qn-/, true);
export const PriorityLayout = layout(/^queue-([01][0-9A-F]{8})/, true, (text) => {
  const rank = Number.parseInt(text.slice(1), 16) | 0;
  return rank >= 0 === (text[0] === '1') ? { rank } : null;
});
export const DelayLayout = layout(/^queue-\|([0-9A-F]{8,16})\|/, true, (text) => ({
  rank: Number(BigInt.asIntN(64, BigInt(`0x${text}`))),
}));
export const IdLayout = layout(/^queue-\|([^|]*)\|/, false, (id) => ({ id }));
export const KazooLayout = layout(/^entry-(\d{3})-/, true, (text) => ({ rank: Number(text) }));
/** Our own layout, in which the id is percent-encoded. */
export const IdempotentLayout = layout(/^item-\|([^|]+)\|/, false, (id) =>
  isPercentEncoded(id) ? { id } : null,
);

/** The head of an entry with this priority, an int32. Negative ones come first. */
export function priorityHead(priority: number): string {
  const hex = (priority >>> 0).toString(16).toUpperCase().padStart(8, '0');
  return `${CURATOR_ENTRY}${priority >= 0 ? '1' : '0'}${hex}`;
}

/** The head of an entry that must not be delivered before the time, in milliseconds since 1970. */
export function delayHead(dueMs: number): string {
  const hex = dueMs.toString(16).toUpperCase().padStart(8, '0');
  return `${CURATOR_ENTRY}|${hex}|`;
}

/** Writes an id as Curator does: characters that a name cannot contain become underscores. */
export function fixedId(id: string): string {
  return id.replaceAll('/', '_').replaceAll('|', '_');
}

export function idHead(id: string): string {
  return `${CURATOR_ENTRY}|${fixedId(id)}|`;
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
