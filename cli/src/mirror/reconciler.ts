/**
 * Makes a subtree of the target equal to that of the source, znode by znode, or only finds out what
 * that would take.
 *
 * It keeps no state of its own at either end: what is already equal is skipped, so it can be ended
 * at any time and run again. Every step reads both sides first and may be repeated, as it is after
 * a lost connection. Memory is bounded by the listings of the directories on DIRECTORIES_MAX paths.
 * `follower.ts` and the command call it.
 */
import {
  type Client,
  KeeperError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  RequestTooLargeError,
  SessionExpiredError,
  type Stat,
} from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { isWithin } from '../paths.js';
import type { Ends } from './ends.js';
import {
  type MirroredNode,
  readNode,
  sameAcl,
  sameData,
  sameKind,
  sequenceOf,
} from './mirrored-node.js';
import { persistently } from './persistently.js';
import { raiseSequence } from './sequences.js';
import type { Tally } from './tally.js';

export interface ReconcilerOptions {
  /** If false, it only finds out. */
  readonly apply: boolean;
  /** Whether znodes that the source does not have are deleted. */
  readonly deletes: boolean;
  /** The source's root must still be the znode with this czxid; null if it may be deleted. */
  readonly rootCzxid: bigint | null;
  readonly signal: AbortSignal;
}

/** What is below a root that is gone may have been deleted by mistake, so the target keeps it. */
const ROOT_IS_GONE =
  'the root of the source was deleted while it was mirrored, and the target keeps what it has: ' +
  'begin again when the root is there, or follow such a deletion with --delete-root';

const NODES_AT_ONCE = 64;
const DIRECTORIES_MAX = 32;
/** Paths that belong to each ensemble: its configuration and its quotas. */
const OWN = '/zookeeper';
const SEQUENTIAL = /-?\d{10}$/;

export class Reconciler {
  readonly #ends: Ends;
  readonly #options: ReconcilerOptions;
  readonly #tally: Tally;
  /** Whether one of the ends is a whole ensemble, in which the paths in OWN are not the user's. */
  readonly #hasOwn: boolean;
  #directories = 0;

  constructor(ends: Ends, options: ReconcilerOptions, tally: Tally) {
    this.#ends = ends;
    this.#options = options;
    this.#tally = tally;
    this.#hasOwn = [ends.source, ends.target].some(({ prefix }) => prefix === '');
  }

  /** Reconciles everything below `path`, which is the root of both views. */
  async subtree(path: string): Promise<void> {
    if (await this.node(path)) await this.#directory(path);
  }

  /**
   * Reconciles this znode alone, whatever it is at either end. Resolves with whether it has
   * children.
   */
  node(path: string): Promise<boolean> {
    return persistently(this.#ends, this.#options.signal, () => this.#node(path));
  }

  async #node(path: string): Promise<boolean> {
    // Events of a whole ensemble tell of these, too.
    if (this.#hasOwn && isWithin(path, OWN)) return false;
    const { source, target } = this.#ends;
    try {
      const [wanted, found] = await Promise.all([readNode(source, path), readNode(target, path)]);
      if (path === '/') this.#requireRoot(wanted?.stat ?? null);
      if (wanted === null) {
        if (found !== null) await this.#extra(path, found);
        return false;
      }
      this.#tally.znodes += 1;
      if (wanted.kind === 'ephemeral') {
        this.#tally.ephemerals += 1;
        // It was of another kind before.
        if (found !== null) await this.#extra(path, found);
        return false;
      }
      this.#note(wanted);
      if (found === null) await this.#create(path, wanted);
      else await this.#change(path, wanted, found);
      return wanted.stat.numChildren > 0 || (found?.stat.numChildren ?? 0) > 0;
    } catch (error) {
      this.#refuse(path, error);
      return false;
    }
  }

  async #directory(path: string): Promise<void> {
    const [names, there] = await Promise.all([
      this.#names(this.#ends.source, path),
      this.#names(this.#ends.target, path),
    ]);
    const wanted = new Set(names);
    const extras = there.filter((name) => !wanted.has(name));
    // An unwanted znode may only seem so because a listing is older: each is read once more.
    for (const name of extras) await this.node(joined(path, name));
    for (let at = 0; at < names.length; at += NODES_AT_ONCE) {
      const paths = names.slice(at, at + NODES_AT_ONCE).map((name) => joined(path, name));
      const isInner = await Promise.all(paths.map((each) => this.node(each)));
      await this.#each(paths.filter((_, index) => isInner[index]));
    }
    if (names.some((name) => SEQUENTIAL.test(name))) await this.#sequence(path);
  }

