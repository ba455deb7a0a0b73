/**
 * Remembers whether the servers of a client's session support one of Rookery's own operations.
 *
 * Each session is probed once, on a separate connection (operation-probe.ts); concurrent callers
 * share the probe. A caller that aborts or times out does not end the probe for the others. Used by
 * the client and by ChildLister.
 */
import { OperationTimeoutError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import type { OperationOptions } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import type { ProbeAnswer } from './operation-probe.js';
import { operationOptions } from './options.js';

/** A probe without an answer is repeated this often at most. */
const PROBES_MAX = 3;

interface Known {
  readonly session: bigint;
  readonly offered: boolean;
}

export class Offer {
  readonly #client: AskingClient;
  readonly #probe: () => Promise<ProbeAnswer>;
  #known: Known | null = null;
  #asking: { readonly session: bigint; readonly answer: Promise<boolean> } | null = null;

  /** `probe` queries the member that the client is connected to. */
  constructor(client: AskingClient, probe: () => Promise<ProbeAnswer>) {
    this.#client = client;
    this.#probe = probe;
  }

  /** The answer for the current session; null if there is none yet. */
  get known(): Known | null {
    return this.#known?.session === this.#client.session?.id ? this.#known : null;
  }

  /**
   * Resolves with whether it is offered; false without a clear answer. Rejects like `connected()`.
   */
  async ask(operation: OperationOptions = {}): Promise<boolean> {
    const given = operationOptions(operation);
    const { id: session } = await this.#client.connected(given);
    const { known } = this;
    if (known !== null) return known.offered;
    if (this.#asking?.session !== session) {
      const asking = { session, answer: this.#determine(session) };
      this.#asking = asking;
      const forget = () => {
        if (this.#asking === asking) this.#asking = null;
      };
      asking.answer.then(forget, forget);
    }
    return await this.#within(this.#asking.answer, given);
  }

  /** The server of this session has refused the operation itself. */
  refused(session: bigint): void {
    this.#known = { session, offered: false };
  }

  async #determine(session: bigint): Promise<boolean> {
    let answer: ProbeAnswer = 'unknown';
    let isAlwaysClosed = true;
    for (let attempt = 0; attempt < PROBES_MAX; attempt++) {
      await this.#client.connected();
      if (this.#client.session?.id !== session) return false;
      answer = await this.#probe();
      if (answer === 'offered' || answer === 'refused') break;
      if (answer !== 'closed') isAlwaysClosed = false;
    }
    const offered = answer === 'offered';
    // A stopping member closes it, too, but only once.
    const isKnown = offered || answer === 'refused' || isAlwaysClosed;
    if (isKnown) this.#known = { session, offered };
    return offered;
  }

  /** Bounds a caller's wait by its own options and by the end of the client. */
  #within<T>(answer: Promise<T>, { signal, timeoutMs = 0 }: OperationOptions): Promise<T> {
    const { surroundings } = this.#client;
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = [];
      const settle = (settled: () => void) => {
        for (const step of undo.splice(0)) step();
        settled();
      };
      const fail = (error: Error) => settle(() => reject(error));
      const abort = () => fail(new OperationAbortedError(signal?.reason, { ambiguous: false }));
      if (signal?.aborted === true) {
        abort();
        return;
      }
      if (signal !== undefined) undo.push(onAbort(signal, abort));
      if (timeoutMs > 0) {
        const expire = () => fail(new OperationTimeoutError());
        undo.push(surroundings.setTimer(timeoutMs, expire));
      }
      const onEnd = this.#client.onState(({ state, error }) => {
        if (state === 'closed') fail(error ?? new ClientClosedError());
      });
      undo.push(onEnd);
      answer.then(
        (value) => settle(() => resolve(value)),
        (error: Error) => fail(error),
      );
    });
  }
}

type AskingClient = Pick<Client, 'connected' | 'onState' | 'session' | 'surroundings'>;
