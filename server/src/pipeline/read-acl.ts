/**
 * getACL: the list of a znode, for whoever may read or administer it.
 *
 * A client that may not administer it does not see the digests, from which a password could be
 * guessed.
 */
import { AclList, ErrorCode, Perms } from '@rookery/protocol';
import { NO_NODE } from '../state/tree.js';
import type { Acl } from '../state/txn.js';
import { mayDo } from './access.js';
import type { ReadScene } from './read-scene.js';
import { beginReply, writeError } from './reply.js';

export function readAcl(scene: ReadScene, xid: number, path: string): void {
  const { requester, state } = scene;
  const { writer } = scene.channel;
  const zxid = state.lastZxid;
  const node = state.tree.find(path);
  if (node === NO_NODE) return writeError(writer, { xid, zxid, code: ErrorCode.noNode });
  const acl = state.tree.acl(node);
  if (!mayDo(requester, acl, Perms.read | Perms.admin)) {
    return writeError(writer, { xid, zxid, code: ErrorCode.noAuth });
  }
  beginReply(writer, xid, zxid);
  AclList.write(writer, mayDo(requester, acl, Perms.admin) ? acl : acl.map(masked));
  state.tree.writeStat(node, writer);
  writer.endFrame();
}

function masked(acl: Acl): Acl {
  if (acl.scheme !== 'digest') return acl;
  return { ...acl, id: acl.id.replace(/:.*/s, ':x') };
}
