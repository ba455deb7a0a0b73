/**
 * Writes at the target of a mirror, so that no ACL locks the mirror out before its work is done,
 * and no other client sees data that its ACL protects.
 *
 * While it works, a znode whose ACL would keep the mirror from something has an entry of the
 * mirror's own identity besides; `finish` takes it away. An ACL that is there already and refuses
 * something gets the entry then, where the mirror may set it. A mirror that has no identity, or is
 * a super user, writes every ACL as it is. For a plan nothing is written, and the same steps are
 * refused that would be. Called by Reconciler.
 */
import { type Acl, type Client, NoAuthError, Perms, TransactionError } from '@rookery/client';
import { type Change, OWN_ENTRY } from '../znodes/own-access.js';
import { UNKNOWN_STAT } from '../znodes/unknown-stat.js';
import {
  hidesDigests,
  type MirroredNode,
  parentOf,
  readNode,
  sameAcl,
  sameData,
} from './mirrored-node.js';
import type { WritableEnds } from './steps.js';
import { isFinal, RefusedStep } from './steps.js';

const NO_PERMISSION = 'no ACL lets the mirror do this, nor change the ACL';
const HIDDEN = 'it does not show the digests in this ACL to the mirror';
const NO_WAY =
  'the ACL keeps the mirror from what is below it, because the mirror has no identity there that ' +
  'an ACL can name: set ROOKERY_MIRROR_TO_AUTH';
/** For how many directories a plan remembers what it may do there. */
const KNOWN_MAX = 1_000;

const UNSEEN: MirroredNode = {
  kind: 'persistent',
  data: null,
  acl: [],
  ttlMs: 0,
  stat: UNKNOWN_STAT,
};

export class TargetWrites {
  readonly #ends: WritableEnds;
  readonly #isPlan: boolean;
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(ends: WritableEnds, options: { readonly isPlan: boolean }) {
    this.#ends = ends;
    this.#isPlan = options.isPlan;
  }

