/**
 * Finds out what the ACLs of an ensemble allow one client, and makes the entry that keeps them from
 * locking it out while it still works there.
 *
 * The servers are asked, so the answers hold for every scheme, for super users, and where ACLs are
 * not checked. Each question is a transaction whose last operation must fail, or a change of a
 * version that the znode does not have: nothing is changed. Answers about one znode may be outdated
 * at once. Its memory is bounded. Used by the mirror and by `cp --acls`.
 */
import { randomUUID } from 'node:crypto';
import {
  type Acl,
  type Client,
  InvalidAclError,
  KeeperError,
  NoAuthError,
  NoNodeError,
  Perms,
  SessionExpiredError,
  TransactionError,
  type TransactionOp,
} from '@rookery/client';

/** What is asked of a znode that exists. */
export type Change = 'create' | 'delete' | 'setData' | 'setAcl';

/** The servers put the client's proven identities in the place of this entry. */
export const OWN_ENTRY: Acl = { perms: Perms.all, scheme: 'auth', id: '' };

/** Schemes of identities that the servers may put there. */
const PROVEN = ['digest', 'sasl', 'x509'];
const KNOWN_MAX = 10_000;

export class OwnAccess {
  readonly #client: Client;
  /** The deepest znode on the way below which the client may create; null if it may nowhere. */
  readonly site: string | null;
  readonly #mine = new Map<string, Promise<boolean>>();
  /** Whether the servers know an identity of the client by which an ACL can name it. */
  readonly hasIdentity: boolean;
  /** Whether no ACL keeps the client from anything. */
  readonly isSuper: boolean;
  /** Whether the client may create below the deepest znode on the way that exists. */
  readonly mayBegin: boolean;

  private constructor(client: Client, known: Known) {
    this.#client = client;
    this.site = known.site;
    this.hasIdentity = known.hasIdentity;
    this.isSuper = known.isSuper;
    this.mayBegin = known.mayBegin;
  }

  /** `path` is where the client is going to write. Rejects like the client. */
  static async at(client: Client, path: string): Promise<OwnAccess> {
    const hasIdentity = await isProven(client);
    const known = { site: null, hasIdentity, isSuper: false, mayBegin: false };
    const asked = new OwnAccess(client, known);
    let mayBegin = true;
    for (let at = path; ; at = at.slice(0, at.lastIndexOf('/')) || '/') {
      if (await isThere(client, at)) {
        if (await asked.may('create', at, [])) {
          const placed = new OwnAccess(client, { ...known, site: at });
          const isSuper = await placed.#isMine({ scheme: 'digest', id: `${randomUUID()}:nobody` });
          return new OwnAccess(client, { site: at, hasIdentity, isSuper, mayBegin });
        }
        mayBegin = false;
      }
      if (at === '/') return asked;
    }
  }

