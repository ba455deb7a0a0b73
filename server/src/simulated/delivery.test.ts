/**
 * Goal: however much a member has to apply, it does so in parts, as many as a turn has time for,
 * and serves when all is applied. Method: memory ensembles whose parts are single proposals; what
 * each step delivers, and what is flushed in between.
 */
import { AddWatchRequest, OpCode, type PeerId, type Zxid } from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import type { MemberObserver } from '../driver/parts.js';
import { ClientPort } from '../net/client-port.js';
import type { ZabInput, ZabOutput } from '../zab/index.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  serving,
  write,
} from './scenario.js';

/** What a member's core did, in order: proposals delivered in one step, or that it serves. */
type Course = ({ readonly delivered: number; readonly last: Zxid } | 'serves')[];

class Courses {
  readonly byMember = new Map<PeerId, Course>();

  readonly observer = (id: PeerId): MemberObserver => {
    const course: Course = [];
    this.byMember.set(id, course);
    return {
      onRecovered: () => undefined,
      onApplied: () => undefined,
      onStep: (_input: ZabInput, outputs: readonly ZabOutput[]) => {
        for (const output of outputs) note(course, output);
      },
    };
  };

  /** Deliveries before the member served first. */
  before(id: PeerId): readonly Exclude<Course[number], 'serves'>[] {
    const course = this.byMember.get(id) ?? [];
    const deliveries = course.slice(0, course.indexOf('serves'));
    return deliveries.filter((one) => one !== 'serves');
  }
}

function note(course: Course, output: ZabOutput): void {
  if (output.kind === 'role' && output.role !== 'looking') course.push('serves');
  if (output.kind !== 'deliver') return;
  course.push({ delivered: output.batch.count, last: output.batch.last });
}

const RECURSIVE = 1;
const MISSED = 200;
/** What it finds in its own log, in one piece. */
const BEFORE = 10;
const tuning = { deliveryBytes: 0 };

describe('much committed history', () => {
  it('is delivered in parts at a member that was away, which serves at their end', async () => {
    const courses = new Courses();
    const ensemble = await serving({ tuning, observer: courses.observer });
    const away = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('before', BEFORE));
    ensemble.kill(away);
    await write(ensemble, client, names('missed', MISSED));
    await ensemble.start(away);
    await everyoneServes(ensemble);
    const parts = courses.before(away);
    expect(sum(parts)).toBeGreaterThanOrEqual(MISSED);
    expect(Math.max(...parts.map(({ delivered }) => delivered))).toBe(1);
    await expectEqual(ensemble);
  });

  it('does not hold up what is ready to be sent to clients', async () => {
    const inOneTurn = `deliver deliver flush ${'deliver '.repeat(BEFORE - 3)}flush`;
    expect(await courseOfWrites({ partMs: 0 })).toContain(inOneTurn);
  });

  it('takes a bounded time of each turn, which is flushed at its end', async () => {
    const turn = 'deliver deliver flush deliver flush';
    expect(await courseOfWrites({ partMs: 4 })).toContain(`${turn} ${turn} ${turn}`);
  });

  it('is sent once where a turn has time for two parts', async () => {
    const turn = 'deliver deliver flush';
    expect(await courseOfWrites({ partMs: 6 })).toContain(`${turn} ${turn} ${turn}`);
  });

  it('is delivered by one part in each turn at least', async () => {
    const turn = 'deliver flush';
    expect(await courseOfWrites({ partMs: 50 })).toContain(`${turn} ${turn} ${turn}`);
  });

  it('is delivered in small parts even if it came in one batch', async () => {
    const parts = await partsOfOneBatch({ watchers: 0 });
    expect(Math.max(...parts)).toBeLessThanOrEqual(32 << 10);
  });

  it('is delivered in smaller parts while many hear of each change', async () => {
    const parts = await partsOfOneBatch({ watchers: 128 });
    expect(Math.max(...parts)).toBeLessThanOrEqual(16 << 10);
  });
});

/** The bytes of each part of more than 100,000 bytes that one client wrote at once. */
async function partsOfOneBatch(by: { readonly watchers: number }): Promise<readonly number[]> {
  const parts: number[] = [];
  const observer = (): MemberObserver => ({
    onRecovered: () => undefined,
    onApplied: () => undefined,
    onStep: (_input: ZabInput, outputs: readonly ZabOutput[]) => {
      for (const output of outputs)
        if (output.kind === 'deliver') parts.push(output.batch.bytes.length);
    },
  });
  const ensemble = await serving({ size: 1, observer });
  const client = await connected(ensemble, 1);
  for (let count = 0; count < by.watchers; count++) {
    const watcher = await connected(ensemble, 1);
    watcher.send(OpCode.addWatch, AddWatchRequest, { path: '/', mode: RECURSIVE });
  }
  await ensemble.timers.advance(1_000);
  parts.length = 0;
  await write(ensemble, client, names('many', 3 * MISSED));
  expect(parts.reduce((total, bytes) => total + bytes, 0)).toBeGreaterThan(100_000);
  return parts;
}

/** What a member does when it applies some writes at once, each in so many ms. */
async function courseOfWrites({ partMs }: { readonly partMs: number }): Promise<string> {
  const events: string[] = [];
  const { flush } = ClientPort.prototype;
  const spy = vi.spyOn(ClientPort.prototype, 'flush').mockImplementation(function (
    this: ClientPort,
  ) {
    events.push('flush');
    flush.call(this);
  });
  let takeTime = () => {};
  const observer = (): MemberObserver => ({
    onRecovered: () => undefined,
    onApplied: () => undefined,
    onStep: ({ kind }: ZabInput) => {
      if (kind !== 'deliverMore') return;
      events.push('deliver');
      takeTime();
    },
  });
  const ensemble = await serving({ size: 1, tuning: { ...tuning, deliveryMs: 10 }, observer });
  const client = await connected(ensemble, 1);
  takeTime = () => ensemble.timers.suspendNow(partMs);
  await write(ensemble, client, names('many', BEFORE));
  spy.mockRestore();
  return events.join(' ');
}

function sum(parts: readonly { readonly delivered: number }[]): number {
  return parts.reduce((total, { delivered }) => total + delivered, 0);
}
