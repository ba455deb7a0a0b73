/**
 * Types of the answer of `/members`, and figures from two of them. Pure.
 *
 * A member that does not answer has only its name; what a server of ZooKeeper does not report is
 * absent.
 */
export interface Timing {
  readonly count: number;
  readonly sumMs: number;
  readonly p99Ms: number;
}

export interface Member {
  readonly id: number;
  readonly host: string;
  readonly client?: { readonly host: string; readonly port: number };
  readonly answers: boolean;
  readonly release?: string | null;
  readonly mode?: string | null;
  readonly serving?: boolean;
  readonly role?: string | null;
  readonly epoch?: number | null;
  readonly zxids?: { readonly applied?: string };
  readonly roleForMs?: number | null;
  readonly uptimeMs?: number | null;
  readonly connections?: number | null;
  readonly outstanding?: number | null;
  readonly znodes?: number | null;
  readonly tree?: { readonly bytes?: number | null; readonly bytesMax?: number };
  readonly memoryBytes?: number | null;
  readonly disk?: {
    readonly dataBytes?: number | null;
    readonly logBytes?: number | null;
    readonly freeBytes?: number | null;
    readonly isFull?: boolean;
    /** The damage that is being repaired. */
    readonly damage?: { readonly reason: string; readonly waitsFor: string | null } | null;
    /** The checkpoint that met a full disk. */
    readonly checkpointGivenUp?: {
      readonly reason: string;
      readonly waitsFor: string | null;
    } | null;
    /** The leader that does without the member; 0 for none. */
    readonly sparedBy?: number;
  };
  readonly requests?: { readonly received?: number | null };
  readonly latencyMs?: { readonly average?: number | null };
  readonly timings?: {
    readonly reads?: Timing;
    readonly updates?: Timing;
    readonly syncs?: Timing;
  };
  readonly counters?: { readonly commits?: number };
}

export interface Members {
  readonly self?: number;
  readonly members: readonly Member[];
}

/** The modes and roles of a leader; a server of ZooKeeper that is alone says standalone. */
const LEADING: ReadonlySet<string> = new Set(['leader', 'standalone', 'leading']);

export function isLeading({ answers, mode, role, serving }: Member): boolean {
  return answers && serving !== false && LEADING.has(mode ?? role ?? '');
}

export function isServing({ answers, serving, mode }: Member): boolean {
  return answers && (serving ?? typeof mode === 'string');
}

const EPOCH_BITS = 32n;

/** Transactions that it has applied fewer than the leader; null where that cannot be said. */
export function lagOf(member: Member, members: readonly Member[]): number | null {
  const leader = members.find(isLeading);
  const [own, goal] = [zxidOf(member), leader === undefined ? null : zxidOf(leader)];
  if (own === null || goal === null || own >> EPOCH_BITS !== goal >> EPOCH_BITS) return null;
  return Math.max(0, Number(goal - own));
}

function zxidOf({ zxids }: Member): bigint | null {
  const text = zxids?.applied ?? '';
  return /^0x[\da-f]{1,16}$/.test(text) ? BigInt(text) : null;
}

/** The figures of a member between two looks; null for what is not known. */
export const FIGURES = ['updates', 'syncs', 'reads', 'requests', 'commits', 'lag'] as const;
export type Figure = (typeof FIGURES)[number];
export type Figures = Readonly<Record<Figure, number | null>>;

export interface Look {
  readonly atMs: number;
  readonly members: readonly Member[];
}

type Told = number | null | undefined;

