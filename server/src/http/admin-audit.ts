/**
 * What the admin port puts into the audit log beside the writes of data, which have lines as those
 * of any client: failed logins, downloads of the whole state, commands that change something,
 * sessions that are ended, and requests that are refused.
 *
 * A user is named only once his password is right, because people type passwords in its place.
 */
import { ErrorCode } from '@rookery/protocol';
import type { AuditRecord, AuditSink } from '../pipeline/audit.js';
import { plainAddress } from '../security/address-group.js';

/** Who asks: the name is that of a user whose password was right, or null. */
export interface Asker {
  readonly user: string | null;
  readonly remoteAddress: string;
}

type Action = Pick<AuditRecord, 'operation' | 'request' | 'zxid' | 'session'>;

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

  done(
    asker: Asker,
    { session = 0, ...action }: Partial<Action> & Pick<Action, 'operation'>,
  ): void {
    this.#sink?.record({ ...whoOf(asker), session, ...action, result: 'success' });
  }

  /** The asker may not do it. */
  refused(asker: Asker, request: string): void {
    const operation = 'adminRequest';
    const error = ErrorCode.noAuth;
    const who = whoOf(asker);
    this.#sink?.record({ ...who, session: 0, operation, request, result: 'failure', error });
  }
}

function whoOf({ user, remoteAddress }: Asker): Pick<AuditRecord, 'user' | 'ip'> {
  return { user: user === null ? [] : [`admin:${user}`], ip: plainAddress(remoteAddress) };
}
