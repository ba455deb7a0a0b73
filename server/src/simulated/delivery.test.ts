/**
 * Goal: however much a member has to apply, it does so in parts, and serves when all is applied.
 * Method: memory ensembles whose parts are single runs of the window; what each step delivers.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemberObserver } from '../driver/observer.js';
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
  course.push({ delivered: output.proposals.length, last: output.proposals.at(-1)?.zxid ?? 0 });
}

const MISSED = 200;
/** What it finds in its own log is one run: these, and the session. */
const BEFORE = 10;
/** A few proposals in each message, and so in each run; one run in each part. */
const tuning = { deliveryBytes: 0, chunkBytes: 300 };

describe('a long way to what is committed', () => {
  it('is gone in parts by a member that was away, which serves at its end', async () => {
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
    expect(Math.max(...parts.map(({ delivered }) => delivered))).toBeLessThanOrEqual(BEFORE + 1);
    await expectEqual(ensemble);
  });
});

function sum(parts: readonly { readonly delivered: number }[]): number {
  return parts.reduce((total, { delivered }) => total + delivered, 0);
}
