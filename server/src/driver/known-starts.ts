/**
 * Detects a data directory that went back in time, this member's or another one's.
 *
 * Each directory has a random incarnation and a count of its starts, which is durable before the
 * member speaks to any other. A hello carries both, and the last start of the other member that the
 * sender has seen, which it remembers durably. A start that is earlier than one that was seen, or
 * the same one in another process, means that the directory was restored from an old copy, or that
 * a second process runs on copied data. Transactions that the member acknowledged may then be
 * missing, so it must not vote. It cannot know that by itself; a member that saw the later start
 * does.
 *
 * An old copy may have been started so often, without meeting such a member, that its count is the
 * higher one. So a directory also keeps the processes of its last starts, and the start that was
 * seen must be among them. Once the member has served it forgets them, because its history is then
 * the ensemble's.
 */
import type { Hello, PeerId, StartOf } from '@rookery/protocol';
import type { Logger } from 'pino';

/** Durable storage of starts. */
export interface StartsStore {
  /** This directory's start; count 0 if it is unknown because the disk is damaged. */
  readonly start: {
    readonly incarnation: string;
    readonly count: number;
    /** The processes of the last starts, this one last. Forgotten once the member serves. */
    readonly instances: readonly string[];
  };
  readonly seenStarts: readonly SeenStart[];
  rememberStart(seen: SeenStart): void;
  /** Begins a new incarnation. */
  countStartsAnew(): void;
  /** Forgets `instances`. */
  forgetEarlierStarts(): void;
}

export interface SeenStart extends StartOf {
  readonly peer: PeerId;
}

export const NO_START: StartOf = { incarnation: '', count: 0, instance: '' };

export class KnownStarts {
  readonly #store: StartsStore;
  readonly #instance: string;
  /** What was found at the start. Kept in memory, although the store may forget it. */
  readonly #found: { readonly incarnation: string; readonly earlier: readonly string[] };
  /** Starts that were seen while nothing might be written, by peer: one for each at most. */
  readonly #unwritten = new Map<PeerId, SeenStart>();

  /** `instance` identifies this process. */
  constructor(store: StartsStore, instance: string) {
    this.#store = store;
    this.#instance = instance;
    const { incarnation, instances } = store.start;
    this.#found = { incarnation, earlier: instances.slice(0, -1) };
  }

  get own(): StartOf {
    const { incarnation, count } = this.#store.start;
    return { incarnation, count, instance: this.#instance };
  }

  /** The processes of the starts before this one, the last one last. */
  get earlier(): readonly string[] {
    return this.#found.incarnation === this.#store.start.incarnation ? this.#found.earlier : [];
  }

  /** Called when this member begins to serve, as part of a quorum. */
  onServing(): void {
    for (const seen of this.#unwritten.values()) this.#store.rememberStart(seen);
    this.#unwritten.clear();
    this.#store.forgetEarlierStarts();
  }

  countAnew(): void {
    this.#store.countStartsAnew();
  }

  /** The last start of `peer` that this member has seen. */
  lastSeen(peer: PeerId): StartOf {
    const found =
      this.#unwritten.get(peer) ?? this.#store.seenStarts.find((seen) => seen.peer === peer);
    if (found === undefined) return NO_START;
    const { incarnation, count, instance } = found;
    return { incarnation, count, instance };
  }

  /** Whether the other member has seen a later start of this directory. */
  isBehind({ offer }: Hello): boolean {
    return isBeside(this.own, this.earlier, offer.lastSeen);
  }

  /**
   * Whether this member has seen a later start of the peer. If not, it remembers this one; if
   * `mayWrite` is false, only in memory until the member serves again.
   */
  sawLater(peer: PeerId, { offer }: Hello, mayWrite = true): boolean {
    if (offer.start.count === 0) return false;
    const seen = this.lastSeen(peer);
    if (isBeside(offer.start, offer.earlierStarts, seen)) return true;
    const isNew = offer.start.incarnation !== seen.incarnation || offer.start.count > seen.count;
    if (isNew) this.#remember({ peer, ...offer.start }, mayWrite);
    return false;
  }

  #remember(seen: SeenStart, mayWrite: boolean): void {
    if (mayWrite) {
      this.#unwritten.delete(seen.peer);
      this.#store.rememberStart(seen);
    } else {
      this.#unwritten.set(seen.peer, seen);
    }
  }
}

interface Met {
  readonly peer: PeerId;
  readonly hello: Hello;
  /** Whether this member is part of a quorum that serves. */
  readonly isServing: boolean;
  /** False while the member has stepped out because its disk is full. */
  readonly mayWrite: boolean;
}

/**
 * Checks a new link before anything else, and logs on both sides which directory went back in time.
 * Returns the reason why this member must not trust its own directory, or null if it may. A member
 * that is already part of a quorum that serves keeps its vote, because its history is the
 * ensemble's by then; it begins a new incarnation.
 */
export function checkStarts(
  starts: KnownStarts,
  { peer, hello, isServing, mayWrite }: Met,
  logger: Logger,
): string | null {
  if (starts.sawLater(peer, hello, mayWrite)) {
    const facts = { peer, shown: hello.offer.start, seen: starts.lastSeen(peer) };
    logger.error(facts, 'peer.went_back');
  }
  if (!starts.isBehind(hello)) return null;
  const facts = { peer, own: starts.own, seen: hello.offer.lastSeen, isServing };
  logger.error(facts, 'directory.went_back');
  if (isServing) {
    starts.countAnew();
    return null;
  }
  return `member ${peer} has seen a later start of this data directory: it is an old copy`;
}

/**
 * Whether the start that was seen does not belong to the history of `start`: it is later, or has
 * the same count and another process. An emptied directory, or one that gave up, has no history.
 */
function isBeside(start: StartOf, earlier: readonly string[], seen: StartOf): boolean {
  if (start.count === 0 || start.incarnation !== seen.incarnation) return false;
  if (start.count < seen.count) return true;
  const instance = [...earlier, start.instance].at(seen.count - start.count - 1);
  return instance !== undefined && instance !== seen.instance;
}
