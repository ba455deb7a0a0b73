/**
 * Compares what one connection received with what the model says, item by item, in order.
 */
import { AUTH_XID, EventType, errorName } from '@rookery/protocol';
import type { Arrival, Reply } from '../harness/wire-client.js';
import type { Bindings } from './bindings.js';
import type { Dialect } from './dialect.js';
import type { Expected, ExpectedEvent, ExpectedReply } from './model.js';
import { describeOperation } from './operations.js';
import { bodyOf, comparable } from './wire.js';

/** Model and product disagree; this is what the shrunk counterexample shows. */
export class Disagreement extends Error {
  override readonly name = 'Disagreement';
}

export interface Streams {
  readonly session: string;
  readonly expected: readonly Expected[];
  readonly actual: readonly Arrival[];
  readonly bindings: Bindings;
  readonly dialect: Dialect;
  readonly prefix: string;
}

export function compareStreams(streams: Streams): void {
  const expected = sortedRuns(streams.expected, streams.expected, keyOfExpected);
  const actual = sortedRuns(streams.actual, streams.expected, keyOfArrival);
  learnZxids(streams, expected, actual);
  for (const [index, wanted] of expected.entries()) {
    const came = actual[index];
    const difference = came === undefined ? 'nothing came' : differ(wanted, came, streams);
    if (difference !== undefined) {
      fail(streams, { expected, actual, index }, difference);
    }
  }
  if (actual.length > expected.length) {
    fail(streams, { expected, actual, index: expected.length }, 'nothing was expected');
  }
}

function learnZxids(
  streams: Streams,
  expected: readonly Expected[],
  actual: readonly Arrival[],
): void {
  const replies = actual.filter((item) => item.kind === 'reply');
  const wanted = expected.filter((item) => item.kind === 'reply');
  for (const [index, { txn }] of wanted.entries()) {
    const reply = replies[index];
    if (txn === undefined || reply === undefined) continue;
    const wrong = streams.bindings.bindZxid(txn, reply.zxid);
    const at = { expected, actual, index: actual.indexOf(reply) };
    if (wrong !== undefined) fail(streams, at, wrong);
  }
}

function differ(wanted: Expected, came: Arrival, streams: Streams): string | undefined {
  if (wanted.kind !== came.kind) return `should be ${wanted.kind}, is ${came.kind}`;
  if (wanted.kind === 'event' && came.kind === 'event') {
    const { type, path } = wanted;
    const wantsZxid = streams.dialect.eventsCarryZxid && wanted.txn !== undefined;
    const zxid = wantsZxid ? streams.bindings.zxidOf(wanted.txn) : -1;
    const event = { type: came.type, path: came.path, zxid: came.zxid };
    return streams.bindings.difference({ type, path, zxid }, event);
  }
  if (wanted.kind === 'reply' && came.kind === 'reply') return differReply(wanted, came, streams);
  return undefined;
}

function differReply(wanted: ExpectedReply, came: Reply, streams: Streams): string | undefined {
  const { operation, error, body } = wanted;
  if (came.error !== error) return `error should be ${name(error)} and is ${name(came.error)}`;
  if (error !== 0 && came.body.length > 0) return `${came.body.length} bytes follow an error`;
  const actual = error === 0 ? bodyOf(operation, came) : undefined;
  const { bindings } = streams;
  return bindings.difference(comparable(body), actual) ?? differZxid(wanted, came, bindings);
}

/** The reply to a read lies between the write before it and the one after it. */
function differZxid(wanted: ExpectedReply, came: Reply, bindings: Bindings): string | undefined {
  if (came.xid === AUTH_XID || wanted.txn !== undefined) return undefined;
  const from = bindings.zxidOf(wanted.after);
  const below = bindings.knownZxidOf(wanted.after + 1);
  const isRight = came.zxid >= from && (below === undefined || came.zxid < below);
  return isRight ? undefined : `zxid should be from ${from}, below ${below}, and is ${came.zxid}`;
}

/** Runs of events whose order means nothing are sorted; `guide` tells where they are. */
function sortedRuns<T>(
  items: readonly T[],
  guide: readonly Expected[],
  keyOf: (item: T) => string,
): T[] {
  const sorted = [...items];
  for (let start = 0; start < guide.length; start += 1) {
    const end = endOfRun(guide, start);
    const run = sorted.slice(start, end).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    sorted.splice(start, run.length, ...run);
    start = Math.max(start, end - 1);
  }
  return sorted;
}

function endOfRun(guide: readonly Expected[], start: number): number {
  const first = guide[start];
  let end = start;
  for (; end < guide.length; end += 1) {
    const item = guide[end];
    if (item?.kind !== 'event' || !item.unordered) break;
    if (first?.kind === 'event' && item.txn !== first.txn) break;
  }
  return end;
}

function keyOfExpected(item: Expected): string {
  return item.kind === 'event' ? `${item.path} ${item.type}` : '';
}

function keyOfArrival(item: Arrival): string {
  return item.kind === 'event' ? `${item.path} ${item.type}` : '';
}

function fail(
  streams: Streams,
  at: {
    readonly expected: readonly Expected[];
    readonly actual: readonly Arrival[];
    readonly index: number;
  },
  difference: string,
): never {
  const start = Math.max(0, at.index - 2);
  const rows = Array.from({ length: 6 }, (_, row) => {
    const index = start + row;
    const mark = index === at.index ? '>' : ' ';
    const expected = at.expected[index];
    const actual = at.actual[index];
    if (expected === undefined && actual === undefined) return '';
    const wanted = expected === undefined ? 'nothing' : describeExpected(expected);
    const came = actual === undefined ? 'nothing' : describeArrival(actual);
    return `${mark} expected ${wanted}\n${mark}      got ${came}\n`;
  });
  const text = `${streams.session}: ${difference}\n${rows.join('')}`;
  throw new Disagreement(text.replaceAll(streams.prefix, '').trimEnd());
}

function describeExpected(item: Expected): string {
  if (item.kind === 'event') return describeEvent(item);
  return `reply to ${describeOperation(item.operation)}: ${name(item.error)}`;
}

function describeArrival(item: Arrival): string {
  return item.kind === 'event' ? describeEvent(item) : `reply ${item.xid}: ${name(item.error)}`;
}

function describeEvent(event: Pick<ExpectedEvent, 'path'> & { readonly type: number }): string {
  const type = Object.entries(EventType).find(([, value]) => value === event.type)?.[0];
  return `event ${type ?? event.type} ${event.path === '' ? '.' : event.path}`;
}

function name(error: number): string {
  return error === 0 ? 'ok' : `${error} ${errorName(error) ?? ''}`.trimEnd();
}
