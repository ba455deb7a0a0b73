/**
 * The replicated sessions: id, timeout, password. Who is alive is decided elsewhere (leases).
 */
import type { SessionId } from './txn.js';

export interface Session {
  readonly timeoutMs: number;
  /** 16 bytes. */
  readonly password: Uint8Array;
}

export class SessionTable {
  get count(): number {
    throw new Error('skeleton');
  }
  has(_session: SessionId): boolean {
    throw new Error('skeleton');
  }
  get(_session: SessionId): Session | undefined {
    throw new Error('skeleton');
  }
  /** In ascending order of id. */
  sorted(): readonly (readonly [SessionId, Session])[] {
    throw new Error('skeleton');
  }
}
