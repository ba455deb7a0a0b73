/**
 * The short names, mostly of four letters, by which `cons` names operations. Tools parse them.
 */
import { OpCode } from '@rookery/protocol';

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

/** The most frequent ones are not looked up. */
export function operationName(opcode: number): string {
  if (opcode === OpCode.getData) return 'GETD';
  if (opcode === OpCode.setData) return 'SETD';
  return NAMES.get(opcode) ?? 'NA';
}
