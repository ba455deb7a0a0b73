/**
 * One simulated member: the real core, a simulated disk, and the list of what was delivered.
 *
 * The object outlives crashes: `zab` is null while the process is down. It does no routing; the
 * ensemble carries its outputs out.
 */
import { type PeerId, WIRE_VERSION_MAX, type Zxid } from '@rookery/protocol';
import { type DiskRoom, type LinkId, type RoleName, Zab, type ZabOptions } from './core.js';
import { Disk } from './disk.js';
import { EMPTY_TREE, type Tree } from './tree.js';

/** A bulk transfer that the core has requested and the driver has not begun. */
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
  /** Whether clients may be served, as the core said last. */
  serves: RoleName = 'looking';
  transfers: Transfer[] = [];
  /** What its core is told of its disk, also after a start. */
  room: DiskRoom = 'enough';
  /** Whether it leads and refuses data for want of room. */
  refuses = false;
  /** The newest wire version that it speaks. */
  version = WIRE_VERSION_MAX;
  /** The member's own end of the link to each peer. */
  readonly links = new Map<PeerId, LinkId>();
  /** `stabilize` does not make its outputs durable. */
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
    this.refuses = false;
    this.transfers = [];
    this.links.clear();
    this.disk.crash();
  }
}
