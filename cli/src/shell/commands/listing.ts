/**
 * `ls` and `tree` show what exists. Both write while they read, whatever the size of a directory;
 * only a drawing needs all of its lines, of which there are at most `--limit`.
 */
import type { Client, Stat } from '@rookery/client';
import { joinPath, nameOf } from '@rookery/protocol';
import { type Call, EXIT } from '../../command/command.js';
import { countText, kindOf, sizeText, statJson, timeOf } from '../../command/values.js';
import { type Walked, walk } from '../walk.js';

/** The number of children whose Stat is requested at the same time. */
const BATCH = 256;
const TREE_LIMIT = 10_000;

export async function ls(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const client = await call.client();
  const path = call.path(0);
  const names = client.listChildren(path, { signal });
  if (!call.flag('long')) {
    await output.list(names, { json: (name) => ({ name }), text: (name) => name });
    return;
  }
  await output.table(withStats(client, path, names), {
    head: ['kind', 'bytes', 'version', 'children', 'changed', 'name'],
    json: ({ name, stat }) => ({ name, ...statJson(stat) }),
    cells: ({ name, stat }) => [
      kindOf(stat.ephemeralOwner),
      String(stat.dataLength),
      String(stat.version),
      String(stat.numChildren),
      timeOf(stat.mtime),
      name,
    ],
  });
}

interface Child {
  readonly name: string;
  readonly stat: Stat;
}

async function* withStats(
  client: Client,
  path: string,
  names: AsyncIterable<string>,
): AsyncGenerator<Child, void> {
  let batch: string[] = [];
  for await (const name of names) {
    batch.push(name);
    if (batch.length < BATCH) continue;
    yield* await statsOf(client, path, batch);
    batch = [];
  }
  yield* await statsOf(client, path, batch);
}

/** Leaves out children that have been deleted meanwhile. */
async function statsOf(
  client: Client,
  path: string,
  names: readonly string[],
): Promise<readonly Child[]> {
  const stats = await Promise.all(names.map((name) => client.exists(joinPath(path, name))));
  return names.flatMap((name, at) => {
    const stat = stats[at] ?? null;
    return stat === null ? [] : [{ name, stat }];
  });
}

export async function tree(call: Call): Promise<number | undefined> {
  const { output, signal } = call;
  const client = await call.client();
  const depthMax = call.number('depth');
  const limit = call.number('limit') ?? TREE_LIMIT;
  const nodes = walk({
    client,
    path: call.path(0),
    signal,
    ...(depthMax === undefined ? {} : { depthMax }),
  });
  const end = { closed: 0, wasCut: false };
  const shown = limited(nodes, limit, end);
  if (call.format === 'table') {
    const all: Walked[] = [];
    for await (const node of shown) all.push(node);
    const text = ({ node, line }: Drawn) => `${line}${labelOf(node)}`;
    await output.list(drawn(all), { json: () => null, text });
  } else {
    await output.list(shown, {
      json: ({ path, depth, stat }) => {
        const { kind, dataLength, numChildren } = statJson(stat);
        return { path, depth, kind, dataLength, numChildren };
      },
      text: ({ path }) => path,
    });
  }
  if (end.wasCut) await output.talk(`There is more: only the first ${limit} are shown (--limit).`);
  if (end.closed === 0) return undefined;
  await output.talk(`The ACLs of ${countText(end.closed, 'znode')} forbid to list their children.`);
  return EXIT.failed;
}

function labelOf({ path, stat, isClosed }: Walked): string {
  const kind = kindOf(stat.ephemeralOwner);
  const notes = [
    kind === 'persistent' ? '' : kind,
    stat.dataLength > 0 ? sizeText(stat.dataLength) : '',
    isClosed ? 'its children may not be listed' : '',
  ].filter((note) => note !== '');
  const name = path === '/' ? '/' : nameOf(path);
  return notes.length === 0 ? name : `${name}  (${notes.join(', ')})`;
}

async function* limited(
  nodes: AsyncIterable<Walked>,
  limit: number,
  end: { closed: number; wasCut: boolean },
): AsyncGenerator<Walked, void> {
  let count = 0;
  for await (const node of nodes) {
    if (++count > limit) {
      end.wasCut = true;
      return;
    }
    if (node.isClosed) end.closed++;
    yield node;
  }
}

interface Drawn {
  readonly node: Walked;
  /** The branches that lead to it. */
  readonly line: string;
}

/** Which znodes are the last of their siblings is determined from the end backwards. */
function drawn(nodes: readonly Walked[]): readonly Drawn[] {
  const lines: Drawn[] = [];
  /** For each depth, whether a sibling follows further down. */
  let follows: boolean[] = [];
  for (const node of nodes.toReversed()) {
    const { depth } = node;
    const above = Array.from({ length: Math.max(0, depth - 1) }, (_, at) => {
      return follows[at + 1] === true ? '│  ' : '   ';
    });
    const branch = follows[depth] === true ? '├─ ' : '└─ ';
    lines.push({ node, line: depth === 0 ? '' : `${above.join('')}${branch}` });
    follows = Array.from({ length: depth + 1 }, (_, at) => at === depth || follows[at] === true);
  }
  return lines.reverse();
}