export function figuresOf(id: number, before: Look, now: Look): Figures | null {
  const member = now.members.find((one) => one.id === id);
  const last = before.members.find((one) => one.id === id);
  if (member?.answers !== true || last?.answers !== true) return null;
  const seconds = (now.atMs - before.atMs) / 1000;
  const rate = (toldTo: Told, toldFrom: Told): number | null => {
    const [to, from] = [toldTo ?? null, toldFrom ?? null];
    // A counter that went back is another process's.
    if (to === null || from === null || to < from || seconds <= 0) return null;
    return (to - from) / seconds;
  };
  const [timings, former] = [member.timings, last.timings];
  const untimed = timings === undefined ? (member.latencyMs?.average ?? null) : null;
  return {
    updates: averageOf(timings?.updates, former?.updates) ?? untimed,
    syncs: averageOf(timings?.syncs, former?.syncs),
    reads: averageOf(timings?.reads, former?.reads),
    requests: rate(member.requests?.received, last.requests?.received),
    commits: rate(member.counters?.commits, last.counters?.commits),
    lag: lagOf(member, now.members),
  };
}

function averageOf(to: Timing | undefined, from: Timing | undefined): number | null {
  if (to === undefined || from === undefined || to.count <= from.count) return null;
  return Math.max(0, to.sumMs - from.sumMs) / (to.count - from.count);
}

/** How the ensemble does as a whole, in one sentence, which the page shows first. */
export interface Verdict {
  readonly kind: 'good' | 'warn' | 'bad';
  readonly sentence: string;
}

export function verdictOf(members: readonly Member[]): Verdict {
  const serving = members.filter(isServing);
  const leader = members.find(isLeading);
  const out = members.filter((one) => !isServing(one)).map(({ id }) => id);
  if (leader === undefined) {
    const sentence = `There is no leader: writes wait until a majority of the ${members.length} members has elected a leader.`;
    return { kind: 'bad', sentence };
  }
  const epoch = typeof leader.epoch === 'number' ? ` in epoch ${leader.epoch}` : '';
  const leads = members.length === 1 ? 'The one member serves' : `Member ${leader.id} leads`;
  if (out.length > 0) {
    const names = `${out.length === 1 ? 'member' : 'members'} ${out.join(', ')}`;
    const spare = serving.length - Math.floor(members.length / 2) - 1;
    const then =
      spare > 0 ? '' : ' If one more is lost, no write is taken until a majority is back.';
    const spared = members.filter(({ disk }) => (disk?.sparedBy ?? 0) !== 0).map(({ id }) => id);
    const why = spared.length === 0 ? '' : ` The disk of member ${spared.join(', ')} is full.`;
    const sentence = `${leads}${epoch}; ${serving.length} of ${members.length} serve, ${names} not.${why}${then}`;
    return { kind: 'warn', sentence };
  }
  const full = members.filter(({ disk }) => disk?.isFull === true).map(({ id }) => id);
  if (full.length > 0) {
    const isMost = 2 * (members.length - full.length) <= members.length;
    const then = isMost ? 'writes that carry data are refused' : 'it serves until it steps out';
    const sentence = `The disk of member ${full.join(', ')} is full: ${then}.`;
    return { kind: isMost ? 'bad' : 'warn', sentence };
  }
  const damaged = members.find(({ disk }) => (disk?.damage ?? null) !== null);
  if (damaged !== undefined) {
    const waitsFor = damaged.disk?.damage?.waitsFor ?? null;
    const waits = waitsFor === null ? '' : `, which waits for ${waitsFor}`;
    const sentence = `${leads}${epoch}; member ${damaged.id} serves and repairs damage of its disk${waits}. Do not restart it before that is done.`;
    return { kind: 'warn', sentence };
  }
  const givenUp = members.find(({ disk }) => (disk?.checkpointGivenUp ?? null) !== null);
  if (givenUp !== undefined) {
    const sentence = `${leads}${epoch}; member ${givenUp.id} gave up a checkpoint because its disk was full, and writes it again once there is room. Nothing is damaged.`;
    return { kind: 'warn', sentence };
  }
  const all = members.length === 1 ? '' : `, and all ${members.length} members serve`;
  return { kind: 'good', sentence: `${leads}${epoch}${all}.` };
}