  /** Rejects like the client, NodeExistsError and NoNodeError included, or with RefusedStep. */
  async create(path: string, node: MirroredNode): Promise<void> {
    const { target, access } = this.#ends;
    const { kind, data, acl, ttlMs } = node;
    requireWhole(acl);
    if (node.stat.numChildren > 0) await this.#requireWay(acl);
    const parent = parentOf(path);
    if (this.#isPlan) return await this.#require('create', 'create', parent);
    const mode =
      kind === 'ttl'
        ? ({ mode: 'persistentWithTtl', ttlMs } as const)
        : { mode: kind === 'container' ? kind : ('persistent' as const) };
    const given = await access.whileWorking(acl);
    await this.letIn(parent, () => target.create(path, data, { ...mode, acl: given }));
  }

  /** Makes ACL and data those of `wanted`. Resolves with what is changed, or would be. */
  async change(path: string, wanted: MirroredNode, found: MirroredNode): Promise<Changed> {
    const acl = !(await this.#isAclDone(wanted, found));
    const data = !sameData(wanted, found);
    if (acl) requireWhole(wanted.acl);
    if (this.#isPlan) {
      if (acl) await this.#require('change the ACL', 'setAcl', path);
      else if (data) await this.#require('change the data', 'setData', path);
      return { acl, data };
    }
    const { target, access } = this.#ends;
    const given = await access.whileWorking(wanted.acl);
    // Neither the former readers see the new data, nor the new readers the former data.
    if (acl && data && access.hasIdentity) await target.setAcl(path, [OWN_ENTRY]);
    else if (acl && !data) await target.setAcl(path, given);
    if (data) await this.letIn(path, () => target.setData(path, wanted.data));
    if (acl && data) await target.setAcl(path, given);
    return { acl, data };
  }

  async #isAclDone(wanted: MirroredNode, found: MirroredNode): Promise<boolean> {
    if (sameAcl(wanted, found)) return true;
    // A plan counts the entry that is left to be removed as a change.
    return !this.#isPlan && (await this.isUnfinished(wanted, found));
  }

  /** Whether it has its ACL and the mirror's own entry. */
  isUnfinished(wanted: MirroredNode, found: MirroredNode): Promise<boolean> {
    return this.#ends.access.isWhileWorking(found.acl, wanted.acl);
  }

  /** Whether its ACL itself keeps the mirror from reading it. */
  async isClosedTo({ acl }: MirroredNode): Promise<boolean> {
    return ((await this.#ends.access.permsOf(acl)) & Perms.read) === 0;
  }

  /** Gives it its ACL and nothing more. */
  async finish(path: string, { acl }: MirroredNode): Promise<void> {
    requireWhole(acl);
    await this.#ends.target.setAcl(path, acl);
  }

  /** Rejects like the client, NotEmptyError and NoNodeError included, or with RefusedStep. */
  async delete(path: string): Promise<void> {
    const parent = parentOf(path);
    if (this.#isPlan) return await this.#require('delete', 'delete', parent);
    await this.letIn(parent, () => this.#ends.target.delete(path));
  }

  /** Reads what the ACL at the target forbids to read, where the mirror may change that. */
  async open(path: string, wanted: MirroredNode | null): Promise<MirroredNode | null> {
    const { target } = this.#ends;
    if (!this.#isPlan) return await this.letIn(path, () => readNode(target, path));
    await this.#require('read', 'setAcl', path);
    // What it has is seen only when the mirror is let in.
    return wanted ?? UNSEEN;
  }

  /** Lists what is to be deleted; a plan counts nothing of what it may not see. */
  async list(path: string, names: () => Promise<readonly string[]>): Promise<readonly string[]> {
    if (!this.#isPlan) return await this.letIn(path, names);
    try {
      return await names();
    } catch (error) {
      if (error instanceof NoAuthError) return [];
      throw error;
    }
  }

  /** Whether children can be created and deleted there, to raise the number of the next one. */
  async requireChildren(path: string): Promise<void> {
    await this.#require('raise the number of the next sequential znode', 'create', path);
    await this.#require('raise the number of the next sequential znode', 'delete', path);
  }

  /** Does it, if need be after the znode whose ACL refuses it has the mirror's entry. */
  async letIn<T>(path: string, attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      const reason = error instanceof TransactionError ? error.error : error;
      if (!(reason instanceof NoAuthError) || !(await this.#admit(path))) throw error;
    }
    return await attempt();
  }

  async #admit(path: string): Promise<boolean> {
    const { source, target, access } = this.#ends;
    if (!access.hasIdentity || access.isSuper) return false;
    try {
      const wanted = await readNode(source, path);
      if (wanted !== null && hidesDigests(wanted.acl)) return false;
      // What the source does not have is going to be deleted.
      await target.setAcl(path, [...(wanted?.acl ?? []), OWN_ENTRY]);
      return true;
    } catch (error) {
      if (!isFinal(error)) throw error;
      return false;
    }
  }

  /** A mirror without an identity makes nothing below which it could not go on. */
  async #requireWay(acl: readonly Acl[]): Promise<void> {
    const { access } = this.#ends;
    if (access.hasIdentity || ((await access.permsOf(acl)) & Perms.create) !== 0) return;
    throw new RefusedStep('create at the target', NO_WAY);
  }

  async #require(step: string, change: Change, path: string): Promise<void> {
    if (await this.#remembered(change, path)) return;
    throw new RefusedStep(`${step} at the target`, NO_PERMISSION);
  }

  async #remembered(change: Change, path: string): Promise<boolean> {
    const key = `${change} ${path}`;
    const known = this.#known.get(key);
    if (known !== undefined) return await known;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    const asked = this.#may(change, path);
    this.#known.set(key, asked);
    asked.catch(() => this.#known.delete(key));
    return await asked;
  }

  /** Also by first changing the ACL. */
  async #may(change: Change, path: string): Promise<boolean> {
    const { source, target, access } = this.#ends;
    const acl = await aclAt(target, path);
    if (acl !== null) {
      const at = `${target.prefix}${path === '/' ? '' : path}` || '/';
      if (change !== 'setAcl' && (await access.may(change, at, acl))) return true;
      if (change !== 'setAcl' && !access.hasIdentity) return false;
      return await access.may('setAcl', at, acl);
    }
    // The mirror makes it before.
    const wanted = await readNode(source, path);
    if (path === '/' && !access.mayBegin) return false;
    if (access.hasIdentity || wanted === null) return true;
    const needed = change === 'delete' ? Perms.delete : Perms.create;
    return ((await access.permsOf(wanted.acl)) & needed) !== 0;
  }
}

export interface Changed {
  readonly acl: boolean;
  readonly data: boolean;
}

/** Null if there is no such znode; empty if the list may not be read. */
async function aclAt(client: Client, path: string): Promise<readonly Acl[] | null> {
  try {
    return (await readNode(client, path))?.acl ?? null;
  } catch (error) {
    if (error instanceof NoAuthError) return [];
    throw error;
  }
}

function requireWhole(acl: readonly Acl[]): void {
  if (hidesDigests(acl)) throw new RefusedStep('read at the source', HIDDEN);
}
