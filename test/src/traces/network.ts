/**
 * The simulated network: at most one link per pair of members, with a FIFO queue in each direction.
 *
 * Nothing moves by itself. When an end is closed, what was sent before still arrives, then the end;
 * a cut pair delivers nothing at all. Pings may have a queue of their own, so that a trace can hold
 * a message back without making its link look dead.
 */
import type { CoreMessage, PeerId, Zxid } from '@rookery/protocol';
import type { LinkId } from './core.js';
import type { Tree } from './tree.js';

export type Packet =
  | { readonly kind: 'connected' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'message'; readonly message: CoreMessage }
  /** One of the two chunks of a snapshot. */
  | { readonly kind: 'chunk'; readonly index: number; readonly zxid: Zxid; readonly tree: Tree };

export interface Direction {
  readonly from: PeerId;
  readonly to: PeerId;
  readonly link: LinkId;
  packets: Packet[];
  pings: CoreMessage[];
  /** Whether the sender still has its end. */
  open: boolean;
}

export class Network {
  readonly #directions = new Map<string, Direction>();
  readonly #cut = new Set<string>();
  readonly #pingsApart: boolean;
  #links = 0;

  constructor(pingsApart: boolean) {
    this.#pingsApart = pingsApart;
  }

  /** In a fixed order, independent of the order in which links were made. */
  directions(): readonly Direction[] {
    return [...this.#directions.values()].sort((a, b) => a.from - b.from || a.to - b.to);
  }

  direction(from: PeerId, to: PeerId): Direction | undefined {
    return this.#directions.get(`${from}>${to}`);
  }

  /** Makes a new link in place of any old one; both ends learn of it by the first packet. */
  connect(a: PeerId, b: PeerId): LinkId {
    this.#links += 1;
    const link = this.#links;
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const packets: Packet[] = [{ kind: 'connected' }];
      this.#directions.set(`${from}>${to}`, { from, to, link, packets, pings: [], open: true });
    }
    return link;
  }

  isConnected(a: PeerId, b: PeerId): boolean {
    return this.direction(a, b)?.open === true && this.direction(b, a)?.open === true;
  }

  send(from: PeerId, to: PeerId, link: LinkId, packet: Packet): void {
    const direction = this.direction(from, to);
    if (direction?.link !== link || !direction.open) return;
    if (this.#pingsApart && packet.kind === 'message' && packet.message.kind === 'ping') {
      direction.pings.push(packet.message);
    } else {
      direction.packets.push(packet);
    }
  }

  /** `from` closes its end: it receives nothing more, and the other end finally learns of it. */
  close(from: PeerId, to: PeerId, link: LinkId): void {
    const out = this.direction(from, to);
    const back = this.direction(to, from);
    if (out?.link !== link || !out.open) return;
    out.open = false;
    out.pings = [];
    if (back !== undefined) {
      back.packets = [];
      back.pings = [];
    }
    if (back?.open) out.packets.push({ kind: 'closed' });
    else out.packets = [];
  }

  /** Both ends are closed and nothing in flight arrives. */
  break(a: PeerId, b: PeerId): void {
    for (const direction of [this.direction(a, b), this.direction(b, a)]) {
      if (direction === undefined) continue;
      direction.open = false;
      direction.packets = [];
      direction.pings = [];
    }
  }

  take(from: PeerId, to: PeerId): { readonly link: LinkId; readonly packet: Packet } | null {
    if (this.isCut(from, to)) return null;
    const direction = this.direction(from, to);
    const packet = direction?.packets.shift();
    return direction === undefined || packet === undefined
      ? null
      : { link: direction.link, packet };
  }

  takePings(): readonly { readonly direction: Direction; readonly ping: CoreMessage }[] {
    const taken: { direction: Direction; ping: CoreMessage }[] = [];
    for (const direction of this.directions()) {
      if (this.isCut(direction.from, direction.to)) continue;
      for (const ping of direction.pings) taken.push({ direction, ping });
      direction.pings = [];
    }
    return taken;
  }

  /** Loses the newest `count` packets that `from` has sent to `to`. */
  lose(from: PeerId, to: PeerId, count: number): void {
    const direction = this.direction(from, to);
    if (direction === undefined) return;
    direction.packets.splice(Math.max(0, direction.packets.length - count), count);
  }

  cut(a: PeerId, b: PeerId): void {
    this.#cut.add(pairOf(a, b));
  }
  heal(a: PeerId, b: PeerId): void {
    this.#cut.delete(pairOf(a, b));
  }
  isCut(a: PeerId, b: PeerId): boolean {
    return this.#cut.has(pairOf(a, b));
  }
}

function pairOf(a: PeerId, b: PeerId): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`;
}
