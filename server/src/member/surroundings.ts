/**
 * Defines everything that a member has from outside: clock, network, disk, randomness. The same
 * member runs on sockets and LevelDB or in a simulator.
 */
import type { BackupTaker } from '../driver/backup-schedule.js';
import type { MemberObserver } from '../driver/parts.js';
import type { MeasureSpace } from '../driver/write-bounds.js';
import type { EventRing } from '../measures/event-ring.js';
import type { Timers } from '../net/timers.js';
import type { Transport } from '../net/transport.js';
import type { ClientTls, PeerTls } from '../net/watched-tls.js';
import type { AuditSink } from '../pipeline/audit.js';
import type { LoginDelays } from '../security/login-delays.js';
import type { PasswordHashes } from '../security/password-hashes.js';
import type { SaslServer } from '../security/sasl.js';
import type { KeyValueStore, KnownRecord, LogDirectory } from '../storage/index.js';
import type { FileBudget, MemoryLimit } from './budgets.js';
import type { MeasureBytes } from './disk-measures.js';
import type { keepAside } from './keep-aside.js';

/** The world that a member lives in. */
export interface Surroundings {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly treeStore: KeyValueStore;
  readonly logFiles: LogDirectory;
  /** The marks that name the owner of each directory; absent without directories. */
  readonly marks?: readonly KnownRecord[];
  /** A random number in [0, 1), for jitter only. */
  random(): number;
  randomBytes(count: number): Uint8Array;
  /** Returns an id that no process has ever had. */
  uuid(): string;
  readonly directoryBytes: MeasureBytes;
  /** Absent where nothing is a disk. */
  readonly spaceOf?: MeasureSpace;
  /** Does what the function of that name does. */
  readonly keepAside: typeof keepAside;
  /** Absent where members share a process: then none of them is bounded by memory. */
  readonly memory?: MemoryLimit;
  /** Absent where no scheduled backups are configured. */
  readonly backupTaker?: BackupTaker;
  /** How many files and sockets may be open; absent where nothing is a file. */
  readonly files?: FileBudget;
  /** Absent where clients connect in plain text. Its owner closes it. */
  readonly clientTls?: ClientTls | undefined;
  /** The secrets by which members authenticate each other; they are read at each new link. */
  readonly peerSecrets?: () => readonly Uint8Array[];
  /** Recent events of this member, for reports; absent where none are kept. */
  readonly events?: EventRing;
  /** How long addresses wait after failed logins; absent where no other port has logins. */
  readonly logins?: LoginDelays;
  /** Absent where no setting has a password that is hashed by scrypt. */
  readonly passwords?: PasswordHashes;
  /** Absent where clients do not authenticate by SASL. */
  readonly sasl?: SaslServer | undefined;
  /** Absent where members have no TLS. Its owner closes it. */
  readonly peerTls?: PeerTls | null;
  /** Absent where nothing is audited. Its owner closes it. */
  readonly audit?: AuditSink | undefined;
  /** Only the simulator has one. */
  readonly observer?: MemberObserver;
}
