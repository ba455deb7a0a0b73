/**
 * LeaderLatch: one of many participants leads until it is closed or loses its session; then the
 * next in line leads.
 *
 * **Guarantee.** At most one participant has a term with an unaborted signal at a time, provided
 * that processes do not stand still and clocks run at nearly the same rate, and `fencingToken`
 * strictly increases from term to term. A term begins only when the server has shown that the
 * participant's own znode, of the current session, exists and is the first in line. It ends before
 * that of any other participant can begin.
 *
 * **Znodes.** The same as for Curator's LeaderLatch: `<path>` (a container), with
 * `_c_<uuid>-latch-<number>` for each participant, ephemeral, whose data is its id. The lowest
 * number leads, and each other participant watches the one before it.
 *
 * **Suspended.** The term continues ('hold-until-lost'), or it ends at once and the participant
 * goes to the end of the line ('abort'). **Lost.** The term ends, and in the client's next session
 * the latch joins the line again by itself.
 *
 * A single task does all of this in a fixed order: join the line, wait, lead, lose, repeat.
 * Connection events and watches only end what the task waits for, so they cannot race with each
 * other.
 */

import type { Client } from '../api/client.js';
import type { Lease, SuspendedPolicy } from '../api/lease.js';
import type { Acl, OperationOptions } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { untilAborted } from './shared/changes.js';
import { contestantsIn } from './shared/contestants.js';
import { CuratorName, curatorPrefix } from './shared/curator.js';
import type { LeaseHolder } from './shared/lease-holder.js';
import { Runner } from './shared/runner.js';
import type { WaitOptions } from './shared/wait-scope.js';
import { acquiring, type Line, leaseInLine, nextBefore } from './shared/waiting-line.js';

export interface LeaderLatchOptions {
  /** Identifies this participant to the others; empty by default. */
  readonly id?: string | undefined;
  readonly acl?: readonly Acl[] | undefined;
  readonly onSuspended?: SuspendedPolicy | undefined;
}

export interface Participant {
  readonly id: string;
  readonly path: string;
  /** Whether it is the first in line, so that it leads or is about to lead. */
  readonly isLeader: boolean;
}

/**
 * Called with the term when one begins, and with null when it is over. Exceptions are reported as
 * uncaught.
 */
export type LeadershipListener = (term: Lease | null) => void;

export interface LatchCloseOptions {
  /** Whether listeners are called if close() ends the term; 'silent' by default. */
  readonly mode?: 'silent' | 'notify';
}

export class LeaderLatch extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #client: Client;
  readonly #line: Line;
  readonly #onSuspended: SuspendedPolicy | undefined;
  readonly #runner: Runner;
  readonly #listeners = new Set<LeadershipListener>();
  #closed: Promise<void> | null = null;
  #term: LeaseHolder | null = null;

  constructor(client: Client, path: string, options: LeaderLatchOptions = {}) {
    const { id = '', acl, onSuspended } = options;
    super();
    this.path = path;
    this.id = id;
    this.#client = client;
    this.#onSuspended = onSuspended;
    this.#line = {
      directory: path,
      markers: [CuratorName.latch],
      prefix: (uuid) => curatorPrefix(uuid, CuratorName.latch),
      data: id,
      acl,
      blocker: nextBefore,
    };
    const task = (signal: AbortSignal) => this.#takePart(signal);
    this.#runner = new Runner({ client, recipe: 'LeaderLatch', path, task });
  }

  /** Takes part from now on, in the background. Calling it again has no effect. */
  start(): void {
    this.#runner.start();
  }

  /** The current term, or null. */
  get term(): Lease | null {
    return this.#term?.held === true ? this.#term : null;
  }

  get hasLeadership(): boolean {
    return this.term !== null;
  }

  /**
   * Starts if necessary, and waits for a term. WaitTimeoutError and OperationAbortedError end only
   * the wait, and the latch still takes part. Any other error is the one that ended the latch:
   * RecipeStateError after close(), ClientClosedError, or an error of the server, such as
   * NoAuthError.
   */
  async waitForLeadership(options: WaitOptions = {}): Promise<Lease> {
    this.start();
    return await this.#runner.until(options, () => this.term);
  }

  /**
   * Takes part for as long as the loop lasts, and yields each term when it begins. The next one
   * comes only after the current one was lost, however early the loop's body finishes. When the
   * signal is aborted, the latch is closed at once, even while the body runs; the current term
   * ends, and its signal informs the body. Leaving the loop does the same. The loop also ends with
   * close().
   */
  async *leadership(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<Lease, void> {
    const { signal } = options;
    const isAborted = () => signal?.aborted === true;
    // If the server refuses the deletion, the close() at the end of the loop reports it.
    const onEnd = () => void this.close().catch(() => {});
    const unfollow = signal === undefined ? () => {} : onAbort(signal, onEnd);
    // The failure is thrown in the loop, so it must not also be reported as unhandled.
    const listening = this.onFailure(() => {});
    try {
      while (!isAborted()) {
        const term = await this.waitForLeadership(options);
        if (isAborted()) return;
        yield term;
        await untilAborted(term.signal, ...(signal === undefined ? [] : [signal]));
      }
    } catch (error) {
      if (!isAborted() && !this.#runner.hasEndedWell) throw error;
    } finally {
      listening();
      unfollow();
      await this.close();
    }
  }

  /** Returns a function that removes the listener. */
  onChange(listener: LeadershipListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads once which participants are in line. */
  async participants(options: OperationOptions = {}): Promise<Participant[]> {
    const { directory, markers } = this.#line;
    const contestants = await contestantsIn(this.#client, directory, markers, options);
    return contestants.map(({ path, data }, index) => {
      return { path, id: data?.toString() ?? '', isLeader: index === 0 };
    });
  }

  /** The first participant in line, or null if there is none. */
  async leader(options: OperationOptions = {}): Promise<Participant | null> {
    const [first] = await this.participants(options);
    return first ?? null;
  }

  /**
   * Stops taking part: ends the term and deletes the znode, in the background if there is no
   * connection. Calling it again has no effect.
   */
  close({ mode = 'silent' }: LatchCloseOptions = {}): Promise<void> {
    if (mode === 'silent') this.#listeners.clear();
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  async #close(): Promise<void> {
    const stopped = this.#runner.stop();
    const released = this.#term?.release();
    await stopped;
    await released;
  }

  async #takePart(signal: AbortSignal): Promise<void> {
    const wait = { signal, onSessionLost: 'rejoin' } as const;
    const terms = { onSuspended: this.#onSuspended };
    while (!signal.aborted) {
      const term = await acquiring(this.#client, this.path, wait, (within) =>
        leaseInLine(this.#client, this.#line, within, terms),
      );
      await this.#lead(term);
    }
  }

  async #lead(term: LeaseHolder): Promise<void> {
    if (this.#runner.isStopped) {
      await term.release();
      return;
    }
    this.#term = term;
    const ended = untilAborted(term.signal);
    const onEnd = () => {
      this.#term = null;
      this.#tell(null);
    };
    if (term.held) {
      this.#tell(term);
      // A listener may have closed the latch.
      if (term.held) term.signal.addEventListener('abort', onEnd, { once: true });
      else onEnd();
    }
    await ended;
    // The old znode is deleted, if a server can be reached, before a new one is created.
    await term.release();
  }

  #tell(term: Lease | null): void {
    this.#runner.changes.notify();
    for (const listener of [...this.#listeners]) {
      try {
        listener(term);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
