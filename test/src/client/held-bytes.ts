/**
 * What a program holds, by a heap snapshot of its process: strings, objects, arrays, closures.
 *
 * The size of the whole heap is no measure for that in a process that runs for an hour. V8 goes on
 * compiling what is seldom called, and keeps machine code, feedback, shapes of objects and lists of
 * its own in the same heap: half a megabyte in a quarter of an hour while what the program holds
 * stays the same. Called by soak.ts.
 */
import { readFileSync } from 'node:fs';

/** The types of nodes that are V8's own. */
const OWN = new Set(['code', 'hidden', 'native', 'object shape', 'synthetic']);

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (string | readonly string[])[];
    };
  };
  /** The fields of one node after those of another. */
  readonly nodes: readonly number[];
}

export function heldBytes(file: string): number {
  const { snapshot, nodes }: Snapshot = JSON.parse(readFileSync(file, 'utf8'));
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [typeAt, sizeAt] = [fields.indexOf('type'), fields.indexOf('self_size')];
  const names = types[typeAt];
  if (typeAt < 0 || sizeAt < 0 || typeof names !== 'object') {
    throw new Error('this release of V8 writes its snapshots otherwise');
  }
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (OWN.has(names[nodes[at + typeAt] ?? 0] ?? '')) continue;
    bytes += nodes[at + sizeAt] ?? 0;
  }
  return bytes;
}
