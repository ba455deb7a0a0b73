/**
 * Audits what operators do at the admin port: failed logins, downloads of the whole state, commands
 * that change something, sessions that are ended, and requests that are refused. Writes of data
 * have lines like those of any client.
 *
 * A user is named only after a correct password, because people type passwords in its place.
 */
import { ErrorCode, type Zxid } from '@rookery/protocol';
import type { AuditSink } from '../pipeline/audit.js';
import { plainAddress } from '../security/address-group.js';
import type { SessionId } from '../state/txn.js';

/** Who asks: the name is that of a user whose password was right, or null. */
export interface Asker {
  readonly user: string | null;
  readonly remoteAddress: string;
}

/** What an operator has done. */
interface Action {
  readonly operation: string;
  /** The command of the admin port. */
  readonly request?: string;
  /** Of the state that was downloaded. */
  readonly zxid?: Zxid;
  /** The session that was ended; 0 for none. */
  readonly session?: SessionId;
}

export class AdminAudit {
  readonly #sink: AuditSink | null;

  /** Null where nothing is audited. */
  constructor(sink: AuditSink | null) {
    this.#sink = sink;
  }

  /** A wrong password, or one that came while its user had to wait. */
  failedLogin(remoteAddress: string): void {
    const ip = plainAddress(remoteAddress);
    this.#sink?.record({
      session: 0,
      user: [],
      ip,
      operation: 'authenticate',
      result: 'failure',
      error: ErrorCode.authFailed,
    });
  }

  done(asker: Asker, { session = 0, ...action }: Action): void {
    this.#sink?.record({ ...auditedAs(asker), session, ...action, result: 'success' });
  }

  /** The asker may not do it. */
  refused(asker: Asker, request: string): void {
    const operation = 'adminRequest';
    const error = ErrorCode.noAuth;
    const who = auditedAs(asker);
    this.#sink?.record({ ...who, session: 0, operation, request, result: 'failure', error });
  }
}

function auditedAs({ user, remoteAddress }: Asker) {
  return { user: user === null ? [] : [`admin:${user}`], ip: plainAddress(remoteAddress) };
}
