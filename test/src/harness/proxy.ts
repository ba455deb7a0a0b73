/**
 * A TCP proxy in front of one peer port that can misbehave like a network.
 *
 * `hold` stops a direction as a network that loses every packet does: nothing is read, so bytes
 * wait and ends of streams stay unseen, and new connections are accepted but lead nowhere. `pass`
 * releases what was held, as retransmission does. `reset` breaks every connection. A delay keeps
 * the order. Directions are seen from the member that dials: `out` towards the target, `back` from
 * it.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

export type Direction = 'out' | 'back';

/** The number of bytes that may still pass before a direction is held. */
interface Allowance {
  bytes: number;
  readonly onUsedUp: () => void;
}

interface Link {
  readonly near: Socket;
  /**
   * The target is dialled only while nothing is held, so that a connection made during a cut leads
   * nowhere.
   */
  far: Socket | undefined;
}

export class LinkProxy {
  readonly port: number;
  readonly #targetPort: number;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #held = new Set<Direction>();
  readonly #allowances = new Map<Direction, Allowance>();
  #delayMs = 0;

  private constructor(server: Server, port: number, targetPort: number) {
    this.#server = server;
    this.port = port;
    this.#targetPort = targetPort;
    server.on('connection', (socket) => this.#onConnection(socket));
  }

  static listen(port: number, targetPort: number): Promise<LinkProxy> {
    return new Promise((resolve, reject) => {
      const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
      server.once('error', reject);
      server.listen({ port, host: '127.0.0.1' }, () => {
        resolve(new LinkProxy(server, port, targetPort));
      });
    });
  }

  hold(direction: Direction): void {
    this.#held.add(direction);
    for (const link of this.#links) this.#sourceOf(link, direction)?.pause();
  }

  pass(direction: Direction): void {
    this.#allowances.delete(direction);
    this.#held.delete(direction);
    for (const link of this.#links) {
      if (link.far === undefined) this.#maybeDial(link);
      const source = this.#sourceOf(link, direction);
      if (source?.destroyed === true) this.#onClose(link, direction);
      else if (link.far !== undefined) source?.resume();
    }
  }

  /** Lets about this many more bytes through, then holds the direction and calls back. */
  holdAfter(direction: Direction, bytes: number, onUsedUp: () => void): void {
    this.#allowances.set(direction, { bytes, onUsedUp });
  }

  /** Every chunk from now on arrives this much later. */
  delay(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Breaks all connections; the bytes held in them are lost. */
  reset(): void {
    for (const link of this.#links) {
      link.near.destroy();
      link.far?.destroy();
    }
    this.#links.clear();
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #onConnection(near: Socket): void {
    const link: Link = { near, far: undefined };
    this.#links.add(link);
    near.on('error', () => undefined);
    near.on('close', () => this.#onClose(link, 'out'));
    this.#maybeDial(link);
  }

  #maybeDial(link: Link): void {
    if (this.#held.size > 0) return;
    const far = connect({
      host: '127.0.0.1',
      port: this.#targetPort,
      allowHalfOpen: true,
      noDelay: true,
    });
    link.far = far;
    far.on('error', () => undefined);
    far.on('close', () => this.#onClose(link, 'back'));
    this.#pump('out', link.near, far);
    this.#pump('back', far, link.near);
    if (!this.#held.has('out')) link.near.resume();
  }

  #pump(direction: Direction, from: Socket, to: Socket): void {
    from.on('data', (chunk) => {
      this.#later(() => to.write(chunk));
      this.#spend(direction, chunk.length);
    });
    from.on('end', () => this.#later(() => to.end()));
  }

  #spend(direction: Direction, bytes: number): void {
    const allowance = this.#allowances.get(direction);
    if (allowance === undefined) return;
    allowance.bytes -= bytes;
    if (allowance.bytes > 0) return;
    this.#allowances.delete(direction);
    this.hold(direction);
    allowance.onUsedUp();
  }

  #later(action: () => void): void {
    if (this.#delayMs === 0) action();
    else setTimeout(action, this.#delayMs);
  }

  /**
   * One side has closed: the other side learns it, unless that direction is held (in that case at
   * `pass`).
   */
  #onClose(link: Link, direction: Direction): void {
    if (this.#held.has(direction)) return;
    this.#links.delete(link);
    link.near.destroy();
    link.far?.destroy();
  }

  #sourceOf(link: Link, direction: Direction): Socket | undefined {
    return direction === 'out' ? link.near : link.far;
  }
}
