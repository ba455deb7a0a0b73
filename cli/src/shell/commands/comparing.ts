/**
 * `diff` compares two subtrees, of one ensemble or of two, side by side in the order of names.
 *
 * It compares data and kinds, not zxids, times, versions or owners, which no copy keeps.
 */
import type { Client } from '@rookery/client';
import { type Call, EXIT } from '../../command/command.js';
import { kindOf, preview } from '../../command/values.js';
import { type Walked, walk } from '../walk.js';

interface Difference {
  /** Relative to the two paths; '' for the two znodes themselves. */
  readonly path: string;
  readonly change: 'only-a' | 'only-b' | 'data' | 'kind';
  readonly a: Walked | null;
  readonly b: Walked | null;
}

export async function diff(call: Call): Promise<number> {
  const { output, signal } = call;
  const [a, b] = [call.path(0), call.path(1)];
  const own = await call.client();
  const to = call.text('to');
  const other = to === undefined ? own : await call.around.other(to);
  const count = await output.list(
    differences({ client: own, path: a }, { client: other, path: b }),
    {
      json: (difference) => ({
        path: difference.path === '' ? '.' : difference.path,
        change: difference.change,
        a: sideJson(difference.a),
        b: sideJson(difference.b),
      }),
      text: lineOf,
    },
  );
  return count === 0 ? EXIT.done : EXIT.no;

  async function* differences(left: Side, right: Side): AsyncGenerator<Difference, void> {
    const one = walk({ ...left, signal, withData: true });
    const two = walk({ ...right, signal, withData: true });
    let [x, y] = [await one.next(), await two.next()];
    while (x.done !== true || y.done !== true) {
      const p = x.done === true ? null : relative(left.path, x.value.path);
      const q = y.done === true ? null : relative(right.path, y.value.path);
      const order = orderOf(p, q);
      if (order < 0 && x.done !== true) {
        yield { path: p ?? '', change: 'only-a', a: x.value, b: null };
        x = await one.next();
      } else if (order > 0 && y.done !== true) {
        yield { path: q ?? '', change: 'only-b', a: null, b: y.value };
        y = await two.next();
      } else if (x.done !== true && y.done !== true) {
        yield* compared(p ?? '', x.value, y.value);
        [x, y] = [await one.next(), await two.next()];
      }
    }
  }
}

interface Side {
  readonly client: Client;
  readonly path: string;
}

function* compared(path: string, a: Walked, b: Walked): Generator<Difference, void> {
  if (kindOf(a.stat.ephemeralOwner) !== kindOf(b.stat.ephemeralOwner)) {
    yield { path, change: 'kind', a, b };
  }
  if (!Buffer.from(a.data ?? []).equals(Buffer.from(b.data ?? []))) {
    yield { path, change: 'data', a, b };
  }
}

function relative(base: string, path: string): string {
  return base === '/' ? path.slice(1) : path.slice(base.length + 1);
}

/** Compares by segments, in the order of a walk; an ended walk comes last. */
function orderOf(a: string | null, b: string | null): number {
  if (a === null) return 1;
  if (b === null) return -1;
  if (a === b) return 0;
  const [one, two] = [a.split('/'), b.split('/')];
  for (let at = 0; at < Math.min(one.length, two.length); at++) {
    const [x = '', y = ''] = [one[at], two[at]];
    if (x !== y) return x < y ? -1 : 1;
  }
  return one.length - two.length;
}

function sideJson(node: Walked | null) {
  if (node === null) return null;
  return { kind: kindOf(node.stat.ephemeralOwner), dataLength: node.stat.dataLength };
}

function lineOf({ path, change, a, b }: Difference): string {
  const name = path === '' ? '.' : path;
  if (change === 'only-a') return `- ${name}`;
  if (change === 'only-b') return `+ ${name}`;
  if (change === 'kind') {
    const kinds = [a, b].map((node) => kindOf(node?.stat.ephemeralOwner ?? 0n));
    return `~ ${name}: ${kinds[0]} and ${kinds[1]}`;
  }
  return `~ ${name}: ${preview(a?.data ?? null, 30)} and ${preview(b?.data ?? null, 30)}`;
}
