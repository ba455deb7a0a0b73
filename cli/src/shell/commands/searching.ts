/**
 * `find`, `grep` and `du` examine what is below a path. Each walks the subtree once and writes as
 * it proceeds.
 */
import { errorMessage, Glob, nameOf } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { clean, countText, kindOf, sizeText, statJson, textOf } from '../../command/values.js';
import { StoppablePattern } from '../stoppable-pattern.js';
import { type Walked, walk } from '../walk.js';

const KINDS: readonly string[] = ['persistent', 'ephemeral'];

export async function find(call: Call): Promise<number | undefined> {
  const { output, signal } = call;
  const meets = conditionOf(call);
  const depthMax = call.number('depth');
  const closed: string[] = [];
  const nodes = walk({
    client: await call.client(),
    path: call.path(0),
    signal,
    ...(depthMax === undefined ? {} : { depthMax }),
  });
  const found = filtered(noting(nodes, closed), meets);
  const count = await output.list(found, {
    json: ({ path, stat }) => ({ path, ...statJson(stat) }),
    text: ({ path }) => path,
  });
  return await endOf(call, count, closed);
}

function conditionOf(call: Call): (node: Walked) => boolean {
  const now = Date.now();
  const conditions: ((node: Walked) => boolean)[] = [];
  const [glob, regex] = [call.text('name'), call.text('regex')];
  const [kind, session] = [call.text('kind'), call.text('session')];
  if (glob !== undefined) {
    const pattern = globOf(glob);
    conditions.push(({ path }) => pattern.matches(nameOf(path)));
  }
  if (regex !== undefined) {
    const pattern = patternOf(regex, '');
    conditions.push(({ path }) => pattern.test(path, path));
  }
  if (kind !== undefined) {
    if (!KINDS.includes(kind)) {
      throw new OperatorError(`--kind is one of ${KINDS.join(', ')}, not ${kind}.`);
    }
    conditions.push(({ stat }) => kindOf(stat.ephemeralOwner) === kind);
  }
  if (session !== undefined) {
    if (!/^(0x)?[\da-f]{1,16}$/i.test(session)) {
      throw new OperatorError('--session is a session id in hex, such as 0x1000a2b3c4d0001.');
    }
    const owner = BigInt(`0x${session.replace(/^0x/i, '')}`);
    conditions.push(({ stat }) => BigInt.asUintN(64, stat.ephemeralOwner) === owner);
  }
  const bytes = call.number('minBytes') ?? 0;
  const children = call.number('childrenOver') ?? -1;
  const unchangedS = call.number('unchangedS') ?? 0;
  conditions.push(({ stat }) => stat.dataLength >= bytes && stat.numChildren > children);
  if (unchangedS > 0) conditions.push(({ stat }) => now - stat.mtime >= 1000 * unchangedS);
  return (node) => conditions.every((meets) => meets(node));
}

/** `*` stands for any characters, `?` for one. */
function globOf(pattern: string): Glob {
  const glob = Glob.of(pattern);
  if (glob === undefined) throw new OperatorError(`--name: ${Glob.EXPECTED}.`);
  return glob;
}

function patternOf(text: string, flags: string): StoppablePattern {
  try {
    return new StoppablePattern(text, flags);
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new OperatorError(`${reason}.`, { cause });
  }
}

async function* filtered(
  nodes: AsyncIterable<Walked>,
  meets: (node: Walked) => boolean,
): AsyncGenerator<Walked, void> {
  for await (const node of nodes) if (meets(node)) yield node;
}

async function* noting(
  nodes: AsyncIterable<Walked>,
  closed: string[],
): AsyncGenerator<Walked, void> {
  for await (const node of nodes) {
    if (node.isClosed) closed.push(node.path);
    yield node;
  }
}

