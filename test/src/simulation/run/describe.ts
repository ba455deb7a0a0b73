/**
 * A line of the trace for everything that is recorded: order, time, subject, event.
 *
 * It is used only for traces that somebody requested; equal runs produce equal lines. Zxids are
 * hex, as in the members' log. Recorder calls it.
 */
import { formatZxid, ProposalBatch } from '@rookery/protocol';
import type { ZabInput, ZabOutput } from '../../simulated.js';
import type { PropertyBroken } from '../contract/checker.js';
import type * as Seen from '../contract/seen.js';

interface Stamp {
  readonly order: number;
  readonly atMs: number;
}

function head({ order, atMs }: Stamp): string {
  return `${String(order).padStart(7)} ${atMs.toFixed(3).padStart(11)}`;
}

function ofMember(seen: Seen.OfMember): string {
  return `${head(seen)} member ${seen.member}.${seen.incarnation}`;
}

export function invocation(seen: Seen.Invocation): string {
  const session = formatZxid(seen.session);
  const as = seen.users === undefined ? '' : ` as ${seen.users.join(',')}`;
  return `${head(seen)} client ${seen.client} (${session}) asks ${operation(seen.operation)}${as}`;
}

export function reply(seen: Seen.Reply): string {
  const { invocation, result } = seen;
  const { error, zxid, path, data, stat, children, parts, reads } = result;
  const facts = [
    `error ${error}`,
    `zxid ${formatZxid(zxid)}`,
    ...(path === null ? [] : [path]),
    ...(data === null ? [] : [JSON.stringify(data)]),
    ...(stat === null ? [] : [`mzxid ${formatZxid(stat.mzxid)} version ${stat.version}`]),
    ...(children === null ? [] : [`children ${children.join(',')}`]),
    ...(reads === undefined ? [] : [`reads ${reads.map((read) => read.error).join(',')}`]),
    ...(parts === null ? [] : [`parts ${parts.map((part) => part.error).join(',')}`]),
  ];
  const asked = `${operation(invocation.operation)} of ${invocation.order}`;
  return `${head(seen)} client ${invocation.client} told ${asked}: ${facts.join(' ')}`;
}

export function unanswered(seen: Seen.Unanswered): string {
  const { invocation } = seen;
  const asked = `${operation(invocation.operation)} of ${invocation.order}`;
  return `${head(seen)} client ${invocation.client} unanswered ${asked}`;
}

export function watchEvent(seen: Seen.WatchEventSeen): string {
  const zxid = seen.zxid < 0 ? `${seen.zxid}` : formatZxid(seen.zxid);
  return `${head(seen)} client ${seen.client} event ${seen.type} ${seen.path} zxid ${zxid}`;
}

export function overheard(seen: Seen.Overheard): string {
  const zxid = seen.zxid < 0 ? `${seen.zxid}` : formatZxid(seen.zxid);
  const where = `on connection ${seen.connection}, which it has left`;
  return `${head(seen)} client ${seen.client} overhears ${zxid} ${where}`;
}

export function readOnly(seen: Seen.ReadOnlySeen): string {
  const { client, connection, member, result } = seen;
  const where = `by member ${member} in read-only mode, on connection ${connection}`;
  const answer = `error ${result.error} zxid ${formatZxid(result.zxid)}`;
  const what = `${operation(seen.operation)}: ${answer}`;
  return `${head(seen)} reader ${client} told ${where}, ${what}`;
}

export function session(seen: Seen.SessionSeen): string {
  const { client, change, member, timeoutMs, connection } = seen;
  const where = member === 0 ? '' : ` at member ${member}`;
  const which = `session ${formatZxid(seen.session)}`;
  const how = `connection ${connection}, timeout ${timeoutMs} ms`;
  return `${head(seen)} client ${client} ${which} ${change}${where}, ${how}`;
}

export function started(seen: Seen.Started): string {
  const { recovered } = seen;
  const epochs = `accepted ${recovered.acceptedEpoch} current ${recovered.currentEpoch}`;
  const checkpoint = formatZxid(recovered.checkpointZxid);
  const zxids = `checkpoint ${checkpoint} last ${formatZxid(recovered.last)}`;
  const damage = recovered.damaged === null ? '' : `, damaged: ${recovered.damaged}`;
  return `${ofMember(seen)} started: ${epochs} ${zxids}${damage}`;
}

