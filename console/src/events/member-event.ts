/**
 * An event of a member, what a person calls it, and which events belong to a timeline. Pure.
 *
 * Events are the lines of a member's log at level info and above, as docs/operations/monitoring.md
 * describes them.
 */
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

const SENTENCES: Readonly<Record<string, (facts: MemberEvent['facts']) => string>> = {
  'role.looking': ({ reason }) => `looks for a leader${because(reason)}`,
  'role.leading': ({ reason }) =>
    `has been elected and brings the others up to date${because(reason)}`,
  'role.following': ({ leader }) => `has found its leader, member ${text(leader)}`,
  'role.serving': ({ role, leader, epoch }) =>
    role === 'leading'
      ? `leads and serves, in epoch ${text(epoch)}`
      : `serves as a follower of member ${text(leader)}, in epoch ${text(epoch)}`,
  'role.ended': ({ was, clients }) => {
    const ended = clients === 0 ? '' : `, which ended ${plural(clients, 'connection')}`;
    return `is no longer ${was === 'leading' ? 'the leader' : 'a follower'}${ended}`;
  },
  'role.read_only': () => 'serves reads without a quorum',
  'role.read_only_ended': () => 'no longer serves reads without a quorum',
  'election.decided': ({ leader }) => `knows that member ${text(leader)} is elected`,
  'election.waiting': ({ reason }) => `waits for a majority${because(reason)}`,
  'log.slow_sync': ({ ms }) => `needed ${text(ms)} ms to sync a write to its disk`,
  'sessions.expired': ({ count, sessions }) => {
    const asked = numberEndedByOperator(sessions);
    if (asked === 0) return `expired ${plural(count, 'session')}`;
    const some = asked === count ? '' : ', some of them';
    return `ended ${plural(count, 'session')}${some} for an operator`;
  },
  'peer.connected': ({ peer }) => `is connected to member ${text(peer)}`,
  'peer.disconnected': ({ peer, reason }) =>
    `lost its connection to member ${text(peer)}${because(reason)}`,
  'peer.unreachable': ({ peer }) => `cannot reach member ${text(peer)}`,
  'sync.diff': ({ learner, peer }) => `sends member ${text(learner ?? peer)} what it lacks`,
  'sync.snap': ({ learner, peer, reason }) =>
    `sends member ${text(learner ?? peer)} a snapshot${because(reason)}`,
  'snapshot.installed': () => 'has installed a snapshot from the leader',
  'disk.full': () => 'has a full disk: writes that carry data are refused',
  'disk.nearly_full': () => 'has a disk that is nearly full',
  'disk.has_room': () => 'has room on its disk again',
  'server.recovered': () => 'has read its data from the disk',
  'level.raised': ({ level }) => `uses what level ${text(level)} of the ensemble allows`,
  'client.listening': ({ port }) => `listens for clients at port ${text(port)}`,
  'peer.listening': ({ port }) => `listens for members at port ${text(port)}`,
  'admin.listening': ({ port }) => `listens for operators at port ${text(port)}`,
  'admin.write': ({ user, operation, path }) => {
    const by = typeof user === 'string' ? ` by ${user}` : '';
    return `took a write at its admin port${by}: ${text(operation)} ${text(path)}`;
  },
  'admin.session_ended': ({ session, user }) => `ended session ${text(session)} for ${text(user)}`,
};

/** What happened, with the member as its subject; the name of the event where there is no more. */
export function sentenceOf(event: MemberEvent): string {
  const known = SENTENCES[nameOf(event)]?.(event.facts);
  if (known !== undefined && !known.includes(UNTOLD)) return known;
  const [, told] = /^[^:]*: (.+)$/s.exec(event.event) ?? [];
  return told ?? nameOf(event);
}

function because(reason: unknown): string {
  return typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
}

/** How many of the sessions that the line names, the first ten, were ended by an operator. */
function numberEndedByOperator(sessions: unknown): number {
  if (!Array.isArray(sessions)) return 0;
  return sessions.filter((one) => one?.endedByOperator === true).length;
}

/** Stands for a fact that is missing, as in another release, and leads back to the event's name. */
const UNTOLD = '\u0000';

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : UNTOLD;
}

function plural(count: unknown, what: string): string {
  return count === 1 ? `one ${what}` : `${text(count)} ${what}s`;
}

/** The facts as `name value` pairs, those that are no object. */
export function factsText(facts: MemberEvent['facts']): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(', ');
}
