/**
 * Turns audit records into lines of JSON and hands them to the file.
 *
 * The keys are ZooKeeper's, with time, member, zxid, version, bytes, error and leftOut. Lines that
 * the file does not take are counted and logged at a bounded rate; where the log is required, the
 * first of them ends the member through `lost`. JSON escapes control characters, so no name can
 * forge a line. Made by server.ts.
 */
import { ErrorCode, errorMessage, formatZxid, type PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import { OperatorError } from '../config/operator-error.js';
import { prefixedHex } from '../net/four-letter/format.js';
import { RateLimitedLog } from '../net/rate-limited-log.js';
import type { Timer, Timers } from '../net/timers.js';
import type { AuditRecord, AuditSink } from '../pipeline/audit.js';
import { faultOf, isFull } from '../storage/errors.js';
import { AuditFile, type LineOwner, probeAuditFile, type RotatedFile } from './audit-file.js';

/** How this member audits; `path` is that of `auditFileOf`. */
interface Auditing extends RotatedFile {
  readonly member: PeerId;
  readonly required: boolean;
  readonly logger: Logger;
  readonly timers: Timers;
}

const REFUSALS_INTERVAL_MS = 1000;

/** The file of one member: members may share a machine and the config file. */
export function auditFileOf(path: string, member: PeerId): string {
  const [, stem = path, ending = ''] = /^(.*[^/])(\.[^./]+)$/.exec(path) ?? [];
  return `${stem}-${member}${ending}`;
}

/**
 * If the file cannot be opened, it throws where the log is required and warns where it is not.
 * Throws StorageFault for a full disk, where a later start may find space, as at run time;
 * otherwise OperatorError.
 */
export function checkAuditFile({
  path,
  required,
  logger,
}: {
  readonly path: string;
  readonly required: boolean;
  readonly logger: Logger;
}): void {
  try {
    probeAuditFile(path);
  } catch (error) {
    if (required && isFull(error)) throw faultOf(path, error);
    const reason = errorMessage(error);
    const message = `The audit log ${path} cannot be written, and auditRequired is set: ${reason}.`;
    if (required) throw new OperatorError(message, { cause: error });
    logger.warn({ path, reason }, 'audit.unwritable');
  }
}

export class AuditLog implements AuditSink, LineOwner {
  readonly figures = { written: 0, dropped: 0, leftOut: 0 };
  /** Resolves with the reason when a required log has lost a line, otherwise never. */
  readonly lost: Promise<Error>;
  readonly #auditing: Auditing;
  readonly #file: AuditFile;
  readonly #log: RateLimitedLog;
  readonly #refusals = new RefusalBound();
  #reportLost: ((error: Error) => void) | null = null;
  /** Lost lines that no line in the file counts yet. */
  #unnoted = 0;
  #timer: Timer | null = null;
  #closing: Promise<void> | null = null;

  constructor(auditing: Auditing) {
    this.#auditing = auditing;
    this.lost = new Promise((resolve) => {
      this.#reportLost = resolve;
    });
    this.#log = new RateLimitedLog(auditing.logger, auditing.timers);
    this.#file = new AuditFile(auditing, this);
    this.#writeOwn('serverStart');
  }

  record(record: AuditRecord): void {
    if (this.#closing !== null) return;
    const isBounded = isAtNoCost(record);
    if (!isBounded) return this.#write(record);
    this.#timer ??= this.#auditing.timers.after(REFUSALS_INTERVAL_MS, () => this.#writeLeftOut());
    if (this.#refusals.admits(record)) this.#write(record);
    else this.figures.leftOut += 1;
  }

  /** Resolves when all lines are in the file, or counted as dropped. Safe to call again. */
  close(): Promise<void> {
    if (this.#closing !== null) return this.#closing;
    this.#timer?.cancel();
    this.#writeLeftOut();
    this.#writeOwn('serverStop');
    this.#closing = this.#file.close().then(() => this.#log.close());
    return this.#closing;
  }

  /** Writes a record of what this member itself does. */
  #writeOwn(operation: string): void {
    this.#write({ session: 0, user: [], ip: '', operation, result: 'success' });
  }

  #writeLeftOut(): void {
    this.#timer = null;
    for (const { last, leftOut } of this.#refusals.take()) this.#write(last, leftOut);
  }

  #write(record: AuditRecord, leftOut?: number): void {
    const { session, user, ip, operation, result, znode, znodeType, acl } = record;
    const { zxid, version, bytes, error, request } = record;
    const { member, timers } = this.#auditing;
    this.#file.push(
      JSON.stringify({
        time: new Date(timers.wallMs()).toISOString(),
        member,
        session: session === 0 ? undefined : prefixedHex(session),
        user,
        ip,
        operation,
        request,
        znode,
        znode_type: znodeType,
        acl,
        result,
        zxid: zxid === undefined ? undefined : formatZxid(zxid),
        version,
        bytes,
        error,
        leftOut,
      }),
    );
  }

  /** Also writes a line with the number that are missing before it. */
  onWritten(lines: number): void {
    this.figures.written += lines;
    const leftOut = this.#unnoted;
    if (leftOut === 0) return;
    this.#unnoted = 0;
    const own = { session: 0, user: [], ip: '' };
    this.#write({ ...own, operation: 'linesLost', result: 'failure' }, leftOut);
  }

  onUnrotated(reason: string): void {
    this.#log.error('audit.not_rotated', { path: this.#auditing.path, reason });
  }

  onLost(lines: number, reason: string): void {
    const { path, required } = this.#auditing;
    this.figures.dropped += lines;
    this.#unnoted += lines;
    this.#log.error('audit.lost', { path, reason, dropped: this.figures.dropped });
    if (!required || this.#reportLost === null) return;
    const report = this.#reportLost;
    // The file may hang, so the end of the member does not wait for it.
    this.#closing = Promise.resolve();
    void this.#file.close();
    this.#timer?.cancel();
    this.#reportLost = null;
    // Not an OperatorError: a disk may have room again, so that a supervisor should try again.
    report(new Error(`The audit log ${path} has lost a line, and is required: ${reason}.`));
  }
}

/** Whether it is what a stranger can cause at no cost: a refusal, or a four-letter word. */
function isAtNoCost({ error, operation }: AuditRecord): boolean {
  if (operation === 'fourLetterWord') return true;
  return error === ErrorCode.noAuth || error === ErrorCode.authFailed;
}

interface Refusals {
  /** The last one that was left out, and the number of those that have no line of their own. */
  readonly last: AuditRecord;
  readonly leftOut: number;
}

const KINDS_MAX = 1000;
const OTHERS = 'others';
const OF_ADDRESSES: ReadonlySet<string> = new Set(['authenticate', 'resumeSession']);

class RefusalBound {
  readonly #kinds = new Map<string, Refusals | null>();

  /** Whether the refusal has a line of its own. */
  admits(record: AuditRecord): boolean {
    const { operation, ip, session } = record;
    // An operator has no session, and a stranger may claim any.
    const isOfAddress = session === 0 || OF_ADDRESSES.has(operation);
    const own = isOfAddress ? `${operation} of ${ip}` : `session ${session}`;
    const isKnown = this.#kinds.has(own);
    if (!isKnown && this.#kinds.size < KINDS_MAX) {
      this.#kinds.set(own, null);
      return true;
    }
    const kind = isKnown ? own : OTHERS;
    const { leftOut = 0 } = this.#kinds.get(kind) ?? {};
    this.#kinds.set(kind, { last: record, leftOut: leftOut + 1 });
    return false;
  }

  /** The second is over. */
  take(): readonly Refusals[] {
    const all = [...this.#kinds.values()].filter((one) => one !== null);
    this.#kinds.clear();
    return all;
  }
}
