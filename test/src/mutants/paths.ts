/** Mutants of how znodes are found by their paths, and of the limits of a path and a multi. */
import type { Mutant } from './mutant.js';

export const pathMutants: readonly Mutant[] = [
  {
    name: 'digest-of-the-keyed-hash',
    area: 'state',
    // Each process has a key of its own, so members with the same znodes differ in their digests.
    breaks: 'same zxid, same digest, on every member (invariant 8)',
    in: 'Tree.setData',
    find: 'this.#storeContent(node, digestPathHash(node, op));',
    replace: 'this.#storeContent(node, this.store.int(node, INT.indexHash));',
  },
  {
    name: 'depth-judged-where-it-is-applied',
    area: 'state',
    // Half of the members decide differently, as if their files had different settings.
    breaks: 'what decides the outcome of a transaction is decided by the leader',
    in: 'ReplicatedState.#create',
    find: 'const parent = this.tree.findParentOf(op);',
    replace: `if (op.path.split('/').length > 7 && (this.tree.indexHash('/') & 1) === 0) return;
      const parent = this.tree.findParentOf(op);`,
    aim: ['clients.digs=true'],
  },
  {
    name: 'recursive-watch-of-what-was-not-there',
    area: 'state',
    // Its znode is created later, and nobody checks whether the path is watched.
    breaks: 'a recursive watch reports every change below its path',
    in: 'WatchTable.#withStanding',
    find: "if (kind === 'created' && recursive.hasPath(path)) this.#nodes.put(path, node);",
    replace: '',
    aim: ['clients.digs=true'],
  },
  {
    name: 'multi-cut-at-its-bound',
    area: 'pipeline',
    // The first operations are done, and the others are forgotten.
    breaks: 'a multi is done completely or not at all',
    in: 'TxnPreparer.#multi',
    find: 'return failure(ErrorCode.badArguments);',
    replace: `{
        const ops = requests.slice(0, this.#rules.multiOpsMax);
        return this.#multi(context, { ops, aclBytesMax });
      }`,
    aim: ['clients.digs=true', 'settings.multiOpsMax=8'],
  },
];
