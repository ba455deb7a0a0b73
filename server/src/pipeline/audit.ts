/**
 * Makes the audit records of this member's clients: their writes, sessions and authentications.
 *
 * It makes a record where a request is answered, or where it is decided although its client has
 * left. Identities are those of the connection when the request came. A record never has data or
 * a password, and of a digest only four characters, which tell apart two clients that claim one
 * name. It exists only while there is an audit log; time and files are the sink's. Called by
 * Pipeline and Requests.
 */
import { ErrorCode, JuteReader, MarshallingError, OpCode, type Zxid } from '@rookery/protocol';
import { plainAddress } from '../security/address-group.js';
import type { Acl, NodeOp, RaiseSequenceOp, SessionId, Txn } from '../state/txn.js';
import type { Requester } from './access.js';
import type { Connection, QueueEntry } from './connection.js';
import { withoutFormerDigests } from './former-digests.js';

/** `invoked`: the role of the member ended first, so it does not know what became of it. */
type AuditResult = 'success' | 'failure' | 'invoked';

/** A line of the audit log; the sink adds the time and the member. Absent: does not apply. */
export interface AuditRecord {
  /** 0 for none. */
  readonly session: SessionId;
  readonly user: readonly string[];
  readonly ip: string;
  readonly operation: string;
  readonly result: AuditResult;
  readonly znode?: string;
  readonly znodeType?: string;
  readonly acl?: string;
  readonly zxid?: Zxid;
  readonly version?: number;
  readonly bytes?: number;
  /** The code of the refusal. */
  readonly error?: number;
  /** Which command, word or route an operator has asked for. */
  readonly request?: string;
}

/** Numbers of lines since the member started. */
export interface AuditFigures {
  readonly written: number;
  readonly dropped: number;
  /** Refusals that have no line of their own; a line has their number. */
  readonly leftOut: number;
}

export interface AuditSink {
  readonly figures: AuditFigures;
  /** Never throws and never waits. */
  record(record: AuditRecord): void;
}

/** Longer texts are cut, so that no line is larger than a few of them. */
const TEXT_MAX = 8192;
const DIGEST_SHOWN = 4;
const CONFIG_NODE = '/zookeeper/config';
const PERMS = ['r', 'w', 'c', 'd', 'a'];

const OPERATIONS: ReadonlyMap<number, string> = new Map([
  [OpCode.create, 'create'],
  [OpCode.create2, 'create'],
  [OpCode.createContainer, 'create'],
  [OpCode.createTtl, 'create'],
  [OpCode.delete, 'delete'],
  [OpCode.setData, 'setData'],
  [OpCode.setAcl, 'setAcl'],
  [OpCode.raiseSequence, 'raiseSequence'],
  [OpCode.multi, 'multiOperation'],
  [OpCode.reconfig, 'reconfig'],
  [OpCode.closeSession, 'closeSession'],
]);

type Who = Pick<AuditRecord, 'session' | 'user' | 'ip'>;

export class Auditor {
  readonly #sink: AuditSink;

  constructor(sink: AuditSink) {
    this.#sink = sink;
  }

  /** A write is applied; its client may have left. */
  onApplied(zxid: Zxid, { op }: Txn, entry: QueueEntry): void {
    const who = whoOf(entry.ownSession, entry.requester);
    if (op.kind === 'error') {
      const error = op.codes === null ? op.code : firstReason(op.codes);
      this.#sink.record({ ...who, ...requestOf(entry), result: 'failure', zxid, error });
    } else if (op.kind === 'multi') {
      for (const part of op.ops) this.#onNodeOp(who, zxid, part);
    } else if (op.kind === 'closeSession') {
      this.#sink.record({ ...who, operation: 'closeSession', result: 'success', zxid });
    } else if ('path' in op) {
      this.#onNodeOp(who, zxid, op);
    }
  }

  /** The znode that a write names; null if that is none, or many. */
  znodeOf(opcode: number, body: Uint8Array): string | null {
    if (opcode === OpCode.reconfig) return CONFIG_NODE;
    if (opcode === OpCode.multi) return null;
    const path = firstText(body);
    return path === null ? null : cut(path);
  }

