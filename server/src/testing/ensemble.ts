/**
 * Runs a whole ensemble in this process, for users' tests: `startEnsemble`.
 *
 * The members are the product's own, on real sockets and LevelDB. This adds free ports, a
 * directory, and ways to kill a member, cut it off, and expire a session. Once `stop()` has
 * resolved nothing is left: no port, no timer, no file, and the process may end.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorMessage, type Int64, type PeerId } from '@rookery/protocol';
import { pino } from 'pino';
import type { Config } from '../config/config.js';
import { prefixedHex } from '../net/four-letter/format.js';
import { SharedClock } from './ending-timers.js';
import { EnsembleError } from './ensemble-error.js';
import { HOST, PortGuard } from './held-port.js';
import { configOf, sizeOf, type TestEnsembleOptions } from './options.js';
import { Seat, type SeatOwner, type TestMemberState } from './seat.js';
import { Watchers } from './watchers.js';

export interface TestMember {
  /** 1 to the size of the ensemble. */
  readonly id: number;
  /** `host:port` for clients; the same from start to stop, restarts included. */
  readonly clientAddress: string;
  /** As it is now; `leading` and `following` members serve clients. */
  readonly state: TestMemberState;
}

/** Every method that waits rejects with EnsembleError; see its codes. */
export interface TestEnsemble extends AsyncDisposable {
  /** The client addresses of all members, separated by commas; without a chroot. */
  readonly connectString: string;
  /** All members, in the order of their ids; the same objects from start to stop. */
  readonly members: readonly TestMember[];
  /** Resolves with the member that leads and serves, when there is one that is not cut off. */
  leader(): Promise<TestMember>;
  /**
   * Ends a member as `kill -9` does: its sockets close at once, what it was about to say is never
   * said, and what was not written to its disk by then never is. Resolves when its ports refuse
   * connections and its directory is free. Nothing happens when it is stopped.
   */
  kill(memberId: number): Promise<void>;
  /**
   * Starts a member with what is on its disk, on the same ports; one that runs is killed before.
   * Resolves when it serves: that takes a quorum of running members, so of several that are down
   * start as many at once.
   */
  restart(memberId: number): Promise<void>;
  /**
   * Cuts the links between a member and all others, as a network does that loses every packet: both
   * sides notice after `peerTimeoutMs`. Clients still reach it, while it serves them. Resolves when
   * nothing gets through. It holds until `heal`, over restarts.
   */
  cutOff(memberId: number): Promise<void>;
  /**
   * Ends a cut: what was sent meanwhile arrives late, or not if either side has given up. Resolves
   * when the member serves under the one leader that there is; at once if it is stopped.
   */
  heal(memberId: number): Promise<void>;
  /**
   * Lets a session expire now, whatever its client does: the leader closes it as it closes any
   * session whose time is up, its ephemeral znodes go, and its client learns of it when it
   * reconnects. Resolves when no member that serves knows the session. For local sessions there is
   * `noSuchSession`.
   */
  expireSession(sessionId: Int64): Promise<void>;
  /**
   * Stops every member and removes the temporary directory; pending calls are rejected with
   * `stopped`. Safe to call again: the answer is the same. Rejects with `memberFailed`, when all is
   * cleaned up, if a member had ended by itself.
   */
  stop(): Promise<void>;
}

/**
 * Starts an ensemble on free ports of 127.0.0.1; resolves when every member serves. Rejects with
 * EnsembleError (`invalidOption`, `timedOut`, `memberFailed`) or OperatorError (a directory that
 * cannot be used), and leaves nothing behind then.
 */
