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
  NoAuthError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  type Stat,
} from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { isWithin } from '../znodes/paths.js';
import {
  type MirroredNode,
  parentOf,
  readNode,
  sameAcl,
  sameData,
  sameKind,
  sequenceOf,
} from './mirrored-node.js';
import { raiseSequence } from './sequences.js';
import type { WritableEnds } from './steps.js';
import { isFinal, persistently, RefusedStep, refusable } from './steps.js';
import type { Tally } from './tally.js';
import { type Changed, TargetWrites } from './target-writes.js';

export interface ReconcilerOptions {
  /**
   * `apply` makes both equal, `plan` tells what that would do and what would be refused, and
   * `verify` what is not equal; the latter two change nothing.
   */
  readonly purpose: 'plan' | 'apply' | 'verify';
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
  readonly #ends: WritableEnds;
  readonly #writes: TargetWrites;
  readonly #options: ReconcilerOptions;
  readonly #tally: Tally;
  /** Whether one of the ends is a whole ensemble, in which the paths in OWN are not the user's. */
  readonly #hasOwn: boolean;
  #directories = 0;

  constructor(ends: WritableEnds, options: ReconcilerOptions, tally: Tally) {
    this.#ends = ends;
    this.#writes = new TargetWrites(ends, { isPlan: options.purpose === 'plan' });
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
      const [wanted, seen] = await Promise.all([
        refusable('read at the source', () => readNode(source, path)),
        readOpen(target, path),
      ]);
      const found = seen === 'closed' ? await this.#opened(path, wanted) : seen;
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
      if (wanted.stat.numChildren > 0 || (found?.stat.numChildren ?? 0) > 0) return true;
      if (sequenceOf(wanted.stat) > (found === null ? 0 : sequenceOf(found.stat))) {
        await this.#sequence(path);
      }
      return false;
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
      const inner = paths.filter((_, index) => isInner[index]);
      await this.#each(inner, (each) => this.#directory(each));
    }
    if (names.some((name) => SEQUENTIAL.test(name))) await this.#sequence(path);
  }

  /**
   * They run concurrently while few are in progress, so that memory is bounded and none waits long.
   */
  async #each<T>(
    paths: readonly string[],
    work: (path: string) => Promise<T>,
  ): Promise<readonly T[]> {
    const under: (T | Promise<T>)[] = [];
    for (const path of paths) {
      if (this.#directories >= DIRECTORIES_MAX) {
        under.push(await work(path));
        continue;
      }
      this.#directories += 1;
      const done = work(path).finally(() => {
        this.#directories -= 1;
      });
      // The rejection is handled below.
      done.catch(() => undefined);
      under.push(done);
    }
    return await Promise.all(under);
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
        const isSource = client === this.#ends.source;
        // That the mirror may let itself in was judged when the znode was read.
        if (this.#options.purpose === 'plan' && !isSource && error instanceof NoAuthError)
          return [];
        const end = isSource ? 'source' : 'target';
        this.#refuse(path, new RefusedStep(`list at the ${end}`, error.message));
      }
      return names;
    });
  }

  async #create(path: string, wanted: MirroredNode): Promise<void> {
    if (this.#options.purpose !== 'verify') {
      const create = () => this.#writes.create(path, wanted);
      await refusable('create at the target', () =>
        create().catch(async (error: unknown) => {
          // Another client, or an attempt of ours whose answer was lost, has created it.
          if (error instanceof NodeExistsError) return void (await this.#node(path));
          if (!(error instanceof NoNodeError) || path === '/') throw error;
          // An event of a child may come before its parent was copied.
          await this.#node(parentOf(path));
          await create();
        }),
      );
    } else {
      this.#tally.unequal.add(path, 'it is missing at the target');
    }
    this.#tally.created += 1;
    this.#tally.dataBytes += wanted.data?.length ?? 0;
  }

  async #change(path: string, wanted: MirroredNode, found: MirroredNode): Promise<void> {
    if (!sameKind(wanted, found)) {
      this.#tally.differing.add(path, `it is ${wanted.kind} at the source, ${found.kind} here`);
    }
    const changed =
      this.#options.purpose === 'verify'
        ? await this.#differs(path, wanted, found)
        : await refusable('change at the target', () => this.#writes.change(path, wanted, found));
    if (changed.acl) this.#tally.aclsChanged += 1;
    if (changed.data) this.#tally.changed += 1;
    if (changed.data) this.#tally.dataBytes += wanted.data?.length ?? 0;
  }

  async #differs(path: string, wanted: MirroredNode, found: MirroredNode): Promise<Changed> {
    const isFinished = sameAcl(wanted, found);
    const isUnfinished = !isFinished && (await this.#writes.isUnfinished(wanted, found));
    if (isUnfinished) this.#tally.unfinished += 1;
    const acl = !isFinished && !isUnfinished;
    const data = !sameData(wanted, found);
    if (acl) this.#tally.unequal.add(path, 'its ACL is another one');
    if (data) this.#tally.unequal.add(path, 'it has other data');
    return { acl, data };
  }

  /** Reads at the target what its ACL there forbids to read. */
  async #opened(path: string, wanted: MirroredNode | null): Promise<MirroredNode | null> {
    return await refusable('read at the target', async () => {
      if (this.#options.purpose === 'verify') return await readNode(this.#ends.target, path);
      return await this.#writes.open(path, wanted);
    });
  }

  /**
   * Takes the mirror's own entries away, from the bottom up; called when all is equal. Resolves
   * with whether everything below the path is there. Nothing above something that is not loses
   * its entry, so that the next run can go on.
   */
  async finish(path: string): Promise<boolean> {
    const { source, target } = this.#ends;
    return await persistently(this.#ends, this.#options.signal, async () => {
      if (this.#hasOwn && isWithin(path, OWN)) return true;
      try {
        const [wanted, seen] = await Promise.all([readNode(source, path), readOpen(target, path)]);
        if (wanted === null || wanted.kind === 'ephemeral') return true;
        // It has its ACL, which forbids to read it, since what is below it was done.
        if (seen === 'closed') return await this.#writes.isClosedTo(wanted);
        if (seen === null || !sameData(wanted, seen)) return false;
        if (wanted.stat.numChildren > 0 && !(await this.#finishBelow(path))) return false;
        if (sameAcl(wanted, seen)) return true;
        if (!(await this.#writes.isUnfinished(wanted, seen))) return false;
        await refusable('finish the ACL at the target', () => this.#writes.finish(path, wanted));
        this.#tally.finished += 1;
        return true;
      } catch (error) {
        this.#refuse(path, error);
        return false;
      }
    });
  }

  async #finishBelow(path: string): Promise<boolean> {
    const names = await this.#names(this.#ends.source, path);
    let isWhole = true;
    for (let at = 0; at < names.length; at += NODES_AT_ONCE) {
      const paths = names.slice(at, at + NODES_AT_ONCE).map((name) => joined(path, name));
      const whole = await this.#each(paths, (each) => this.finish(each));
      if (whole.includes(false)) isWhole = false;
    }
    return isWhole;
  }

  async #extra(path: string, { kind }: MirroredNode): Promise<void> {
    const { purpose, deletes } = this.#options;
    // A client of the target is already at work there.
    if (kind === 'ephemeral') return;
    if (!deletes) this.#tally.extras.add(path, 'the source does not have it');
    else if (purpose === 'verify') {
      this.#tally.deleted += 1;
      this.#tally.unequal.add(path, 'only the target has it');
    } else if (await this.#isLeft(path)) this.#tally.extras.add(path, 'an ephemeral is below it');
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

  /**
   * Deletes it with everything below it except ephemerals, or counts that; false if one of those is
   * left.
   */
  async #remove(path: string): Promise<boolean> {
    const { target } = this.#ends;
    for (const name of await this.#namesToRemove(path)) {
      const child = joined(path, name);
      const seen = await readOpen(target, child);
      const found = seen === 'closed' ? await this.#opened(child, null) : seen;
      if (found === null) continue;
      if (found.kind === 'ephemeral' || !(await this.#remove(child))) return false;
    }
    try {
      await this.#writes.delete(path);
      this.#tally.deleted += 1;
    } catch (error) {
      if (error instanceof NotEmptyError) return false;
      if (error instanceof NoNodeError) return true;
      const reason = `${JSON.stringify(path)}: ${error instanceof Error ? error.message : error}`;
      throw isFinal(error) ? new RefusedStep('delete at the target', reason, error) : error;
    }
    return true;
  }

  async #namesToRemove(path: string): Promise<readonly string[]> {
    const { target } = this.#ends;
    return await refusable('list at the target', () =>
      this.#writes.list(path, async () => {
        const names: string[] = [];
        try {
          for await (const name of target.listChildren(path)) names.push(name);
        } catch (error) {
          if (!(error instanceof NoNodeError)) throw error;
        }
        return names;
      }),
    );
  }

  /**
   * The next sequential znode of a client gets a number that is not below those assigned before.
   */
  async #sequence(path: string): Promise<void> {
    await persistently(this.#ends, this.#options.signal, async () => {
      const { source, target } = this.#ends;
      const [wanted, found] = await Promise.all([source.exists(path), target.exists(path)]);
      if (wanted === null || (found === null && this.#options.purpose !== 'plan')) return;
      const missing = sequenceOf(wanted) - (found === null ? 0 : sequenceOf(found));
      const toCreate = Math.max(0, wanted.numChildren - (found?.numChildren ?? 0));
      const left = this.#options.purpose === 'plan' ? missing - toCreate : missing;
      if (left <= 0) return;
      try {
        await refusable('raise the number of the next sequential znode', () =>
          this.#raise(path, left, sequenceOf(wanted)),
        );
      } catch (error) {
        this.#refuse(path, error);
      }
    });
  }

  async #raise(path: string, missing: number, to: number): Promise<void> {
    const { purpose, signal } = this.#options;
    if (purpose === 'apply') {
      const raising = { path, done: 0, of: missing };
      this.#tally.raising = raising;
      try {
        await this.#writes.letIn(path, () =>
          raiseSequence(this.#ends.target, path, { to, by: missing, signal, raising }),
        );
      } finally {
        this.#tally.raising = null;
      }
    } else if (purpose === 'plan') {
      await this.#writes.requireChildren(path);
    }
    this.#tally.sequences.add(path, `its next sequential znode has a number lower by ${missing}`);
    if (purpose === 'plan' && !(await this.#ends.target.raisesSequences({ signal }))) {
      this.#tally.sequenceSteps += missing;
    }
  }

  #note({ kind, acl }: MirroredNode): void {
    if (kind === 'container') this.#tally.containers += 1;
    if (kind === 'ttl') this.#tally.ttlZnodes += 1;
    this.#tally.onAcl(acl.map(({ scheme }) => scheme));
  }

  /** Errors that pass by themselves are thrown, so that the step is repeated. */
  #refuse(path: string, error: unknown): void {
    if (!(error instanceof RefusedStep) && !isFinal(error)) throw error;
    this.#tally.refused.add(path, error.message);
  }
}

/** `closed` if the ACL forbids it. */
async function readOpen(client: Client, path: string): Promise<MirroredNode | null | 'closed'> {
  try {
    return await readNode(client, path);
  } catch (error) {
    if (error instanceof NoAuthError) return 'closed';
    throw error;
  }
}

function joined(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`;
}
