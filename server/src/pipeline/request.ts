/**
 * The classes of client requests: who answers each opcode, and how.
 *
 * Owns only the tables. `read` is answered by this member at its place in the session's order;
 * `auth` too, but it is decided when it comes; `write` by the leader's decision. `unknown` is
 * answered -6 and ends the connection, as ZooKeeper does; the internal opcodes, deleteContainer and
 * a check outside a multi (3.9.3) count as unknown.
 */
import { OpCode, unreachable } from '@rookery/protocol';
import type { QueueEntry } from './commit-queue.js';

export type RequestClass = 'read' | 'auth' | 'write' | 'close' | 'sync' | 'unknown';

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
    case OpCode.sasl:
    case OpCode.whoAmI:
      return 'read';
    case OpCode.auth:
      return 'auth';
    case OpCode.create:
    case OpCode.create2:
    case OpCode.createContainer:
    case OpCode.createTtl:
    case OpCode.delete:
    case OpCode.setData:
    case OpCode.setAcl:
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

/** The place of a request in its session's order; a local session's end concerns nobody else. */
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
    case 'unknown':
      return 'read';
    default:
      return unreachable(requestClass);
  }
}
