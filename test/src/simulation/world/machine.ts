/**
 * One member's machine: its clock, its disk, and the process that runs on it, if any.
 *
 * It owns the lives of the process: opening, running, failing, dying. Promises of a dead process
 * never continue, and nothing of it is recorded. Only the world calls it.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import type { Logger } from 'pino';
import {
  type Config,
  Member,
  type MemberObserver,
  type Timers,
  type Transport,
  type Tuning,
} from '../../simulated.js';
import type { DiskStruck } from '../contract/observation.js';
import type { Random } from '../random.js';
import type { Recorder } from '../run/recorder.js';
import { MachineClock, ProcessTimers } from './clocks.js';
import { type DiskOptions, SimulatedDisk } from './disk.js';
import type { Scheduler } from './scheduler.js';

export interface MachineParts {
  readonly id: PeerId;
  readonly host: string;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly recorder: Recorder;
  readonly config: Config;
  readonly tuning: Tuning;
  readonly disk: DiskOptions;
  /** Time that its process uses between two readings of its clock. */
  readonly workMs: number;
  readonly logger: Logger;
  transport(timers: Timers): Transport;
  /** The process is gone, so its streams must be closed, too. */
  onGone(how: 'stopped' | 'crashed' | 'failed'): void;
  /** Whether it serves clients now. */
  onServing(id: PeerId, serves: boolean): void;
  /** It ended by itself, and no fault explains it. */
  onFailure(error: unknown): void;
}

interface Process {
  readonly incarnation: number;
  readonly timers: ProcessTimers;
  /** Null while it opens. */
  member: Member | null;
  isStopping: boolean;
}

/** The secret of all members, where the run has them authenticate each other. */
const PEER_SECRET = Buffer.from('the secret of all simulated members');

export class Machine {
  readonly id: PeerId;
  readonly host: string;
  readonly clock: MachineClock;
  readonly disk: SimulatedDisk;
  /** How its file differs from those of the others. */
  differs: Partial<Config> | null = null;
  /** 0 while it is not stalled. */
  stalledUntilMs = 0;
  readonly #parts: MachineParts;
  readonly #random: Random;
  #process: Process | null = null;
  #incarnations = 0;
  #uuids = 0;

  constructor(parts: MachineParts) {
    this.#parts = parts;
    this.id = parts.id;
    this.host = parts.host;
    this.#random = parts.random.fork('process');
    // Monotonic clocks of machines have nothing in common.
    this.clock = new MachineClock(parts.scheduler, parts.id * 1_000_000);
    this.disk = new SimulatedDisk(parts.disk, parts.random.fork('disk'), (when) => {
      parts.scheduler.next(() => this.crash({ inFlight: when === 'after' }));
    });
  }

  get isUp(): boolean {
    return this.#process !== null;
  }
  /** Null while it is down or opens. */
  get member(): Member | null {
    return this.#process?.member ?? null;
  }