  /**
   * They run concurrently while few are in progress, so that memory is bounded and none waits long.
   */
  async #each(paths: readonly string[]): Promise<void> {
    const under: Promise<void>[] = [];
    for (const path of paths) {
      if (this.#directories >= DIRECTORIES_MAX) {
        await this.#directory(path);
        continue;
      }
      this.#directories += 1;
      const done = this.#directory(path).finally(() => {
        this.#directories -= 1;
      });
      // The rejection is handled below.
      done.catch(() => undefined);
      under.push(done);
    }
    await Promise.all(under);
  }

  async #names(client: Client, path: string): Promise<readonly string[]> {
    return await persistently(this.#ends, this.#options.signal, async () => {
      const names: string[] = [];
      try {
        for await (const name of client.listChildren(path)) {
          if (joined(path, name) !== OWN || !this.#hasOwn) names.push(name);
        }
      } catch (error) {
        // A refusal is counted where the znode itself is read.
        if (error instanceof NoNodeError) return [];
        if (!isFinal(error)) throw error;
        this.#refuse(path, error);
      }
      return names;
    });
  }

  async #create(path: string, { kind, data, acl, ttlMs }: MirroredNode): Promise<void> {
    const { apply } = this.#options;
    if (apply && kind !== 'ephemeral') {
      const mode =
        kind === 'ttl' ? ({ mode: 'persistentWithTtl', ttlMs } as const) : { mode: kind };
      const create = () => this.#ends.target.create(path, data, { ...mode, acl });
      await create().catch(async (error: unknown) => {
        // Another client, or an attempt of ours whose answer was lost, has created it.
        if (error instanceof NodeExistsError) return void (await this.#node(path));
        if (!(error instanceof NoNodeError) || path === '/') throw error;
        // An event of a child may come before its parent was copied.
        await this.#node(parentOf(path));
        await create();
      });
    }
    this.#tally.created += 1;
    this.#tally.dataBytes += data?.length ?? 0;
  }

  async #change(path: string, wanted: MirroredNode, found: MirroredNode): Promise<void> {
    const { apply } = this.#options;
    const { target } = this.#ends;
    if (!sameKind(wanted, found)) {
      this.#tally.differing.add(path, `it is ${wanted.kind} at the source, ${found.kind} here`);
    }
    if (!sameAcl(wanted, found)) {
      if (apply) await target.setAcl(path, wanted.acl);
      this.#tally.aclsChanged += 1;
    }
    if (!sameData(wanted, found)) {
      if (apply) await target.setData(path, wanted.data);
      this.#tally.changed += 1;
      this.#tally.dataBytes += wanted.data?.length ?? 0;
    }
  }

  async #extra(path: string, { kind }: MirroredNode): Promise<void> {
    const { apply, deletes } = this.#options;
    // A client of the target is already at work there.
    if (kind === 'ephemeral') return;
    if (!deletes) this.#tally.extras.add(path, 'the source does not have it');
    else if (!apply) this.#tally.deleted += 1;
    else if (await this.#isLeft(path)) this.#tally.extras.add(path, 'an ephemeral is below it');
  }

  /** Deletes it, unless the source lost it together with its root. */
  async #isLeft(path: string): Promise<boolean> {
    this.#requireRoot(await this.#ends.source.exists('/'));
    return !(await this.#remove(path));
  }

  /** One that was created again is another znode, whose children are gone. */
  #requireRoot(root: Pick<Stat, 'czxid'> | null): void {
    const { rootCzxid } = this.#options;
    if (rootCzxid === null || root?.czxid === rootCzxid) return;
    throw new OperatorError(ROOT_IS_GONE);
  }

  /** Deletes it with everything below it except ephemerals; false if one of those is left. */
  async #remove(path: string): Promise<boolean> {
    const { target } = this.#ends;
    for (const name of await this.#names(target, path)) {
      const child = joined(path, name);
      const stat = await target.exists(child);
      if (stat === null) continue;
      const found = await readNode(target, child);
      if (found?.kind === 'ephemeral' || !(await this.#remove(child))) return false;
    }
    try {
      await target.delete(path);
      this.#tally.deleted += 1;
    } catch (error) {
      if (error instanceof NotEmptyError) return false;
      if (!(error instanceof NoNodeError)) throw error;
    }
    return true;
  }

  /**
   * The next sequential znode of a client gets a number that is not below those assigned before.
   */
  async #sequence(path: string): Promise<void> {
    await persistently(this.#ends, this.#options.signal, async () => {
      const { source, target } = this.#ends;
      const [wanted, found] = await Promise.all([source.exists(path), target.exists(path)]);
      if (wanted === null || found === null) return;
      const missing = sequenceOf(wanted) - sequenceOf(found);
      if (missing <= 0) return;
      if (!this.#options.apply) {
        const reason = `the next sequential znode has a number that is lower by ${missing}`;
        this.#tally.differing.add(path, reason);
        return;
      }
      await raiseSequence(target, path, missing).then(
        () => {
          this.#tally.sequences += 1;
        },
        (error: unknown) => this.#refuse(path, error),
      );
    });
  }

  #note({ kind, acl }: MirroredNode): void {
    if (kind === 'container') this.#tally.containers += 1;
    if (kind === 'ttl') this.#tally.ttlZnodes += 1;
    this.#tally.onAcl(acl.map(({ scheme }) => scheme));
  }

  /** Errors that pass by themselves are thrown, so that the step is repeated. */
  #refuse(path: string, error: unknown): void {
    if (!isFinal(error)) throw error;
    this.#tally.refused.add(path, error.message);
  }
}

/**
 * Whether it is an answer about this znode, rather than trouble with a connection or a mistake of
 * ours.
 */
function isFinal(error: unknown): error is Error {
  if (error instanceof RequestTooLargeError) return true;
  return (
    error instanceof KeeperError && !error.retryable && !(error instanceof SessionExpiredError)
  );
}

function joined(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`;
}

function parentOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end <= 0 ? '/' : path.slice(0, end);
}
