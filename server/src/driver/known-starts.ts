/**
 * Notices a data directory that went back in time, its own or another member's.
 *
 * Each directory has a random incarnation and counts its starts, durable before its member speaks.
 * A member tells both in its hello, and what it knows of the other one: the last start that it has
 * seen, which it remembers durably. A start that is earlier than one that was seen, or the same one
 * in another process, is of a directory that was restored from an old copy, or of a second process
 * on copied data: what its member has acknowledged since may be gone, so it must not vote. It
 * cannot know that by itself; whoever saw the later start does.
 *
 * An old copy may have been started so often, without meeting anybody who knows, that its count is
 * the higher one. So a directory keeps which processes its last starts were, and the one that was
 * seen must be among them. Once it has served it keeps no earlier ones: its history is the
 * ensemble's by then.
 */
import type { Hello, PeerId, StartOf } from '@rookery/protocol';
import type { Logger } from 'pino';

/** Durable ones. */
export interface StartsStore {
  /** This directory's; count 0 where it is not known, as the disk is damaged. */
  readonly start: {
    readonly incarnation: string;
    readonly count: number;
    /** The processes of the last starts, this one last; forgotten once it serves. */
    readonly instances: readonly string[];
  };
  readonly seenStarts: readonly SeenStart[];
  rememberStart(seen: SeenStart): void;
  /** From now on it is another incarnation. */
  countStartsAnew(): void;
  /** Keeps no `instances`. */
  forgetEarlierStarts(): void;
}

export interface SeenStart extends StartOf {
  readonly peer: PeerId;
}

export const NO_START: StartOf = { incarnation: '', count: 0, instance: '' };

export class KnownStarts {
  readonly #store: StartsStore;
  readonly #instance: string;
  /** Known until this process ends, though the store may forget. */
  readonly #found: { readonly incarnation: string; readonly earlier: readonly string[] };

  /** `instance`: of this process. */
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

  /** The processes of the starts right before this one, the last one last. */
  get earlier(): readonly string[] {
    return this.#found.incarnation === this.#store.start.incarnation ? this.#found.earlier : [];
  }

  /** This member is one of a quorum that serves. */
  onServing(): void {
    this.#store.forgetEarlierStarts();
  }

  countAnew(): void {
    this.#store.countStartsAnew();
  }

  /** The last start of that member that this one has seen. */
  lastSeen(peer: PeerId): StartOf {
    const found = this.#store.seenStarts.find((seen) => seen.peer === peer);
    if (found === undefined) return NO_START;
    const { incarnation, count, instance } = found;
    return { incarnation, count, instance };
  }

  /** Whether the other member has seen a later start of this directory. */
  isBehind({ offer }: Hello): boolean {
    return offer !== null && isBeside(this.own, this.earlier, offer.lastSeen);
  }

  /** Whether this member has seen a later start of the other one's directory; else remembers it. */
  sawLater(peer: PeerId, { offer }: Hello): boolean {
    if (offer === null || offer.start.count === 0) return false;
    const seen = this.lastSeen(peer);
    if (isBeside(offer.start, offer.earlierStarts, seen)) return true;
    const isNew = offer.start.incarnation !== seen.incarnation || offer.start.count > seen.count;
    if (isNew) this.#store.rememberStart({ peer, ...offer.start });
    return false;
  }
}

interface StartsParts {
  readonly starts: KnownStarts;
  readonly logger: Logger;
}

interface Met {
  readonly peer: PeerId;
  readonly hello: Hello;
  /** This member is one of a quorum that serves. */
  readonly isServing: boolean;
}

/**
 * Before anything else of a link: says at both ends which directory went back in time. Returns why
 * this member must not trust its own; null when it may. One that is of a quorum that serves is told
 * too late: what it has is the ensemble's history by now, and without its vote there might be no
 * majority for any. It counts its starts anew.
 */
export function checkStarts(parts: StartsParts, { peer, hello, isServing }: Met): string | null {
  const { starts, logger } = parts;
  if (starts.sawLater(peer, hello)) {
    const facts = { peer, shown: hello.offer?.start, seen: starts.lastSeen(peer) };
    logger.error(facts, 'peer.went_back');
  }
  if (!starts.isBehind(hello)) return null;
  const facts = { peer, own: starts.own, seen: hello.offer?.lastSeen, isServing };
  logger.error(facts, 'directory.went_back');
  if (isServing) {
    starts.countAnew();
    return null;
  }
  return `member ${peer} has seen a later start of this data directory: it is an old copy`;
}

/**
 * Whether the start that was seen is none of this one's: a later one, or of another process than
 * the start of the same count. Of a directory that was emptied, or had given up, nothing is known.
 */
function isBeside(start: StartOf, earlier: readonly string[], seen: StartOf): boolean {
  if (start.count === 0 || start.incarnation !== seen.incarnation) return false;
  if (start.count < seen.count) return true;
  const instance = [...earlier, start.instance].at(seen.count - start.count - 1);
  return instance !== undefined && instance !== seen.instance;
}