  /** The client has left, and the role has ended: nobody here learns what becomes of the write. */
  onUnknown(entry: QueueEntry): void {
    const who = whoOf(entry.ownSession, entry.requester);
    this.#sink.record({ ...who, ...requestOf(entry), result: 'invoked' });
  }

  /** The connection has its session from now on. */
  onSession({ session, requester, opensSession }: Connection, zxid: Zxid): void {
    const operation = opensSession ? 'createSession' : 'resumeSession';
    const who = whoOf(session, requester);
    this.#sink.record({ ...who, operation, result: 'success', zxid });
  }

  /** The client has ended its local session, which no transaction does. */
  onLocalClose({ session, requester }: Connection, zxid: Zxid): void {
    const who = whoOf(session, requester);
    this.#sink.record({ ...who, operation: 'closeSession', result: 'success', zxid });
  }

  /** A client has asked for a session that exists, with another password than its own. */
  onWrongPassword({ session, requester }: Connection): void {
    const who = whoOf(session, requester);
    const error = ErrorCode.authFailed;
    this.#sink.record({ ...who, operation: 'resumeSession', result: 'failure', error });
  }

  onAuthenticated({ session, requester }: Connection, isAccepted: boolean): void {
    const who = whoOf(session, requester);
    const operation = 'authenticate';
    if (isAccepted) this.#sink.record({ ...who, operation, result: 'success' });
    else this.#sink.record({ ...who, operation, result: 'failure', error: ErrorCode.authFailed });
  }

  #onNodeOp(who: Who, zxid: Zxid, op: NodeOp | RaiseSequenceOp): void {
    // It has changed nothing, and was no write.
    if (op.kind === 'check') return;
    const line = {
      ...who,
      operation: op.kind,
      result: 'success',
      zxid,
      znode: cut(op.path),
    } as const;
    switch (op.kind) {
      case 'create': {
        const facts = { znodeType: op.mode, acl: aclText(op.acl), version: 0 };
        return this.#sink.record({ ...line, ...facts, bytes: op.data?.length ?? 0 });
      }
      case 'setData':
        return this.#sink.record({ ...line, version: op.version, bytes: op.data?.length ?? 0 });
      case 'setAcl':
        return this.#sink.record({ ...line, acl: aclText(op.acl), version: op.version });
      default:
        return this.#sink.record(line);
    }
  }
}

function whoOf(session: SessionId, { identities, operatorAddress }: Requester): Who {
  const own = identities.find(({ scheme }) => scheme === 'ip')?.id;
  const address = operatorAddress ?? own ?? '';
  const shown = withoutFormerDigests(identities);
  const user = shown.filter(({ scheme }) => scheme !== 'ip').map(identityText);
  return { session, user, ip: plainAddress(address) };
}

function identityText({ scheme, id }: { readonly scheme: string; readonly id: string }): string {
  if (id === '') return scheme;
  if (scheme !== 'digest') return cut(`${scheme}:${id}`);
  const colon = id.indexOf(':');
  if (colon < 0) return cut(`digest:${id.slice(0, DIGEST_SHOWN)}`);
  return `${cut(`digest:${id.slice(0, colon)}`)}:${id.slice(colon + 1).slice(0, DIGEST_SHOWN)}`;
}

/** What can be told of a request without its transaction. */
function requestOf(entry: QueueEntry): Pick<AuditRecord, 'operation' | 'znode'> {
  const { opcode, znode } = entry;
  const operation = OPERATIONS.get(opcode) ?? `opcode ${opcode}`;
  return znode === null ? { operation } : { operation, znode };
}

/** Every request for one znode begins with its path. */
function firstText(body: Uint8Array): string | null {
  try {
    return new JuteReader(body).string();
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}

/** In a failed multi, operations before the wrong one have 0; those after it were skipped. */
function firstReason(codes: readonly number[]): number {
  return codes.find((code) => code !== ErrorCode.ok) ?? ErrorCode.ok;
}

function aclText(acl: readonly Acl[]): string {
  let text = '';
  for (const { scheme, id, perms } of acl) {
    if (text.length > TEXT_MAX) break;
    const letters = PERMS.filter((_, bit) => (perms & (1 << bit)) !== 0).join('');
    text += `${text === '' ? '' : ','}${identityText({ scheme, id })}:${letters}`;
  }
  return cut(text);
}

function cut(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
}
