/**
 * What Requests works with; Pipeline owns all of it.
 */
import type { WatchTable } from '../state/watches.js';
import type { Auditor } from './audit.js';
import type { Connections } from './connections.js';
import type { Logins } from './logins.js';
import type { Outbox } from './outbox.js';
import type { Throttle } from './throttle.js';

export interface RequestsParts {
  readonly outbox: Outbox;
  readonly throttle: Throttle;
  readonly logins: Logins;
  readonly watches: WatchTable;
  readonly connections: Connections;
  /** Null where nothing is audited. */
  readonly auditor: Auditor | null;
  /** The operations of one multiRead. */
  readonly multiOpsMax: number;
}
