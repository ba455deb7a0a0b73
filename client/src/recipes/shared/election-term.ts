/**
 * A term of an election: a lease, and the znode by which its holder acknowledges that it leads.
 *
 * That znode is created in one transaction with a check of the candidate's znode, so never after
 * the term is over. At the end of the term it is deleted before the candidate's znode, even if
 * connections are lost.
 */
import { NodeExistsError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { TransactionError } from '../../api/errors.js';
import type { LeaseGuard } from '../../api/lease.js';
import type { Acl, Data, Session } from '../../api/values.js';
import type { LeaseHolder } from './lease-holder.js';
import { bounds, persist } from './persist.js';

export interface TermPlan {
  readonly lease: LeaseHolder;
  readonly ackPath: string;
  readonly acl: readonly Acl[] | undefined;
  readonly session: Session;
}

export class ElectionTerm {
  readonly path: string;
  readonly sessionId: bigint;
  readonly fencingToken: bigint;
  readonly token: bigint;
  readonly guards: readonly LeaseGuard[];
  readonly #client: Client;
  readonly #plan: TermPlan;
  #mayBeAcknowledged = false;

  constructor(client: Client, plan: TermPlan) {
    const { lease } = plan;
    this.#client = client;
    this.#plan = plan;
    this.path = lease.path;
    this.sessionId = lease.sessionId;
    this.fencingToken = lease.fencingToken;
    this.token = lease.fencingToken;
    this.guards = lease.guards;
    // Before the lease deletes the candidate's znode, because listeners are called first.
    lease.signal.addEventListener('abort', () => this.#takeBack(), { once: true });
  }

  get signal(): AbortSignal {
    return this.#plan.lease.signal;
  }

  get held(): boolean {
    return this.#plan.lease.held;
  }

  async acknowledge(data: Data = null): Promise<void> {
    const { lease, session } = this.#plan;
    const within = { session, signal: lease.signal };
    lease.signal.throwIfAborted();
    this.#mayBeAcknowledged = true;
    await persist(this.#client, within, () => this.#write(data));
  }

  release(): Promise<void> {
    return this.#plan.lease.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #write(data: Data): Promise<void> {
    const { lease, ackPath, acl, session } = this.#plan;
    const options = bounds({ session, signal: lease.signal });
    const given = acl === undefined ? {} : { acl };
    const check = { kind: 'check', path: lease.path } as const;
    const create = { kind: 'create', path: ackPath, data, mode: 'ephemeral', ...given } as const;
    try {
      await this.#client.multi([check, create], options);
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
      if (error.error instanceof NodeExistsError) {
        await this.#client.setData(ackPath, data, options);
        return;
      }
      throw error.error;
    }
  }

  #takeBack(): void {
    if (!this.#mayBeAcknowledged) return;
    const { ackPath, session } = this.#plan;
    this.#client.deleteGuaranteed(ackPath, { session: session.id }).catch(() => {
      // The end of the session deletes it.
    });
  }
}
