import { JuteWriter } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES, ReplicatedState } from '../replicated-state.js';
import type { TxnOp } from '../txn.js';

const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];
/** Around the size from which the bytes of a directory are kept. */
const COUNTS = [0, 3, 511, 512, 513, 600] as const;

class Directory {
  readonly #state = new ReplicatedState();
  #zxid = 0;

  constructor() {
    this.create('/d');
  }

  /** What is told, and what is written. */
  get sizes(): readonly [number, number] {
    const { tree } = this.#state;
    const node = tree.find('/d');
    const writer = new JuteWriter();
    tree.writeChildren(node, writer);
    return [tree.listedBytes(node), writer.length];
  }

  create(path: string): void {
    const mode = 'persistent';
    this.#apply({ kind: 'create', path, data: null, acl: ACL, mode, ttlMs: 0, opcode: 1 });
  }
  delete(path: string): void {
    this.#apply({ kind: 'delete', path });
  }

  #apply(op: TxnOp): void {
    this.#zxid += 1;
    const txn = { origin: 1, request: 1, session: 1, time: 1, op };
    this.#state.apply(this.#zxid, txn, IGNORE_CHANGES);
  }
}

function nameOf(index: number): string {
  return `n${index}${'x'.repeat(index % 97)}`;
}

describe('the bytes of a list of children', () => {
  it('are told exactly, while the directory grows and shrinks', () => {
    const directory = new Directory();
    const check = () => {
      const [told, written] = directory.sizes;
      expect(told).toBe(written);
    };
    let count = 0;
    for (const goal of [...COUNTS, ...COUNTS.toReversed(), ...COUNTS, 0]) {
      for (; count < goal; count++) directory.create(`/d/${nameOf(count)}`);
      for (; count > goal; count--) directory.delete(`/d/${nameOf(count - 1)}`);
      check();
      directory.create(`/d/${nameOf(1000)}`);
      check();
      directory.delete(`/d/${nameOf(1000)}`);
      check();
    }
    directory.delete('/d');
    directory.create('/d');
    check();
  });

  it('are told as never fewer than there are, whatever the characters are', () => {
    for (const unit of ['é', '語', '🙂']) {
      const directory = new Directory();
      for (let index = 0; index < 600; index++) {
        directory.create(`/d/${unit.repeat(1 + (index % 5))}${index}`);
        if (index % 100 !== 0) continue;
        const [told, written] = directory.sizes;
        expect(told).toBeGreaterThanOrEqual(written);
        expect(told).toBeLessThan(4 * written);
      }
    }
  });
});
