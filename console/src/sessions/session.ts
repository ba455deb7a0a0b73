/**
 * What `/sessions` tells, and how a page orders and finds sessions. Pure.
 *
 * What a server cannot tell, as ZooKeeper cannot everything, is null or absent.
 */
import { type Key, type Order, sortedBy } from '../live/order.js';

export interface Session {
  readonly session: string;
  readonly timeoutMs: number | null;
  readonly closing?: boolean;
  /** Up to the timeout and twice `peerTimeoutMs`; known to the leader alone. */
  readonly expiresInMs?: number | null;
  readonly ephemerals?: number | null;
  readonly member?: number | string | null;
  /** '' for a client within the member itself, such as a reader of this console. */
  readonly address: string | null;
  readonly connection?: Connection | null;
}

export interface Connection {
  readonly established?: number | null;
  readonly received?: number | null;
  readonly sent?: number | null;
  readonly outstanding?: number | null;
  readonly lastOperation?: string | null;
  readonly averageLatencyMs?: number | null;
  readonly maxLatencyMs?: number | null;
}

export interface SessionsPage {
  readonly count: number;
  readonly sessions: readonly Session[];
  readonly next: string | null;
}

export interface WatchedPath {
  readonly path: string;
  readonly mode?: string | null;
}

export interface SessionDetail extends Session {
  /** Null where nobody tells. */
  readonly ephemeralPaths: readonly string[] | null;
  /** Whether it owns more than these. */
  readonly ephemeralPathsTruncated?: boolean;
  /** Absent where nobody tells. */
  readonly watched?: readonly WatchedPath[] | null;
  readonly watchedTruncated?: boolean | null;
}

export function clientOf({ address }: Session): string {
  if (address === null) return 'Not connected';
  return address === '' ? 'This console or another reader of the port' : address;
}

/** Whether a text is in what a row shows of it. */
export function isFound(one: Session, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  const operation = one.connection?.lastOperation ?? '';
  const member = one.member === null || one.member === undefined ? '' : `member ${one.member}`;
  return [one.session, one.address ?? 'not connected', member, operation].some((shown) =>
    shown.toLowerCase().includes(wanted),
  );
}

/** `0x` and hex digits, for a whole id that somebody typed; null for anything else. */
export function sessionIdIn(text: string): string | null {
  const [, digits] = /^\s*(?:0x)?0*([\da-f]{5,16})\s*$/i.exec(text) ?? [];
  return digits === undefined ? null : `0x${digits.toLowerCase()}`;
}

export const COLUMNS = ['session', 'client', 'member', 'timeout', 'owns', 'latency'] as const;
export type Column = (typeof COLUMNS)[number];

export function sorted(
  sessions: readonly Session[],
  { column, isDescending }: Order<Column>,
): readonly Session[] {
  return sortedBy(sessions, (one) => keyOf(one, column), isDescending);
}

function keyOf(one: Session, column: Column): Key {
  switch (column) {
    case 'session':
      return /^0x[\da-f]+$/.test(one.session) ? BigInt(one.session) : null;
    case 'client':
      return one.address;
    case 'member':
      return one.member === null || one.member === undefined ? null : String(one.member);
    case 'timeout':
      return one.timeoutMs;
    case 'owns':
      return one.ephemerals ?? null;
    case 'latency':
      return one.connection?.averageLatencyMs ?? null;
  }
}

/** What stands in place of the sessions where none is shown; `count` is how many there are. */
export function emptyText(isAsked: boolean, count: number): string {
  if (!isAsked) return 'Asking the members …';
  return count === 0 ? 'There is no session.' : 'No session matches the filter.';
}
