/**
 * Znodes as a client of any ensemble sees and changes them, with the identities of the caller.
 *
 * No server tells whether a znode is a container or has a time to live, or how much is below it
 * without counting: that is null.
 */
import { type Client, type CreateMode, NoNodeError, type Stat } from '@rookery/client';
import { type Acl, joinPath } from '@rookery/protocol';
import {
  type AclOf,
  aclFacts,
  type Caller,
  type ChildPage,
  type NewNode,
  type NodeFacts,
  type NodeMode,
  type NodeSource,
  type NodeWriter,
  type OpenWriter,
  type PageAsked,
  type Requester,
  rightsAt,
  statFacts,
  type Versioned,
} from '@rookery/server/http';
import { hex, kindOf } from '../command/values.js';
import type { ClientPool, Leased } from './client-pool.js';
import { asProblem } from './keeper-problem.js';
import { OpenListings } from './open-listings.js';
import { readableStat } from './readable-stat.js';

const MODES: Readonly<Record<NodeMode, CreateMode>> = {
  persistent: 'persistent',
  sequential: 'persistentSequential',
  container: 'container',
  ttl: 'persistentWithTtl',
  'ttl-sequential': 'persistentSequentialWithTtl',
};

export class ClientNodes implements NodeSource {
  readonly #pool: ClientPool;
  readonly #listings = new OpenListings();

  constructor(pool: ClientPool) {
    this.#pool = pool;
  }

  facts(path: string, caller: Caller): Promise<Versioned<NodeFacts>> {
    return this.#with(path, caller, async ({ client, requester }) => {
      const [stat, { acl }] = await Promise.all([statOf(client, path), client.getAcl(path)]);
      const known = rightsAt(withOwnDigests(acl, requester), requester);
      // Not everything that proves who a session is, is known here: the servers decide.
      if (!known.read) await client.getData(path);
      const may = { ...known, read: true };
      const isLeaf = stat.numChildren === 0;
      return versioned(client, stat.version, {
        path,
        mode: kindOf(stat.ephemeralOwner),
        ttlMs: null,
        stat: statFacts(stat),
        descendants: isLeaf ? 0 : null,
        subtreeBytes: isLeaf ? stat.dataLength : null,
        acl: aclFacts(acl, requester),
        may,
      });
    });
  }

  data(path: string, caller: Caller): Promise<Versioned<Uint8Array>> {
    return this.#with(path, caller, async ({ client }) => {
      const { data, stat } = await client.getData(path);
      return versioned(client, stat.version, data ?? new Uint8Array(0));
    });
  }

  acl(path: string, caller: Caller): Promise<Versioned<AclOf>> {
    return this.#with(path, caller, async ({ client, requester }) => {
      const { acl, stat } = await client.getAcl(path);
      const may = rightsAt(withOwnDigests(acl, requester), requester);
      return versioned(client, stat.aversion, { acl: aclFacts(acl, requester), may });
    });
  }

  children(path: string, asked: PageAsked, caller: Caller): Promise<Versioned<ChildPage>> {
    return this.#with(path, caller, async ({ client }) => {
      const stat = await statOf(client, path);
      const { names, hasMore } = await this.#listings.page(client, path, asked);
      const children = asked.withStat
        ? await Promise.all(
            names.map(async (name) => {
              const own = await readableStat(client, joinPath(path, name));
              if (own === null) return { name, mode: null, stat: null };
              return { name, mode: kindOf(own.ephemeralOwner), stat: statFacts(own) };
            }),
          )
        : null;
      const { numChildren, cversion } = stat;
      return versioned(client, stat.version, { names, children, hasMore, numChildren, cversion });
    });
  }

  #with<T>(path: string, caller: Caller, act: (leased: Leased) => Promise<T>): Promise<T> {
    return asProblem(async () => {
      const leased = await this.#pool.lease(caller);
      try {
        return await act(leased);
      } finally {
        leased.release();
      }
    }, path);
  }
}

export function clientWriters(pool: ClientPool): OpenWriter {
  return async (caller) => new ClientWriter(await pool.lease(caller));
}

class ClientWriter implements NodeWriter {
  readonly #leased: Leased;

  constructor(leased: Leased) {
    this.#leased = leased;
  }

  create({ path, mode, ttlMs, data, acl }: NewNode) {
    const ttl = ttlMs > 0 ? { ttlMs } : {};
    const options = { mode: MODES[mode], acl, ...ttl };
    return asProblem(() => this.#client.create(path, data, options), path);
  }

  setData(path: string, data: Uint8Array, version: number): Promise<Stat> {
    return asProblem(() => this.#client.setData(path, data, { version }), path);
  }

  setAcl(path: string, acl: NewNode['acl'], version: number): Promise<Stat> {
    return asProblem(() => this.#client.setAcl(path, acl, { version }), path);
  }

  remove(path: string, version: number): Promise<void> {
    return asProblem(() => this.#client.delete(path, { version }), path);
  }

  async now(path: string): Promise<Stat | null> {
    try {
      return await this.#client.exists(path);
    } catch {
      // The caller hears what went wrong with the write itself.
      return null;
    }
  }

  end(): void {
    this.#leased.release();
  }

  get #client(): Client {
    return this.#leased.client;
  }
}

/** Servers cut digests to `user:x` for clients without admin rights; they count as the caller's. */
function withOwnDigests(acl: readonly Acl[], { identities }: Requester): readonly Acl[] {
  const own = identities.filter(({ scheme }) => scheme === 'digest').map(({ id }) => id);
  return acl.map((entry) => {
    if (entry.scheme !== 'digest' || !entry.id.endsWith(':x')) return entry;
    const id = own.find((one) => one.startsWith(entry.id.slice(0, -1))) ?? entry.id;
    return { ...entry, id };
  });
}

async function statOf(client: Client, path: string): Promise<Stat> {
  const stat = await client.exists(path);
  if (stat === null) throw new NoNodeError(path);
  return stat;
}

function versioned<T>(client: Client, version: number, value: T): Versioned<T> {
  return { value, version, zxid: hex(client.lastZxidSeen) };
}
