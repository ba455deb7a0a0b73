/**
 * The classes of client requests: who answers each opcode, and how; what a member without a quorum
 * refuses, and the short names of operations.
 *
 * It holds only the tables. This member answers a `read` in its place in the session's order, and
 * an `auth` too, which is however decided when it comes. A `sasl` is answered when it comes. A
 * `write` and a `close` are decided by the leader, and a `sync` asks it. An `unknown` one is
 * answered -6 and ends the connection, as in ZooKeeper; the internal opcodes, deleteContainer and a
 * check outside of a multi (3.9.3) count as unknown.
 */
import { OpCode, unreachable } from '@rookery/protocol';
import type { QueueEntry } from './connection.js';

type RequestClass = 'read' | 'auth' | 'sasl' | 'write' | 'close' | 'sync' | 'unknown';

export function classOf(opcode: number): RequestClass {
  switch (opcode) {
    case OpCode.exists:
    case OpCode.getData:
    case OpCode.getAcl:
    case OpCode.getChildren:
    case OpCode.getChildren2:
    case OpCode.ping:
    case OpCode.setWatches:
    case OpCode.setWatches2:
    case OpCode.addWatch:
    case OpCode.checkWatches:
    case OpCode.removeWatches:
    case OpCode.multiRead:
    case OpCode.getEphemerals:
    case OpCode.getAllChildrenNumber:
    case OpCode.getChildrenPage:
    case OpCode.whoAmI:
      return 'read';
    case OpCode.sasl:
      return 'sasl';
    case OpCode.auth:
      return 'auth';
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer:
    case OpCode.createTtl:
    case OpCode.delete:
    case OpCode.setData:
    case OpCode.setAcl:
    case OpCode.raiseSequence:
    case OpCode.multi:
    case OpCode.reconfig:
      return 'write';
    case OpCode.closeSession:
      return 'close';
    case OpCode.sync:
      return 'sync';
    default:
      return 'unknown';
  }
}

/**
 * The class of a request on a connection that has not authenticated as this member requires
 * (`isAdmitted`). It may authenticate; anything else ends the connection.
 */
export function classOfStranger({ opcode }: { readonly opcode: number }): RequestClass {
  return opcode === OpCode.auth || opcode === OpCode.sasl ? classOf(opcode) : 'unknown';
}

/** How a request is ordered within its session; the end of a local session concerns nobody else. */
export function kindOf(opcode: number, isLocal: boolean): QueueEntry['kind'] {
  const requestClass = classOf(opcode);
  switch (requestClass) {
    case 'close':
      return isLocal ? 'read' : 'close';
    case 'write':
    case 'sync':
      return requestClass;
    case 'read':
    case 'auth':
    case 'sasl':
    case 'unknown':
      return 'read';
    default:
      return unreachable(requestClass);
  }
}

const NAMES: ReadonlyMap<number, string> = new Map([
  [OpCode.create, 'CREA'],
  [OpCode.create2, 'CREA'],
  [OpCode.delete, 'DELE'],
  [OpCode.exists, 'EXIS'],
  [OpCode.getData, 'GETD'],
  [OpCode.setData, 'SETD'],
  [OpCode.getAcl, 'GETA'],
  [OpCode.setAcl, 'SETA'],
  [OpCode.getChildren, 'GETC'],
  [OpCode.getChildren2, 'GETC'],
  [OpCode.sync, 'SYNC'],
  [OpCode.ping, 'PING'],
  [OpCode.multi, 'MULT'],
  [OpCode.multiRead, 'MLTR'],
  [OpCode.createContainer, 'CREA'],
  [OpCode.createTtl, 'CREA'],
  [OpCode.reconfig, 'RECO'],
  [OpCode.checkWatches, 'CHKW'],
  [OpCode.removeWatches, 'REMW'],
  [OpCode.addWatch, 'ADDW'],
  [OpCode.setWatches2, 'STW2'],
  [OpCode.getEphemerals, 'GETE'],
  [OpCode.getAllChildrenNumber, 'GETACN'],
  [OpCode.getChildrenPage, 'GETP'],
  [OpCode.raiseSequence, 'RAIS'],
  [OpCode.setWatches, 'SETW'],
  [OpCode.createSession, 'SESS'],
  [OpCode.closeSession, 'CLOS'],
]);

/**
 * The short names, mostly of four letters, by which `cons` names operations. Tools parse them.
 *
 * The most frequent ones are not looked up.
 */
export function operationName(opcode: number): string {
  if (opcode === OpCode.getData) return 'GETD';
  if (opcode === OpCode.setData) return 'SETD';
  return NAMES.get(opcode) ?? 'NA';
}

/**
 * Read-only mode: what a member without a quorum answers to a client that allows it.
 *
 * It answers reads of what is applied, and nothing that could change anything or asks what the
 * quorum has agreed on.
 *
 * Such a request is answered -119 at once, and the connection stays.
 */
export function isRefusedReadOnly(requestClass: RequestClass): boolean {
  switch (requestClass) {
    case 'write':
    case 'sync':
      return true;
    case 'read':
    case 'auth':
    case 'sasl':
    case 'close':
    case 'unknown':
      return false;
    default:
      return unreachable(requestClass);
  }
}
