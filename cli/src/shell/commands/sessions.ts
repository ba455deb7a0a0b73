/**
 * `sessions ls`, `sessions get` and `sessions end`: who is connected, what a session owns and
 * watches, and how to end one.
 *
 * Servers of either product are asked by four-letter words. With `--url` a member of Rookery is
 * asked at its admin port, which tells more and can end a session.
 */
import { plainHexId } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { AdminPort } from '../../command/admin-port.js';
import { type Call, EXIT } from '../../command/command.js';
import { NoAnswerError } from '../../command/failures.js';
import { serversFor } from '../../command/servers-for.js';
import { clean, countText, timeOf } from '../../command/values.js';
import { SessionsFromAdminPort } from '../sessions/from-admin-port.js';
import { SessionsFromWords } from '../sessions/from-words.js';
import type { Session, SessionDetail, SessionSource } from '../sessions/session.js';

const HEAD = ['SESSION', 'CLIENT', 'SERVER', 'TIMEOUT', 'OWNS', 'SINCE', 'LAST', 'AVG/MAX MS'];

export async function listSessions(call: Call): Promise<number> {
  const source = sourceOf(call);
  const count = await call.output.table(source.list(call.signal), {
    head: HEAD,
    json: sessionJson,
    cells: cellsOf,
    raw: ({ session }) => session,
  });
  if (count === 0) await call.output.talk('No session was found.');
  return await conclude(call, source);
}

export async function getSession(call: Call): Promise<number> {
  const source = sourceOf(call);
  const session = sessionOf(call);
  const detail = await source.one(session, call.signal);
  if (detail === null) throw new NoAnswerError(`There is no session ${session}.`);
  await call.output.value(detailJson(detail), () => textOf(detail));
  return await conclude(call, source);
}

export async function endSession(call: Call): Promise<number> {
  const { output, signal, around } = call;
  const url = call.text('url');
  if (url === undefined) {
    throw new OperatorError(
      'Give --url http://host:port, the admin port of a member: no four-letter word ends a session.',
    );
  }
  const port = new SessionsFromAdminPort(new AdminPort(url, around.environment));
  const session = sessionOf(call);
  const detail = await port.one(session, signal);
  if (detail === null) throw new NoAnswerError(`There is no session ${session}.`);
  const { ephemerals, address } = detail;
  const from = address === null ? 'which is not connected' : `of ${address}`;
  const owned = ephemerals === null ? 'ephemeral znodes' : countText(ephemerals, 'ephemeral znode');
  const what = `session ${session} ${from}, with its ${owned}`;
  if (call.isDryRun) {
    await output.value({ session, address, ephemerals }, () => '');
    await output.talk(`Would end ${what}.`);
    return EXIT.done;
  }
  if (!call.flag('yes')) {
    if (!around.isInteractive) {
      throw new OperatorError(`${what}, would end; give --yes to confirm without a terminal.`);
    }
    if (!(await around.confirm(`End ${what}?`))) {
      await output.talk('Nothing is ended.');
      return EXIT.no;
    }
  }
  await port.end(session, signal);
  await output.value({ session, address, ephemerals }, () => '');
  await output.talk(`Ended ${what}.`);
  return EXIT.done;
}

function sourceOf(call: Call): SessionSource {
  const url = call.text('url');
  if (url === undefined) return new SessionsFromWords(serversFor(call));
  for (const other of ['connect', 'context', 'config']) {
    if (call.text(other) !== undefined) throw new OperatorError(`Give --url or --${other}.`);
  }
  return new SessionsFromAdminPort(new AdminPort(url, call.around.environment));
}

/** Throws OperatorError for what is no session id. */
function sessionOf(call: Call): string {
  const text = (call.arg(0) ?? '').toLowerCase();
  const session = plainHexId(text.startsWith('0x') ? text : `0x${text}`);
  if (session !== null) return session;
  throw new OperatorError(`Expected a session in hex, such as 0x1000a2b, got ${text}.`);
}

/** Reports what is missing, and returns the exit code of a failure then. */
async function conclude({ output }: Call, { gaps }: SessionSource): Promise<number> {
  for (const gap of new Set(gaps)) await output.talk(gap);
  return gaps.length === 0 ? EXIT.done : EXIT.failed;
}

function sessionJson({ sinceMs, ...session }: Session) {
  const { server, address, timeoutMs, ephemerals, lastOperation, received } = session;
  const { sent, outstanding, averageLatencyMs, maxLatencyMs } = session;
  return {
    session: session.session,
    server,
    address,
    timeoutMs,
    ephemerals,
    since: sinceMs === null ? null : timeOf(sinceMs),
    lastOperation,
    received,
    sent,
    outstanding,
    averageLatencyMs,
    maxLatencyMs,
  };
}

function detailJson(detail: SessionDetail) {
  const { ephemeralPaths, ephemeralPathsTruncated, watched, watchedTruncated } = detail;
  return {
    ...sessionJson(detail),
    ephemeralPaths,
    ephemeralPathsTruncated,
    watched: watched?.map(copyOf) ?? null,
    watchedTruncated,
  };
}

function copyOf({ path, mode }: { readonly path: string; readonly mode: string | null }) {
  return { path, mode };
}

function cellsOf(one: Session): readonly string[] {
  const { averageLatencyMs: average, maxLatencyMs: max } = one;
  const latency = average === null || max === null ? '-' : `${rounded(average)}/${rounded(max)}`;
  return [
    one.session,
    clean(one.address ?? 'not connected'),
    one.server ?? '-',
    one.timeoutMs === null ? '-' : `${one.timeoutMs / 1000} s`,
    one.ephemerals === null ? '-' : String(one.ephemerals),
    one.sinceMs === null ? '-' : timeOf(one.sinceMs),
    clean(one.lastOperation ?? '-'),
    latency,
  ];
}

function rounded(ms: number): string {
  return String(Math.round(ms * 10) / 10);
}

/** A session with what it owns and watches, as a person reads it. */
export function textOf(detail: SessionDetail): string {
  const cells = cellsOf(detail);
  const rows = HEAD.map((head, at) => `${head.toLowerCase().padEnd(12)} ${cells[at] ?? ''}`);
  const owned = detail.ephemeralPaths.map((path) => `  ${clean(path)}`);
  const watched = detail.watched?.map(({ path, mode }) => {
    return `  ${clean(path)}${mode === null ? '' : ` (${mode})`}`;
  });
  return [
    ...rows,
    headOf('owns', owned, { what: 'ephemeral znodes', isCut: detail.ephemeralPathsTruncated }),
    ...owned,
    watched === undefined
      ? 'The server does not list what it watches.'
      : headOf('watches', watched, { what: 'paths', isCut: detail.watchedTruncated === true }),
    ...(watched ?? []),
  ].join('\n');
}

function headOf(
  verb: string,
  listed: readonly string[],
  { what, isCut }: { readonly what: string; readonly isCut: boolean },
): string {
  if (listed.length === 0) return `It ${verb} nothing.`;
  return `It ${verb} ${listed.length} ${what}${isCut ? ', and more that are not listed' : ''}:`;
}
