/**
 * An event of a member, what a person calls it, and which events belong to a timeline. Pure.
 *
 * Events are the lines of a member's log at level info and above, as docs/operations/monitoring.md
 * describes them.
 */
import { SENTENCES, UNTOLD } from './sentences.js';

export type Level = 'info' | 'warn' | 'error' | 'fatal';

export interface MemberEvent {
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly level: Level;
  /** `area.what`, and with some a sentence behind a colon. */
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** Absent where only one member is asked. */
  readonly member?: number;
  /** The process of that member; numbers begin anew with it. */
  readonly start?: string;
}

/** One event among those of all members and their processes. */
export function keyOf({ member = 0, start = '', number }: MemberEvent): string {
  return `${member}:${start}-${number}`;
}

/** `log.slow_sync` of `log.slow_sync: the disk took so long`. */
export function nameOf({ event }: MemberEvent): string {
  return event.split(':', 1)[0] ?? event;
}

export type Topic = 'election' | 'disk' | 'session' | 'member' | 'other';

export const TOPICS: Readonly<Record<Topic, string>> = {
  election: 'Elections',
  disk: 'Disk',
  session: 'Sessions',
  member: 'Members',
  other: 'Other',
};

/** Events that belong elsewhere than the others of their area. */
const NAMES: Readonly<Record<string, Topic>> = { 'admin.session_ended': 'session' };

const AREAS: Readonly<Record<string, Topic>> = {
  role: 'election',
  election: 'election',
  looking: 'election',
  leading: 'election',
  disk: 'disk',
  log: 'disk',
  tree: 'disk',
  snapshot: 'disk',
  backup: 'disk',
  session: 'session',
  sessions: 'session',
  client: 'session',
  peer: 'member',
  sync: 'member',
  server: 'member',
  level: 'member',
  clock: 'member',
  history: 'member',
  digest: 'member',
};

export function topicOf(event: MemberEvent): Topic {
  const name = nameOf(event);
  return NAMES[name] ?? AREAS[name.split('.', 1)[0] ?? ''] ?? 'other';
}

/** Whether it explains what a chart shows: who lost and took the lead, slow disks, expiries. */
export function isNotable(event: MemberEvent): boolean {
  if (event.level !== 'info') return true;
  const name = nameOf(event);
  if (name === 'role.serving') return event.facts['role'] === 'leading';
  return name === 'sessions.expired' || name === 'snapshot.installed' || name === 'disk.has_room';
}

/** What happened, with the member as its subject; the name of the event where there is no more. */
export function sentenceOf(event: MemberEvent): string {
  const known = SENTENCES[nameOf(event)]?.(event.facts);
  if (known !== undefined && !known.includes(UNTOLD)) return known;
  const [, told] = /^[^:]*: (.+)$/s.exec(event.event) ?? [];
  return told ?? nameOf(event);
}

/** The facts as `name value` pairs, those that are no object. */
export function factsText(facts: MemberEvent['facts']): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ');
}
