import { expect, it } from 'vitest';
import type { Surroundings } from '../api/surroundings.js';
import { ScriptedNetwork } from '../testing/scripted-server.js';
import { warningsInto } from '../testing/warnings-into.js';
import { HostList } from '../wire/host-list.js';
import { SessionMonitors } from './session-monitors.js';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Time that jumps, as for a stopped process; late timers then run in the order of their times. */
class Jumping implements Surroundings {
  #nowMs = 0;
  readonly #timers = new Set<Timer>();

  nowMs(): number {
    return this.#nowMs;
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  random(): number {
    return 0;
  }

  uuid(): string {
    return '';
  }

  jump(ms: number): void {
    this.#nowMs += ms;
    const late = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#nowMs);
    late.sort((one, other) => one.dueMs - other.dueMs);
    for (const timer of late) if (this.#timers.delete(timer)) timer.callback();
  }
}

it('warns of the lag that costs the session, also when the timer of the loss runs first', () => {
  const surroundings = new Jumping();
  const warnings: string[] = [];
  const told: string[][] = [];
  const monitors = new SessionMonitors({
    surroundings,
    log: warningsInto(warnings),
    name: 'one',
    contact: { lastAnsweredMs: 0, provableMs: 0 },
    hosts: new HostList([], { resolve: async () => [], shuffle: false, random: () => 0 }),
    dial: new ScriptedNetwork().dial,
    connectTimeoutMs: 1_000,
    isLagProof: false,
    onFound: () => undefined,
    onLost: () => {
      told.push([...warnings]);
      monitors.stop();
    },
  });
  monitors.onConnected({ timeoutMs: 12_000, readOnly: false });
  // Lag is measured each second; the session counts as lost after 10.8 s.
  for (let second = 1; second <= 10; second++) surroundings.jump(1_000);
  expect(warnings).toEqual([]);
  surroundings.jump(20_000);
  expect(told).toEqual([[expect.stringContaining('blocked or suspended for 19000 ms')]]);
});
