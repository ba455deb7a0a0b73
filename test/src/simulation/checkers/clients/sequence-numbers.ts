/**
 * Property: sequential names below one parent are unique, and their numbers grow with their zxid.
 * Source: ZooKeeper 3.8.0 (the suffix is the parent's count of creates); the recipes (locks,
 * queues) depend on it.
 *
 * It uses the replies alone, of all clients together. It keeps the last numbers of each parent by
 * zxid, and holds for parents that are never deleted, as those of the simulated clients are not.
 */
import { ErrorCode, formatZxid, parentOf } from '@rookery/protocol';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { MultiPart, PartResult, Reply } from '../../contract/history.js';

const SUFFIX_CHARS = 10;
/**
 * The number of sequence numbers kept for one parent; half of them are dropped when there are more.
 */
const NUMBERS_MAX = 4096;

interface Named {
  readonly zxid: number;
  readonly number: number;
  readonly path: string;
}

class SequenceNumbers implements Checker {
  readonly property = 'sequential names are unique and grow with their zxid';
  /** By parent, in the order of zxids. */
  readonly #named = new Map<string, Named[]>();

  onReply({ invocation, result, order }: Reply): void {
    const { operation } = invocation;
    if (result.error !== ErrorCode.ok) return;
    if (operation.kind === 'create') return this.#onPart(operation, result, result.zxid, order);
    if (operation.kind !== 'multi' || result.parts === null) return;
    for (let at = 0; at < result.parts.length; at++) {
      const part = operation.parts[at];
      const told = result.parts[at];
      if (part === undefined || told === undefined) continue;
      this.#onPart(part, told, result.zxid, order);
    }
  }

  #onPart(part: MultiPart, { path }: Pick<PartResult, 'path'>, zxid: number, order: number): void {
    if (part.kind !== 'create' || !part.mode.endsWith('Sequential')) return;
    const number = path?.startsWith(part.path) ? Number(path.slice(part.path.length)) : Number.NaN;
    if (path?.length !== part.path.length + SUFFIX_CHARS || !Number.isInteger(number)) {
      this.#fail(`${path} is no sequential name for ${part.path} [${order}]`);
    }
    this.#insert({ zxid, number, path }, order);
  }

  #insert(named: Named, order: number): void {
    const parent = parentOf(named.path);
    let all = this.#named.get(parent);
    if (all === undefined) {
      all = [];
      this.#named.set(parent, all);
    }
    let at = all.length;
    while (at > 0 && (all[at - 1]?.zxid ?? 0) > named.zxid) at -= 1;
    // It is older than everything that is kept: there is nothing to compare it with.
    if (at === 0 && all.length >= NUMBERS_MAX / 2) return;
    const before = all[at - 1];
    const after = all[at];
    if (before !== undefined && before.number >= named.number) this.#clash(before, named, order);
    if (after !== undefined && after.number <= named.number) this.#clash(named, after, order);
    if (at === all.length) all.push(named);
    else all.splice(at, 0, named);
    if (all.length > NUMBERS_MAX) all.splice(0, NUMBERS_MAX / 2);
  }

  #clash(one: Named, other: Named, order: number): never {
    const first = `${one.path} of ${formatZxid(one.zxid)}`;
    this.#fail(`${first} comes before ${other.path} of ${formatZxid(other.zxid)} [${order}]`);
  }

  #fail(what: string): never {
    throw new PropertyBroken(this.property, what);
  }
}

export const newSequenceNumbers: NewChecker = () => new SequenceNumbers();
