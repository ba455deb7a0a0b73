/**
 * `locks`: who holds each lock below a path, who leads each election, and who waits in which order.
 *
 * They are recognised by the names that our client, Curator and kazoo give to their znodes.
 */
import { type Client, NoAuthError, NoNodeError } from '@rookery/client';
import { joinPath, nameOf, parentOf } from '@rookery/protocol';
import { compareParts, holdersOf, OperatorError, partOf, recipeOf } from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { clean, countText, dataJson, hex, kindOf, preview, timeOf } from '../../command/values.js';
import { walk } from '../walk.js';

type Part = NonNullable<ReturnType<typeof partOf>>;

interface Contender extends Part {
  readonly name: string;
  readonly owner: bigint;
  /** When its znode was made, which is when it began to wait; ms since 1970. */
  readonly since: number;
}

interface Lock {
  readonly path: string;
  readonly kind: string;
  readonly holders: readonly (Contender & { readonly data: Buffer | null })[];
  readonly holderCount: number;
  readonly waiters: readonly Contender[];
  readonly waiterCount: number;
}

const KINDS: ReadonlySet<string> = new Set(['lock', 'read-write-lock', 'election']);
/** They are in memory until the walk is over. */
const CONTENDERS_MAX = 200_000;
/** The number of holders, and of waiters, that are shown of each lock. */
const SHOWN_MAX = 100;

/** Resolves with 3 if there is none. */
export async function locks(call: Call): Promise<number> {
  const { output, signal } = call;
  const [client, path] = [await call.client(), call.path(0)];
  const found = new Map<string, Contender[]>();
  let [contenders, closed] = [0, 0];
  for await (const node of walk({ client, path, signal })) {
    if (node.isClosed) closed++;
    const name = nameOf(node.path);
    const part = node.depth === 0 ? null : partOf(name);
    if (part === null) continue;
    if (++contenders > CONTENDERS_MAX) {
      throw new OperatorError(`More than ${CONTENDERS_MAX} contenders: give a path further down.`);
    }
    const directory = parentOf(node.path);
    const { ephemeralOwner: owner, ctime: since } = node.stat;
    const siblings = found.get(directory) ?? [];
    siblings.push({ ...part, name, owner, since });
    found.set(directory, siblings);
  }
  const count = await output.table(locksIn(client, found, signal), {
    head: ['PATH', 'KIND', 'SINCE', 'WAIT', 'SESSION', 'HOLDER'],
    json: ({ holders, waiters, ...lock }) => ({
      ...lock,
      holders: holders.map((one) => ({ ...contenderJson(one), ...dataJson(one.data) })),
      waiters: waiters.map(contenderJson),
    }),
    cells: cellsOf,
  });
  if (count === 0) await output.talk('No lock and no election was found.');
  if (closed === 0) return count > 0 ? EXIT.done : EXIT.no;
  await output.talk(`The ACLs of ${countText(closed, 'znode')} forbid to see what is below them.`);
  return EXIT.failed;
}

async function* locksIn(
  client: Client,
  found: ReadonlyMap<string, readonly Contender[]>,
  signal: AbortSignal,
): AsyncGenerator<Lock> {
  for (const [path, contenders] of found) {
    const kind = recipeOf(new Set(contenders.map(({ part }) => part)));
    if (kind === null || !KINDS.has(kind)) continue;
    const queued = contenders.toSorted(compareParts);
    const holding = holdersOf(kind, queued);
    const holders = queued.slice(0, Math.min(holding, SHOWN_MAX)).map(async (one) => {
      return { ...one, data: await dataOf(client, joinPath(path, one.name), signal) };
    });
    yield {
      path,
      kind,
      holders: await Promise.all(holders),
      holderCount: holding,
      waiters: queued.slice(holding, holding + SHOWN_MAX),
      waiterCount: queued.length - holding,
    };
  }
}

/** Null where the ACL forbids to read it, or it has just gone. */
async function dataOf(client: Client, path: string, signal: AbortSignal) {
  try {
    return (await client.getData(path, { signal })).data;
  } catch (error) {
    if (error instanceof NoAuthError || error instanceof NoNodeError) return null;
    throw error;
  }
}

function contenderJson({ name, owner, since }: Contender) {
  return { name, session: sessionOf(owner), since: timeOf(since) };
}

function sessionOf(owner: bigint): string | null {
  return kindOf(owner) === 'ephemeral' ? hex(owner) : null;
}

function cellsOf({ path, kind, holders, holderCount, waiterCount }: Lock): readonly string[] {
  const [first] = holders;
  if (first === undefined) return [clean(path), kind, '-', String(waiterCount), '-', '-'];
  const others = holderCount > 1 ? ` and ${holderCount - 1} more` : '';
  const name = `${preview(first.data) || clean(first.name)}${others}`;
  const since = timeOf(first.since);
  return [clean(path), kind, since, String(waiterCount), sessionOf(first.owner) ?? '-', name];
}
