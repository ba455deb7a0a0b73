import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, it } from 'vitest';
import type { Surroundings } from '../api/surroundings.js';
import { warningsInto } from '../testing/warnings-into.js';
import { LagMonitor } from './lag-monitor.js';

/** Time that jumps, as it does for a process that was busy. */
class Jumping implements Surroundings {
  now = 0;
  callback: (() => void) | null = null;

  nowMs(): number {
    return this.now;
  }

  setTimer(_delayMs: number, callback: () => void): () => void {
    this.callback = callback;
    return () => {
      this.callback = null;
    };
  }

  random(): number {
    return 0;
  }

  uuid(): string {
    return '';
  }

  jump(ms: number): void {
    this.now += ms;
    this.callback?.();
  }
}

it('tells each dangerous lag on its channel and warns once in a while', () => {
  const surroundings = new Jumping();
  const warnings: string[] = [];
  const monitor = new LagMonitor({ surroundings, log: warningsInto(warnings), name: 'one' });
  const lags: unknown[] = [];
  const onLag = (message: unknown) => lags.push(message);
  subscribe('rookery:client:lag', onLag);
  monitor.start(12_000);
  surroundings.jump(1_000);
  surroundings.jump(3_999);
  expect(lags).toEqual([]);
  surroundings.jump(4_000);
  surroundings.jump(9_000);
  expect(lags).toEqual([
    { client: 'one', lagMs: 3_000, sessionTimeoutMs: 12_000 },
    { client: 'one', lagMs: 8_000, sessionTimeoutMs: 12_000 },
  ]);
  expect(warnings.length).toBe(1);
  expect(warnings[0]).toContain('3000 ms');
  surroundings.jump(60_000);
  expect(warnings.length).toBe(2);
  monitor.stop();
  expect(surroundings.callback).toBeNull();
  unsubscribe('rookery:client:lag', onLag);
});

it('warns of the lag before a loss, however short a time after another warning', () => {
  const surroundings = new Jumping();
  const warnings: string[] = [];
  const monitor = new LagMonitor({ surroundings, log: warningsInto(warnings), name: 'one' });
  monitor.start(12_000);
  surroundings.jump(4_000);
  surroundings.jump(5_000);
  expect(warnings.length).toBe(1);
  surroundings.now += 9_000;
  monitor.measureNow();
  expect(warnings.length).toBe(2);
  expect(warnings[1]).toContain('8000 ms');
  monitor.stop();
});
