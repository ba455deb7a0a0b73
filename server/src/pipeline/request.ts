/**
 * The classes of client requests: who answers each opcode, and how.
 *
 * It holds only the tables. This member answers a `read` in its place in the session's order, and
 * an `auth` too, which is however decided when it comes. A `sasl` is answered when it comes. A
 * `write` and a `close` are decided by the leader, and a `sync` asks it. An `unknown` one is
 * answered -6 and ends the connection, as in ZooKeeper; the internal opcodes, deleteContainer and a
 * check outside of a multi (3.9.3) count as unknown.
 */
import { OpCode, unreachable } from '@rookery/protocol';
import type { QueueEntry } from './commit-queue.js';

export type RequestClass = 'read' | 'auth' | 'sasl' | 'write' | 'close' | 'sync' | 'unknown';

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
