/**
 * The znodes of a double barrier: those of its members, and `ready`, which says that a group has
 * begun.
 *
 * `ready` belongs to the members whose znodes are older than its last change. A `ready` that an
 * earlier group has left behind is not deleted by new members but changed by the one that completes
 * the next group, because a deletion might hit a newer one. The last member of a group deletes it
 * together with its own znode, in one transaction, and only in the state that it has seen.
 */
import {
  BadVersionError,
  joinPath,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
} from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Acl, Stat } from '../../api/values.js';
import { CuratorName } from './curator.js';
import { ensureGone } from './idempotent.js';
import type { LeaseHolder } from './lease-holder.js';
import { bounds, persist, type Within } from './persist.js';

/** Curator and we write a UUID with dashes, kazoo without. */
const MEMBER = /^[\da-f-]{32,36}$/i;

export class Gathering {
  readonly readyPath: string;
  readonly #client: Client;
  readonly #path: string;
  readonly #acl: readonly Acl[] | undefined;

  constructor(client: Client, path: string, acl: readonly Acl[] | undefined) {
    this.#client = client;
    this.#path = path;
    this.#acl = acl;
    this.readyPath = joinPath(path, CuratorName.ready);
  }

  /** The names, in no particular order. What is not named by a UUID is no member. */
  async members(within: Within): Promise<string[]> {
    try {
      const { children } = await persist(this.#client, within, () =>
        this.#client.getChildren(this.#path, bounds(within)),
      );
      return children.filter((name) => MEMBER.test(name));
    } catch (error) {
      if (error instanceof NoNodeError) return [];
      throw error;
    }
  }

  /** Whether one of them was inside before the zxid. */
  async hasMemberBefore(
    zxid: bigint,
    members: readonly string[],
    within: Within,
  ): Promise<boolean> {
    const stats = await persist(this.#client, within, () =>
      Promise.all(members.map((name) => this.#stat(joinPath(this.#path, name), within))),
    );
    return stats.some((stat) => stat !== null && stat.czxid < zxid);
  }

  /** The current state of `ready`. */
  async ready(within: Within): Promise<Stat | null> {
    return await persist(this.#client, within, () => this.#stat(this.readyPath, within));
  }

  /** Announces to all waiters that the group is complete. It may be called repeatedly. */
  async announce(within: Within): Promise<void> {
    await persist(this.#client, within, async () => {
      const options = bounds(within);
      const given = this.#acl === undefined ? options : { ...options, acl: this.#acl };
      for (;;) {
        try {
          await this.#client.create(this.readyPath, null, given);
          return;
        } catch (error) {
          if (!(error instanceof NodeExistsError)) throw error;
        }
        try {
          await this.#client.setData(this.readyPath, null, options);
          return;
        } catch (error) {
          if (!(error instanceof NoNodeError)) throw error;
        }
      }
    });
  }

  /** Removes a member, and also `ready`, in the state `seen`, if it was the last member. */
  async disperse(lease: LeaseHolder, seen: Stat | null, within: Within): Promise<void> {
    const own = lease.path.slice(this.#path === '/' ? 1 : this.#path.length + 1);
    const isLast = seen !== null && (await this.#othersThan(own, within)).length === 0;
    if (!isLast) {
      await lease.release();
      return;
    }
    const { version } = seen;
    // Sent before the deletion by release(), so that this transaction deletes the znode.
    const both = lease.held ? this.#deleteBoth(lease.path, version, within) : null;
    await lease.release();
    await both;
    // The member that should have deleted it may have crashed, or the transaction may have been
    // lost.
    const left = await this.ready(within);
    if (left?.czxid !== seen.czxid || (await this.#othersThan(own, within)).length > 0) return;
    try {
      await ensureGone(this.#client, this.readyPath, within, version);
    } catch (error) {
      // One that stays, also because somebody has put a znode below it, lets nobody in.
      if (!(error instanceof BadVersionError || error instanceof NotEmptyError)) throw error;
    }
  }

  async #deleteBoth(own: string, version: number, within: Within): Promise<void> {
    try {
      await this.#client.multi(
        [
          { kind: 'delete', path: own },
          { kind: 'delete', path: this.readyPath, version },
        ],
        bounds(within),
      );
    } catch {
      // Nothing depends on it: the lease deletes the znode in any case, and the rest is checked
      // next.
    }
  }

  async #othersThan(own: string, within: Within): Promise<string[]> {
    return (await this.members(within)).filter((name) => name !== own);
  }

  #stat(path: string, within: Within): Promise<Stat | null> {
    return this.#client.exists(path, bounds(within));
  }
}
