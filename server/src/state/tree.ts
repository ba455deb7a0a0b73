/**
 * The tree of znodes: reads, and the four changes that apply uses.
 */
import type { JuteWriter, Stat, Zxid } from '@rookery/protocol';
import type { Acl, NodeMode, SessionId } from './txn.js';

/** The number of a node; valid until that node is deleted. NO_NODE when there is none. */
export const NO_NODE = -1;

export class Tree {
  /** Without ZooKeeper's alias of the root: 4 for a fresh tree. */
  get nodeCount(): number {
    throw new Error('skeleton');
  }
  get ephemeralCount(): number {
    throw new Error('skeleton');
  }
  /** As ZooKeeper counts it: path characters plus data bytes; 44 for a fresh tree. */
  get approximateDataSize(): number {
    throw new Error('skeleton');
  }
  /** The node at `path`, or NO_NODE (an ill-formed path too). */
  find(_path: string): number {
    throw new Error('skeleton');
  }
  path(_node: number): string {
    throw new Error('skeleton');
  }
  parent(_node: number): number {
    throw new Error('skeleton');
  }
  stat(_node: number): Stat {
    throw new Error('skeleton');
  }
  writeStat(_node: number, _writer: JuteWriter): void {
    throw new Error('skeleton');
  }
  /** A view that is valid until the next change of the tree. */
  data(_node: number): Uint8Array | null {
    throw new Error('skeleton');
  }
  /** As a jute buffer. */
  writeData(_node: number, _writer: JuteWriter): void {
    throw new Error('skeleton');
  }
  acl(_node: number): readonly Acl[] {
    throw new Error('skeleton');
  }
  /** Names, in no particular order. */
  children(_node: number): string[] {
    throw new Error('skeleton');
  }
  /** As a jute vector of strings. */
  writeChildren(_node: number, _writer: JuteWriter): void {
    throw new Error('skeleton');
  }
  childCount(_node: number): number {
    throw new Error('skeleton');
  }
  /** All nodes below `node`, itself not included; a walk of the subtree unless it is the root. */
  descendantCount(_node: number): number {
    throw new Error('skeleton');
  }
  version(_node: number): number {
    throw new Error('skeleton');
  }
  /** Creates ever done below this node: the next sequence number. Clients see visibleCversion. */
  cversion(_node: number): number {
    throw new Error('skeleton');
  }
  aversion(_node: number): number {
    throw new Error('skeleton');
  }
  czxid(_node: number): Zxid {
    throw new Error('skeleton');
  }
  mzxid(_node: number): Zxid {
    throw new Error('skeleton');
  }
  pzxid(_node: number): Zxid {
    throw new Error('skeleton');
  }
  mode(_node: number): NodeMode {
    throw new Error('skeleton');
  }
  /** The session of an ephemeral, 0 for every other mode. */
  owner(_node: number): SessionId {
    throw new Error('skeleton');
  }
  ttlMs(_node: number): number {
    throw new Error('skeleton');
  }
  /** Paths in code-unit order. */
  ephemeralsOf(_session: SessionId): readonly string[] {
    throw new Error('skeleton');
  }
  /** The sessions that own ephemerals, in ascending order. */
  sessionsWithEphemerals(): readonly SessionId[] {
    throw new Error('skeleton');
  }
}
