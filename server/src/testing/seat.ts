/**
 * Holds one member of a test ensemble: its ports, its directory, and its current run, if any.
 *
 * Starting, killing and closing wait for each other, so no two runs ever share the directory. A
 * seat has started when its ports are open; it never waits for a quorum. Called by `ensemble.ts`.
 */
import { addressText, type PeerId } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { storageTuning, type Tuning } from '../config/tuning.js';
import { Member } from '../member/member.js';
import { TcpTransport } from '../net/tcp.js';
import type { Transport } from '../net/transport.js';
import { openStores } from '../storage/index.js';
import { EndingTimers, type SharedClock } from './ending-timers.js';
import { EndingTransport } from './ending-transport.js';
import { HeldPort, HOST, type PortGuard } from './held-port.js';
import { EndingSurroundings } from './surroundings.js';

/** `stopped`: killed, or the ensemble is. `looking`: it runs and serves no client. */
export type TestMemberState = 'leading' | 'following' | 'looking' | 'stopped';

/** The ensemble, as its seats know it. */
export interface SeatOwner {
  readonly guard: PortGuard;
  readonly logger: Logger;
  readonly tuning: Tuning | undefined;
  /** Something may have changed in a member, or in what it can reach. */
  onChange(): void;
  /** The member ended by itself. */
  onFailure(id: PeerId, error: unknown): void;
}

interface Run {
  readonly member: Member;
  readonly surroundings: EndingSurroundings;
}

export class Seat {
  readonly id: PeerId;
  readonly clientPort: HeldPort;
  readonly peerPort: HeldPort;
  readonly #transport: Transport;
  readonly #owner: SeatOwner;
  #run: Run | null = null;
  #isCut = false;
  #isClosed = false;
  /** What was asked for last; the next one waits for it. */
  #last: Promise<void> = Promise.resolve();

  /** Finds free ports and keeps them. */
  static async open(id: PeerId, owner: SeatOwner): Promise<Seat> {
    const transport = new TcpTransport(owner.logger);
    const clientPort = await HeldPort.open(transport, owner.guard);
    try {
      const peerPort = await HeldPort.open(transport, owner.guard);
      return new Seat(id, owner, transport, { clientPort, peerPort });
    } catch (error) {
      await clientPort.close();
      throw error;
    }
  }

  private constructor(
    id: PeerId,
    owner: SeatOwner,
    transport: Transport,
    { clientPort, peerPort }: { readonly clientPort: HeldPort; readonly peerPort: HeldPort },
  ) {
    this.id = id;
    this.#owner = owner;
    this.#transport = transport;
    this.clientPort = clientPort;
    this.peerPort = peerPort;
  }

  get clientAddress(): string {
    return addressText(HOST, this.clientPort.port);
  }

  get state(): TestMemberState {
    return this.#run?.member.role ?? 'stopped';
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Null while it is stopped. */
  get member(): Member | null {
    return this.#run?.member ?? null;
  }

  /** Resolves when its ports are open. What runs is killed before. */
  restart(config: Config, clock: SharedClock): Promise<void> {
    return this.#inTurn(async () => {
      await this.#kill();
      if (!this.#isClosed) await this.#start(config, clock);
    });
  }

  /** As a crash; resolves when ports and directory are free. Nothing happens when it is stopped. */
  kill(): Promise<void> {
    return this.#inTurn(() => this.#kill());
  }

  /** Stops it cleanly and gives the ports back; it cannot be started again. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#inTurn(async () => {
      const run = this.#run;
      this.#run = null;
      try {
        await run?.member.close();
        await run?.member.closed;
      } finally {
        await run?.surroundings.end();
        await Promise.all([this.clientPort.close(), this.peerPort.close()]);
      }
    });
  }

  cut(): void {
    this.#isCut = true;
    this.#run?.surroundings.transport.cut();
    this.#owner.onChange();
  }

  heal(): void {
    this.#isCut = false;
    this.#run?.surroundings.transport.heal();
    this.#owner.onChange();
  }

  async #kill(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    this.#run = null;
    const ended = run.surroundings.end();
    run.member.abort();
    // This member has no further turn that would report the change, and the others may have none.
    this.#owner.onChange();
    await ended;
  }

  async #start(config: Config, clock: SharedClock): Promise<void> {
    const { id } = this;
    const { tuning } = this.#owner;
    const stores = await openStores({ ...config, memberId: id, ...storageTuning(tuning) });
    const timers = new EndingTimers(clock, () => this.#owner.onChange());
    const transport = new EndingTransport(this.#transport, timers, this);
    const surroundings = new EndingSurroundings(timers, transport, stores);
    try {
      const logger = this.#owner.logger.child({ member: id });
      const options = { id, logger, found: false, ...(tuning === undefined ? {} : { tuning }) };
      const member = await Member.open(config, options, surroundings);
      this.#run = { member, surroundings };
      member.closed.catch((error: unknown) => this.#onFailure(member, error));
      if (this.#isCut) surroundings.transport.cut();
      await member.listen();
    } catch (error) {
      this.#run = null;
      await surroundings.end();
      throw error;
    }
  }

  /** What is left of it ends as it would with its process. */
  #onFailure(member: Member, error: unknown): void {
    if (this.#run?.member !== member) return;
    void this.kill();
    this.#owner.onFailure(this.id, error);
  }

  #inTurn(action: () => Promise<void>): Promise<void> {
    const result = this.#last.then(action);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