export async function startEnsemble(options: TestEnsembleOptions = {}): Promise<TestEnsemble> {
  const size = sizeOf(options);
  configOf(options, '/', placeholders(size));
  const ensemble = new Ensemble(options);
  try {
    await ensemble.start(size);
  } catch (error) {
    await ensemble.stop().catch(() => undefined);
    throw error;
  }
  return ensemble;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** A pause longer than this is the process's own; ticks come every half heartbeat. */
const CLOCK_STEP_MS = 100;

class Ensemble implements TestEnsemble {
  members: readonly TestMember[] = [];
  readonly #options: TestEnsembleOptions;
  readonly #watchers: Watchers;
  #seats: readonly Seat[] = [];
  #world: { readonly config: Config; readonly clock: SharedClock } | null = null;
  #temporary: string | null = null;
  #guard: PortGuard | null = null;
  #failure: EnsembleError | null = null;
  #stopped: Promise<void> | null = null;

  constructor(options: TestEnsembleOptions) {
    this.#options = options;
    this.#watchers = new Watchers(options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  get connectString(): string {
    return this.#seats.map((seat) => seat.clientAddress).join(',');
  }

  async start(size: number): Promise<void> {
    const dataDir = await this.#makeDirectory();
    this.#guard = await PortGuard.open();
    const seats: Seat[] = [];
    this.#seats = seats;
    const owner = this.#ownerOfSeats(this.#guard);
    for (let id = 1; id <= size; id++) seats.push(await Seat.open(id, owner));
    this.members = seats.map(memberOf);
    const config = configOf(this.#options, dataDir, seats.map(addressOf));
    const clock = new SharedClock(Math.max(config.peerHeartbeatMs, CLOCK_STEP_MS));
    this.#world = { config, clock };
    await Promise.all(seats.map((seat) => seat.restart(config, clock)));
    await this.#serving('every member to serve', seats);
  }

  leader(): Promise<TestMember> {
    return this.#watchers.until('a leader', () => {
      const seat = this.#leadingSeat();
      return (seat && this.members[seat.id - 1]) ?? null;
    });
  }

  async kill(memberId: number): Promise<void> {
    await this.#seat(memberId).kill();
  }

  async restart(memberId: number): Promise<void> {
    const seat = this.#seat(memberId);
    if (this.#world === null) throw stoppedError();
    await seat.restart(this.#world.config, this.#world.clock);
    await this.#serving(`member ${memberId} to serve`, [seat]);
  }

  async cutOff(memberId: number): Promise<void> {
    this.#seat(memberId).cut();
  }

  async heal(memberId: number): Promise<void> {
    const seat = this.#seat(memberId);
    seat.heal();
    await this.#watchers.until(`member ${memberId} to serve`, () => {
      if (seat.state === 'stopped') return true;
      return this.#leadingSeat() !== undefined && serves(seat) ? true : null;
    });
  }

  async expireSession(sessionId: Int64): Promise<void> {
    const session = Number(sessionId);
    const id = prefixedHex(sessionId);
    const hasIt = (seat: Seat) => seat.member?.knowsSession(session) ?? false;
    await this.leader();
    if (!Number.isSafeInteger(session) || !this.#seats.some(hasIt)) {
      throw new EnsembleError('noSuchSession', `there is no session ${id}`);
    }
    await this.#watchers.until(`session ${id} to end`, () => {
      // Again and again: the leader that was asked before may be gone.
      const leader = this.#leadingSeat();
      leader?.member?.expireSession(session);
      const isKnown = this.#seats.some((seat) => serves(seat) && hasIt(seat));
      return leader === undefined || isKnown ? null : true;
    });
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#watchers.fail(stoppedError());
    const closed = await Promise.allSettled(this.#seats.map((seat) => seat.close()));
    this.#guard?.close();
    if (this.#temporary !== null) await rm(this.#temporary, { recursive: true, force: true });
    if (this.#failure !== null) throw this.#failure;
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }

  async #makeDirectory(): Promise<string> {
    const { dataDir } = this.#options;
    if (dataDir !== undefined) {
      await mkdir(dataDir, { recursive: true });
      return resolve(dataDir);
    }
    this.#temporary = await mkdtemp(join(tmpdir(), 'rookery-'));
    return this.#temporary;
  }

  #ownerOfSeats(guard: PortGuard): SeatOwner {
    const { tuning, logger = pino({ level: 'silent' }) } = this.#options;
    return {
      guard,
      logger,
      tuning,
      onChange: () => this.#watchers.look(),
      onFailure: (member, cause) => this.#onFailure(member, cause),
    };
  }

  #onFailure(member: PeerId, cause: unknown): void {
    const reason = errorMessage(cause);
    const message = `member ${member} ended by itself: ${reason}`;
    this.#failure ??= new EnsembleError('memberFailed', message, { cause });
    this.#watchers.fail(this.#failure);
  }

  async #serving(what: string, seats: readonly Seat[]): Promise<void> {
    await this.#watchers.until(what, () => {
      for (const { id, state } of seats) {
        if (state === 'stopped') throw new EnsembleError('notRunning', `member ${id} was killed`);
      }
      return seats.every(serves) ? true : null;
    });
  }

  /** One that is cut off, or was until now, may believe for a while that it leads. */
  #leadingSeat(): Seat | undefined {
    const isAlone = this.#seats.length === 1;
    const all = this.#seats.filter((seat) => seat.state === 'leading' && (isAlone || !seat.isCut));
    return all.length === 1 ? all[0] : undefined;
  }

  #seat(memberId: number): Seat {
    if (this.#stopped !== null) throw stoppedError();
    const seat = this.#seats[memberId - 1];
    if (seat !== undefined) return seat;
    const ids = this.#seats.map(({ id }) => id).join(', ');
    throw new EnsembleError('noSuchMember', `no member has the id ${memberId}, the ids are ${ids}`);
  }
}

function serves(seat: Seat): boolean {
  return seat.state === 'leading' || seat.state === 'following';
}

function memberOf(seat: Seat): TestMember {
  return {
    id: seat.id,
    clientAddress: seat.clientAddress,
    get state() {
      return seat.state;
    },
  };
}

function addressOf(seat: Seat): Config['servers'][number] {
  const ports = { clientPort: seat.clientPort.port, peerPort: seat.peerPort.port };
  return { id: seat.id, host: HOST, ...ports };
}

/** To check the settings before anything is opened. */
function placeholders(size: number): Config['servers'] {
  return Array.from({ length: size }, (_, index) => {
    return { id: index + 1, host: HOST, clientPort: 2 * index + 1, peerPort: 2 * index + 2 };
  });
}

function stoppedError(): EnsembleError {
  return new EnsembleError('stopped', 'the ensemble was stopped');
}
