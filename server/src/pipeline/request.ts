/**
 * The classes of client requests: who answers each opcode, and how.
 *
 * Owns only the table. `read` is answered by this member at its place in the session's order;
 * `auth` too, but it is decided when it comes; `write` by the leader's decision; `unserved` is a
 * known opcode that is not served yet: error -6, the connection stays. `unknown` is answered -6 as
 * well and ends the connection, as ZooKeeper does; the internal opcodes and a check outside a multi
 * count as unknown (3.9.3).
 */
import { OpCode } from '@rookery/protocol';

export type RequestClass = 'read' | 'auth' | 'write' | 'close' | 'sync' | 'unserved' | 'unknown';

export function classOf(opcode: number): RequestClass {
  switch (opcode) {
    case OpCode.exists:
    case OpCode.getData:
    case OpCode.getAcl:
    case OpCode.getChildren:
    case OpCode.getChildren2:
    case OpCode.ping:
    case OpCode.setWatches:
    case OpCode.whoAmI:
      return 'read';
    case OpCode.auth:
      return 'auth';
    case OpCode.create:
    case OpCode.create2:
    case OpCode.delete:
    case OpCode.setData:
    case OpCode.setAcl:
    case OpCode.multi:
      return 'write';
    case OpCode.closeSession:
      return 'close';
    case OpCode.sync:
      return 'sync';
    case OpCode.reconfig:
    case OpCode.checkWatches:
    case OpCode.removeWatches:
    case OpCode.createContainer:
    case OpCode.createTtl:
    case OpCode.multiRead:
    case OpCode.sasl:
    case OpCode.getEphemerals:
    case OpCode.getAllChildrenNumber:
    case OpCode.setWatches2:
    case OpCode.addWatch:
      return 'unserved';
    default:
      return 'unknown';
  }
}