export function gone(seen: Seen.Gone): string {
  return `${ofMember(seen)} ${seen.how}`;
}

export function diskStruck(seen: Seen.DiskStruck): string {
  return `${ofMember(seen)} disk ${seen.how}`;
}

export function step(seen: Seen.Step): string {
  const outputs = seen.outputs.map(output).join('; ');
  return `${ofMember(seen)} ${input(seen.input)} -> ${outputs}`;
}

export function applied(seen: Seen.Applied): string {
  const { zxid, txn } = seen;
  const path = 'path' in txn.op ? ` ${txn.op.path}` : '';
  const who = `session ${formatZxid(txn.session)}`;
  return `${ofMember(seen)} applied ${formatZxid(zxid)} ${txn.op.kind}${path} ${who}`;
}

export function clockSet(seen: Seen.ClockSet): string {
  return `${head(seen)} the clock of member ${seen.member} is ${seen.errorMs} ms ahead`;
}

export function reach(seen: Seen.Reach): string {
  const { late } = seen;
  const what = late && `, and has what ${late.from} sent until ${late.heardMs.toFixed(3)} ms`;
  const others = seen.reaches.join(',') || 'nobody';
  return `${head(seen)} member ${seen.member} reaches ${others}${what ?? ''}`;
}

export function end(seen: Seen.End): string {
  const members = seen.members.map(({ member, applied }) => `${member} ${formatZxid(applied)}`);
  return `${head(seen)} end: ${members.join(', ')}`;
}

export function note(seen: Stamp & { readonly text: string }): string {
  return `${head(seen)} ${seen.text}`;
}

export function broken(error: PropertyBroken): string {
  return `BROKEN ${error.message}`;
}

export function operation(asked: Seen.Operation | Seen.MultiPart): string {
  if (asked.kind === 'multi') return `multi[${asked.parts.map(operation).join('; ')}]`;
  if (asked.kind === 'ping') return 'ping';
  if (asked.kind === 'multiRead') {
    return `multiRead[${asked.reads.map(({ kind, path }) => `${kind} ${path}`).join('; ')}]`;
  }
  const facts = [
    'version' in asked ? `version ${asked.version}` : '',
    'mode' in asked ? asked.mode : '',
    ...('grants' in asked ? (asked.grants ?? []) : []).map(({ perms, to }) => `${to}=${perms}`),
    'type' in asked ? asked.type : '',
    'data' in asked ? JSON.stringify(asked.data) : '',
    'watch' in asked && asked.watch ? 'and watches' : '',
  ].filter((fact) => fact !== '');
  return [asked.kind, asked.path, ...facts].join(' ');
}

function input(given: ZabInput): string {
  if (given.kind !== 'message') return fields(given);
  return `message ${given.peer}/${given.link} ${fields(given.message)}`;
}

function output(made: ZabOutput): string {
  if (made.kind !== 'send') return fields(made);
  return `send ${made.peer}/${made.link} ${fields(made.message)}`;
}

/** The kind and the plain fields of a message; of long ones only the number of entries. */
function fields(given: { readonly kind: string }): string {
  const parts = Object.entries(given).map(([name, value]) =>
    name === 'kind' ? String(value) : `${name}=${field(name, value)}`,
  );
  return parts.join(' ');
}

const ZXIDS: ReadonlySet<string> = new Set([
  ...['zxid', 'last', 'after', 'through', 'committed', 'applied', 'base'],
]);

function field(name: string, value: unknown): string {
  if (typeof value === 'number') return ZXIDS.has(name) ? formatZxid(value) : String(value);
  if (Array.isArray(value)) return String(value.length);
  if (value instanceof ProposalBatch) {
    return `${value.count}(${formatZxid(value.first)}..${formatZxid(value.last)})`;
  }
  if (value !== null && typeof value === 'object') return JSON.stringify(value);
  return String(value);
}