/** Unreadable znodes are a failure; finding nothing is the answer no. */
async function endOf(call: Call, count: number, closed: readonly string[]): Promise<number> {
  if (closed.length > 0) {
    const first = closed.slice(0, 3).join(', ');
    await call.output.talk(
      `The ACLs of ${countText(closed.length, 'znode')} forbid to read them: ${first}.`,
    );
    return EXIT.failed;
  }
  return count > 0 ? EXIT.done : EXIT.no;
}

interface Match {
  readonly path: string;
  /** Counted from 1; 0 for data that is not text. */
  readonly line: number;
  readonly text: string;
}

export async function grep(call: Call): Promise<number> {
  const { output, signal } = call;
  const given = call.arg(0) ?? '';
  const source = call.flag('fixed') ? given.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : given;
  const pattern = patternOf(source, call.flag('ignoreCase') ? 'i' : '');
  const closed: string[] = [];
  const path = call.arg(1) === undefined ? call.around.directory : call.path(1);
  const client = await call.client();
  const nodes = noting(walk({ client, path, signal, withData: true }), closed);
  const onlyPaths = call.flag('paths');
  const count = await output.list(matches(nodes, pattern, onlyPaths), {
    json: ({ path: at, line, text }) => (onlyPaths ? { path: at } : { path: at, line, text }),
    text: ({ path: at, line, text }) => (onlyPaths ? at : `${at}:${line}:${clean(text)}`),
  });
  return await endOf(call, count, closed);
}

async function* matches(
  nodes: AsyncIterable<Walked>,
  pattern: StoppablePattern,
  onlyFirst: boolean,
): AsyncGenerator<Match, void> {
  for await (const { path, data } of nodes) {
    if (data === null || data === undefined) continue;
    const text = textOf(data);
    if (text === null) {
      const isMatch = pattern.test(data.toString('latin1'), path);
      if (isMatch) yield { path, line: 0, text: '(bytes match)' };
      continue;
    }
    const lines = text.split('\n');
    for (const index of pattern.matching(lines, path, onlyFirst ? 1 : lines.length)) {
      yield { path, line: index + 1, text: lines[index] ?? '' };
    }
  }
}

interface Sum {
  readonly path: string;
  readonly depth: number;
  nodes: number;
  bytes: number;
  ephemerals: number;
}

/** A subtree's line comes after all of it has been read, so parents follow their children. */
export async function du(call: Call): Promise<number | undefined> {
  const { output, signal } = call;
  const depth = call.number('depth') ?? 1;
  const closed: string[] = [];
  const nodes = noting(walk({ client: await call.client(), path: call.path(0), signal }), closed);
  await output.table(sums(nodes, depth), {
    head: ['znodes', 'bytes', 'size', 'ephemerals', 'path'],
    json: ({ path, nodes: count, bytes, ephemerals }) => ({
      path,
      nodes: count,
      bytes,
      ephemerals,
    }),
    cells: ({ path, nodes: count, bytes, ephemerals }) => [
      ...[String(count), String(bytes), sizeText(bytes), String(ephemerals), path],
    ],
  });
  return closed.length > 0 ? await endOf(call, 1, closed) : undefined;
}

async function* sums(nodes: AsyncIterable<Walked>, depth: number): AsyncGenerator<Sum, void> {
  const open: Sum[] = [];
  const closeTo = function* (length: number): Generator<Sum, void> {
    while (open.length > length) {
      const done = open.pop();
      if (done === undefined) return;
      const above = open.at(-1);
      if (above !== undefined) {
        above.nodes += done.nodes;
        above.bytes += done.bytes;
        above.ephemerals += done.ephemerals;
      }
      yield done;
    }
  };
  for await (const node of nodes) {
    if (node.depth <= depth) {
      yield* closeTo(node.depth);
      open.push({ path: node.path, depth: node.depth, nodes: 0, bytes: 0, ephemerals: 0 });
    }
    const sum = open.at(-1);
    if (sum === undefined) continue;
    sum.nodes++;
    sum.bytes += node.stat.dataLength;
    if (kindOf(node.stat.ephemeralOwner) === 'ephemeral') sum.ephemerals++;
  }
  yield* closeTo(0);
}
