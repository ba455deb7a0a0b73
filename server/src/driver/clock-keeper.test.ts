/**
 * What a member logs of its own clock, where heartbeats of the others come late.
 */
import pino from 'pino';
import { expect, it } from 'vitest';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { ClockKeeper } from './clock-keeper.js';
import type { DriverParts } from './parts.js';

const TICK_MS = 50;
const PAUSE_MS = 12_000;

/** Member 1 of three, connected to both others. */
class OneMember {
  readonly timers = new ManualTimers();
  readonly lines: string[] = [];
  readonly #state = new ReplicatedState();
  readonly #keeper: ClockKeeper;

  constructor() {
    const parts = {
      options: { members: 3, clockToleranceMs: 4000, tickMs: TICK_MS },
      state: this.#state,
      timers: this.timers,
      logger: pino({}, { write: (line: string) => this.lines.push(JSON.parse(line).msg) }),
      peerPort: { sendTo: () => undefined },
    };
    this.#keeper = new ClockKeeper(parts as unknown as DriverParts);
    for (const peer of [2, 3]) this.#keeper.onConnected(peer);
  }

  /** Heartbeats of both others that were sent this long ago are read. */
  hear(lateMs: number): void {
    for (const peer of [2, 3]) this.#keeper.heard(peer, this.timers.wallMs() - lateMs);
  }

  async tick(): Promise<void> {
    await this.timers.advance(TICK_MS);
    this.#keeper.onTick(this.#state);
  }

  async pass(ms: number, lateMs: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.hear(lateMs);
      await this.tick();
    }
  }
}

it('a member that was suspended does not call its clock wrong for what it reads first', async () => {
  const member = new OneMember();
  await member.pass(2000, 0);
  await member.timers.advance(PAUSE_MS);
  await member.pass(500, PAUSE_MS);
  await member.pass(20_000, 0);
  expect(member.lines).toEqual([]);
});

it('a clock that stays wrong is told within two seconds, and once', async () => {
  const member = new OneMember();
  await member.pass(2000, 0);
  await member.pass(900, PAUSE_MS);
  expect(member.lines).toEqual([]);
  await member.pass(30_000, PAUSE_MS);
  expect(member.lines).toEqual(['clock.contradicted']);
  await member.pass(2000, 0);
  expect(member.lines).toEqual(['clock.contradicted', 'clock.agrees']);
});
