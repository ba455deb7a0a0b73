/**
 * One simulated member: the real core, a simulated disk, and the list of what was delivered.
 *
 * It survives its own crashes: `zab` is null while the process is down. Owns no routing; the
 * ensemble carries its outputs out.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import { type LinkId, type RoleName, Zab, type ZabOptions } from './core.js';
import { Disk } from './disk.js';
import { EMPTY_TREE, type Tree } from './tree.js';

/** A bulk transfer that the driver was asked for and has not begun. */
export type Transfer =
  | { readonly kind: 'snapshot'; readonly peer: PeerId; readonly link: LinkId }
  | {
      readonly kind: 'history';
      readonly peer: PeerId;
      readonly link: LinkId;
      readonly after: Zxid;
      readonly through: Zxid;
    };

export class SimulatedMember {
  readonly id: PeerId;
  disk = new Disk();
  zab: Zab | null = null;
  tree: Tree = EMPTY_TREE;
  /** What the core last said: may clients be served? */
  serves: RoleName = 'looking';
  transfers: Transfer[] = [];
  /** The own end of the link to each peer. */
  readonly links = new Map<PeerId, LinkId>();
  /** Not persisted by `stabilize`. */
  slow = false;
  starts = 0;

  constructor(id: PeerId) {
    this.id = id;
  }

  start(options: Omit<ZabOptions, 'id' | 'newEnsembleId' | 'newIdentity'>): Zab {
    this.starts += 1;
    const start = this.disk.recover();
    this.tree = this.disk.damaged ? EMPTY_TREE : this.disk.checkpoint;
    const newEnsembleId = `E${this.id}.${this.starts}`;
    const newIdentity = this.id * 1_000 + this.starts;
    this.zab = new Zab({ ...options, id: this.id, newEnsembleId, newIdentity }, start);
    return this.zab;
  }

  crash(): void {
    this.zab = null;
    this.serves = 'looking';
    this.transfers = [];
    this.links.clear();
    this.disk.crash();
  }
}