  start(): boolean {
    if (this.#process !== null) return false;
    const { scheduler, workMs } = this.#parts;
    const timers = new ProcessTimers(scheduler, this.clock, workMs);
    const incarnation = ++this.#incarnations;
    const process: Process = { incarnation, timers, member: null, isStopping: false };
    this.#process = process;
    this.disk.attach(timers);
    this.#open(process).catch((error: unknown) => this.#failed(process, error));
    return true;
  }

  crash({ inFlight }: { readonly inFlight: boolean }): boolean {
    const process = this.#process;
    if (process === null) return false;
    this.#end(process, 'crashed', { inFlight, keepsAll: false });
    return true;
  }

  stop(): boolean {
    const process = this.#process;
    if (process === null || process.member === null || process.isStopping) return false;
    process.isStopping = true;
    void process.member.close();
    return true;
  }

  /** With `standsStill`, its monotonic clock does until it wakes, if it was not stalled before. */
  stall(durationMs: number, standsStill: boolean): boolean {
    if (this.#process === null) return false;
    const untilMs = this.#parts.scheduler.nowMs + durationMs;
    if (standsStill && this.stalledUntilMs === 0) this.clock.standStill();
    this.stalledUntilMs = Math.max(this.stalledUntilMs, untilMs);
    this.#process.timers.stall();
    return true;
  }

  /** As ProcessTimers.wake; null if it is not stalled. */
  wake(): readonly (() => void)[] | null {
    if (this.#process === null || this.stalledUntilMs === 0) return null;
    this.stalledUntilMs = 0;
    this.clock.goOn();
    return this.#process.timers.wake();
  }

  recordDiskStruck(how: DiskStruck['how'], keeps?: Zxid): void {
    this.#parts.recorder.diskStruck({ ...this.#who(this.#incarnations), how, keeps });
  }

  async #open(process: Process): Promise<void> {
    const { tuning, logger } = this.#parts;
    const config = { ...this.#parts.config, ...this.differs };
    const options = { id: this.id, logger, found: false, tuning };
    const member = await Member.open(config, options, {
      transport: this.#parts.transport(process.timers),
      timers: process.timers,
      treeStore: this.disk.tree,
      logFiles: this.disk.log,
      random: () => this.#random.next(),
      randomBytes: (count) => this.#random.bytes(count),
      uuid: () => `${this.host}-${++this.#uuids}`,
      directoryBytes: () => Promise.resolve(0),
      spaceOf: () => Promise.resolve(this.disk.space),
      peerSecrets: () => [PEER_SECRET],
      keepAside: async (_, name, lines) => {
        for await (const _line of lines);
        return name;
      },
      observer: this.#observer(process),
    });
    if (process.timers.isDead) return;
    process.member = member;
    member.closed.then(
      () => this.#stopped(process),
      (error: unknown) => this.#failed(process, error),
    );
    await member.listen();
  }

  #observer(process: Process): MemberObserver {
    const { recorder } = this.#parts;
    return {
      onRecovered: (recovered) => {
        if (process.timers.isDead) return;
        recorder.started({ ...this.#who(process.incarnation), recovered });
      },
      onStep: (input, outputs) => {
        if (process.timers.isDead) return;
        const { incarnation } = process;
        const ownMs = this.clock.nowMs;
        recorder.step({ member: this.id, incarnation, ownMs, input, outputs });
        for (const output of outputs) {
          if (output.kind === 'role') this.#parts.onServing(this.id, output.role !== 'looking');
        }
      },
      onApplied: (zxid, txn, state) => {
        if (process.timers.isDead) return;
        const { incarnation } = process;
        const ownMs = this.clock.nowMs;
        recorder.applied({ member: this.id, incarnation, ownMs, zxid, txn, state });
      },
    };
  }

  #stopped(process: Process): void {
    if (!process.timers.isDead) this.#end(process, 'stopped', { inFlight: false, keepsAll: true });
  }

  #failed(process: Process, error: unknown): void {
    if (process.timers.isDead) return;
    // A different file may be refused at the start.
    if (!this.disk.hasFailed && this.differs === null) this.#parts.onFailure(error);
    this.#end(process, 'failed', { inFlight: false, keepsAll: false });
  }

  #end(
    process: Process,
    how: 'stopped' | 'crashed' | 'failed',
    disk: { readonly inFlight: boolean; readonly keepsAll: boolean },
  ): void {
    this.#process = null;
    this.stalledUntilMs = 0;
    this.clock.goOn();
    process.timers.kill();
    process.member?.abort();
    this.disk.detach(disk);
    this.#parts.recorder.gone({ ...this.#who(process.incarnation), how });
    this.#parts.onServing(this.id, false);
    this.#parts.onGone(how);
  }

  #who(incarnation: number) {
    return { member: this.id, incarnation, ownMs: this.clock.nowMs };
  }
}
