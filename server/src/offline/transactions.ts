/**
 * Reads the transactions of a log, of either product, in one form for display.
 */
import { randomBytes } from 'node:crypto';
import type { Config } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import { ReplicatedState } from '../state/replicated-state.js';
import type { NodeOp, RaiseSequenceOp, Txn, TxnOp } from '../state/txn.js';
import { txnOf } from '../state/txn-codec.js';
import { Storage } from '../storage/index.js';
import {
  decodeLogRecord,
  type LogRecord,
  logRecordText,
  readLogFile,
} from '../zookeeper-files/index.js';
import { stoppedStores } from './stopped-member.js';

export interface Transaction {
  readonly zxid: bigint;
  /** ms since 1970. */
  readonly timeMs: number;
  /** The session whose request, beginning or end it is; 0 for none. An unsigned number. */
  readonly session: bigint;
  /**
   * The member whose client asked for it; 0 where the leader decided it by itself. Null in
   * ZooKeeper's logs, which do not tell.
   */
  readonly origin: number | null;
  /** `write`, or what happened to the session or the ensemble. */
  readonly kind: string;
  readonly changes: readonly Change[];
  /**
   * Returns the transaction as ZooKeeper's TxnLogToolkit prints it. It may be called until the next
   * one is read. Null in our own logs.
   */
  readonly toolkitText: (() => string) | null;
}

export interface Change {
  readonly kind: (NodeOp | RaiseSequenceOp)['kind'];
  readonly path: string;
  /** Versions, sizes and modes; for people. */
  readonly detail: string;
}

/** The transactions of one log file of ZooKeeper. Throws FileError, or the system's error. */
export async function* zooKeeperTransactions(path: string): AsyncGenerator<Transaction> {
  for await (const { bytes } of readLogFile(path)) {
    yield ofZooKeeper(decodeLogRecord(bytes), () => logRecordText(bytes));
  }
}

/** All that the log of a stopped member holds. Rejects with OperatorError. */
export async function* loggedTransactions(config: Config, id: number): AsyncGenerator<Transaction> {
  const stores = await stoppedStores(config, id);
  const { storage, recovered } = await Storage.open({
    ...stores,
    memberId: id,
    randomBytes,
    loader: new ReplicatedState(),
  });
  try {
    const { damaged } = recovered;
    if (damaged !== null)
      throw new OperatorError(`the data of member ${id} is damaged: ${damaged}`);
    for await (const batch of storage.readHistory(storage.base, storage.last)) {
      for (const proposal of batch) yield ofRookery(proposal.zxid, txnOf(proposal));
    }
  } finally {
    await storage.close();
  }
}

/** What the owner of a znode in ZooKeeper's log says of its mode. */
const MODES = { none: 'persistent', session: 'ephemeral', container: 'container' } as const;

function ofZooKeeper(
  { zxid, time, session, changes, begins, closes }: LogRecord,
  toolkitText: () => string,
): Transaction {
  const deleted = (closes ?? []).map((path) => ({ kind: 'delete', path, detail: '' }) as const);
  const described = changes.map((change): Change => {
    const { kind, path } = change;
    if (kind === 'create') {
      const mode = change.ttlMs === null ? MODES[change.owner] : 'ttl';
      return { kind, path, detail: `${sizeOf(change.data)}, ${mode}` };
    }
    if (kind === 'setData') {
      return { kind, path, detail: `version ${change.version}, ${sizeOf(change.data)}` };
    }
    return { kind, path, detail: kind === 'setAcl' ? `version ${change.version}` : '' };
  });
  const all = [...described, ...deleted];
  const unchanged = begins ? 'createSession' : 'no change';
  const kind = described.length > 0 ? 'write' : closes === null ? unchanged : 'closeSession';
  return {
    zxid,
    timeMs: Number(time),
    session: BigInt.asUintN(64, session),
    origin: null,
    kind,
    changes: all,
    toolkitText,
  };
}

function ofRookery(zxid: number, { origin, time, session, op }: Txn): Transaction {
  const changes = changesOf(op);
  return {
    zxid: BigInt(zxid),
    timeMs: time,
    // A new session has the zxid of its createSession as its id.
    session: BigInt(op.kind === 'createSession' ? zxid : session),
    origin,
    kind: changes.length > 0 ? 'write' : op.kind,
    changes,
    toolkitText: null,
  };
}

function changesOf(op: TxnOp): readonly Change[] {
  switch (op.kind) {
    case 'multi':
      return op.ops.map(changeOf);
    case 'create':
    case 'delete':
    case 'setData':
    case 'setAcl':
    case 'check':
    case 'raiseSequence':
      return [changeOf(op)];
    default:
      return [];
  }
}

function changeOf(op: NodeOp | RaiseSequenceOp): Change {
  const { kind, path } = op;
  switch (op.kind) {
    case 'create':
      return { kind, path, detail: `${sizeOf(op.data)}, ${op.mode}` };
    case 'setData':
      return { kind, path, detail: `version ${op.version}, ${sizeOf(op.data)}` };
    case 'setAcl':
      return { kind, path, detail: `version ${op.version}` };
    case 'raiseSequence':
      return { kind, path, detail: `next number ${op.creates}` };
    default:
      return { kind, path, detail: '' };
  }
}

function sizeOf(data: Uint8Array | null): string {
  return data === null ? 'no data' : `${data.length} bytes`;
}