  /** The permissions that a list gives the client. */
  async permsOf(acl: readonly Acl[]): Promise<number> {
    if (this.isSuper) return Perms.all;
    let granted = 0;
    for (const { perms, scheme, id } of acl) {
      if ((perms & ~granted) !== 0 && (await this.#isMine({ scheme, id }))) granted |= perms;
    }
    return granted;
  }

  /** The list that a znode has while the client works on it and below it. */
  async whileWorking(acl: readonly Acl[]): Promise<readonly Acl[]> {
    if (!this.hasIdentity || (await this.permsOf(acl)) === Perms.all) return acl;
    return [...acl, OWN_ENTRY];
  }

  /** Whether `found` is `acl` with the client's own entries and nothing more. */
  async isWhileWorking(found: readonly Acl[], acl: readonly Acl[]): Promise<boolean> {
    if (this.isSuper || found.length <= acl.length) return false;
    const wanted = new Set(acl.map(textOf));
    const extra = found.filter((entry) => !wanted.delete(textOf(entry)));
    if (wanted.size > 0) return false;
    for (const { perms, scheme, id } of extra) {
      if (perms !== Perms.all || !PROVEN.includes(scheme)) return false;
      if (!(await this.#isMine({ scheme, id }))) return false;
    }
    return true;
  }

  /** Whether the client may do that at the znode, or below it; `acl` is the list that it has. */
  async may(change: Change, path: string, acl: readonly Acl[]): Promise<boolean> {
    if (change === 'setAcl') return await this.#maySetAcl(path, acl);
    const below = `${path === '/' ? '' : path}/${randomUUID()}`;
    const op: TransactionOp = {
      create: { kind: 'create', path: below } as const,
      delete: { kind: 'delete', path: below } as const,
      setData: { kind: 'setData', path, data: null } as const,
    }[change];
    return !((await this.#refusal([op])).error instanceof NoAuthError);
  }

  async #maySetAcl(path: string, acl: readonly Acl[]): Promise<boolean> {
    // No znode has had so many lists, and the list is the one that it has, if that is known.
    const version = 0x7fff_fffe;
    try {
      await this.#client.setAcl(path, acl.length === 0 ? [OWN_ENTRY] : acl, { version });
    } catch (error) {
      if (error instanceof NoAuthError) return false;
      if (isTrouble(error)) throw error;
    }
    return true;
  }

  async #isMine({ scheme, id }: Pick<Acl, 'scheme' | 'id'>): Promise<boolean> {
    if (scheme === 'world') return true;
    const key = `${scheme}:${id}`;
    const known = this.#mine.get(key);
    if (known !== undefined) return await known;
    if (this.#mine.size >= KNOWN_MAX) this.#mine.clear();
    const asked = this.#wouldLetIn({ scheme, id });
    this.#mine.set(key, asked);
    // What was not answered is asked again.
    asked.catch(() => this.#mine.delete(key));
    return await asked;
  }

  /** Whether the client may create below a znode that lets only that identity do so. */
  async #wouldLetIn(identity: Pick<Acl, 'scheme' | 'id'>): Promise<boolean> {
    const site = this.site;
    if (site === null) return false;
    const path = `${site === '/' ? '' : site}/${randomUUID()}`;
    const acl = [{ perms: Perms.create, ...identity }];
    const { at } = await this.#refusal([
      { kind: 'create', path, acl },
      { kind: 'create', path: `${path}/x` },
    ]);
    return at === 2;
  }

  /** Which of the operations fails, and why; the one after the last must. */
  async #refusal(ops: readonly TransactionOp[]): Promise<{ at: number; error: Error }> {
    const never: TransactionOp = { kind: 'check', path: `/${randomUUID()}` };
    try {
      await this.#client.multi([...ops, never]);
    } catch (error) {
      if (error instanceof TransactionError) return { at: error.failedIndex, error: error.error };
      throw error;
    }
    throw new Error('a transaction was carried out that cannot be');
  }
}

interface Known {
  readonly site: string | null;
  readonly hasIdentity: boolean;
  readonly isSuper: boolean;
  readonly mayBegin: boolean;
}

/** A znode that may not be read exists. */
async function isThere(client: Client, path: string): Promise<boolean> {
  try {
    return (await client.exists(path)) !== null;
  } catch (error) {
    if (error instanceof NoAuthError) return true;
    throw error;
  }
}

/** The list is judged before the znode is looked for. */
async function isProven(client: Client): Promise<boolean> {
  try {
    await client.setAcl(`/${randomUUID()}`, [OWN_ENTRY]);
  } catch (error) {
    if (error instanceof InvalidAclError) return false;
    if (!(error instanceof NoNodeError)) throw error;
  }
  return true;
}

/** A refusal says something about the znode; trouble with the connection does not. */
function isTrouble(error: unknown): boolean {
  if (!(error instanceof KeeperError)) return true;
  return error.retryable || error instanceof SessionExpiredError;
}

function textOf({ perms, scheme, id }: Acl): string {
  return JSON.stringify([perms, scheme, id]);
}
