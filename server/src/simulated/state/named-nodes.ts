/**
 * Nodes that have nothing but names, for tests of orders. The number of a node that is gone belongs
 * to the next one, as in the tree. It counts how often a name is looked at to be compared.
 */
import type { Children, NodeNames } from '../../state/memory/lazy-order.js';
import { NamePrefix } from '../../state/memory/name-prefix.js';

const SAMPLES = 16;

export class NamedNodes implements NodeNames {
  /**
   * The names that were looked at so far: one for a key or a comparison with a text, two for a
   * comparison of nodes.
   */
  looked = 0;
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #free: number[] = [];

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name);
  }

  add(name: string): number {
    const node = this.#free.pop() ?? this.#names.length;
    this.#names[node] = name;
    this.#numbers.set(name, node);
    return node;
  }

  /** The name is no longer there to be compared. */
  remove(name: string): void {
    const node = this.node(name);
    this.#names[node] = '(gone)';
    this.#numbers.delete(name);
    this.#free.push(node);
  }

  has(name: string): boolean {
    return this.#numbers.has(name);
  }
  node(name: string): number {
    return this.#numbers.get(name) ?? -1;
  }
  names(): readonly string[] {
    return [...this.#numbers.keys()];
  }
  /** In the order in which they came, with the keys by a prefix that some of them share. */
  children(): Children {
    const names = this.names();
    const step = Math.ceil(names.length / SAMPLES);
    const prefix = new NamePrefix(names.filter((_, at) => at % step === 0));
    const nodes = Int32Array.from(this.#numbers.values());
    const keys = Float64Array.from(nodes, (node) => this.keyOf(node, prefix));
    return { prefix, nodes, keys, cuts: [] };
  }

  keyOf(node: number, prefix: NamePrefix): number {
    this.looked += 1;
    return prefix.keyOf(this.name(node));
  }
  name(node: number): string {
    return this.#names[node] ?? '';
  }
  compareNames(a: number, b: number): number {
    this.looked += 2;
    return order(this.name(a), this.name(b));
  }
  compareName(node: number, text: string): number {
    this.looked += 1;
    return order(this.name(node), text);
  }
}

/** By code units. */
function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
