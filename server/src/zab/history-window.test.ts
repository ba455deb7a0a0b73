/** Compares the window of a history with a plain list of proposals, which is what it stands for. */
import { type Proposal, ProposalBatch, type Zxid } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { History } from './history.js';

type Step =
  | { readonly kind: 'keep'; readonly count: number }
  | { readonly kind: 'deliver'; readonly share: number; readonly bytesMax: number }
  | { readonly kind: 'truncate'; readonly share: number }
  | {
      readonly kind: 'slice';
      readonly from: number;
      readonly to: number;
      readonly bytesMax: number;
    };

/** Proposals. */
const RUN_MAX = 5;
const share = fc.double({ min: 0, max: 1, noNaN: true });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('keep' as const), count: fc.integer({ min: 1, max: RUN_MAX }) }),
  fc.record({ kind: fc.constant('deliver' as const), share, bytesMax: fc.nat(3000) }),
  fc.record({ kind: fc.constant('truncate' as const), share }),
  fc.record({ kind: fc.constant('slice' as const), from: share, to: share, bytesMax: fc.nat(300) }),
);

/** Zxids are 1, 2, 3, ...; a truncation takes some of them away, and they come again. */
class Model {
  readonly history = new History({ base: 0, ranges: [] }, 0, []);
  last: Zxid = 0;
  delivered: Zxid = 0;
  /** How often each zxid was made, so that one that comes again has another body. */
  #made = 0;
  readonly bodies = new Map<Zxid, string>();

  keep(count: number): void {
    const proposals: Proposal[] = [];
    for (let left = count; left > 0; left--) {
      const zxid = this.last + 1;
      this.#made += 1;
      this.bodies.set(zxid, `${zxid}/${this.#made}`);
      proposals.push({ zxid, previous: this.last, body: Buffer.from(this.bodies.get(zxid) ?? '') });
      this.last = zxid;
    }
    this.history.append(ProposalBatch.of(proposals), this.#made);
  }

  between(low: Zxid, high: Zxid, at: number): Zxid {
    return low + Math.round(at * (high - low));
  }

  run(step: Step): void {
    const { history } = this;
    if (step.kind === 'keep') {
      this.keep(step.count);
    } else if (step.kind === 'deliver') {
      this.delivered = this.between(this.delivered, this.last, step.share);
      history.trim(this.delivered, step.bytesMax);
      expect(history.windowBase).toBeLessThanOrEqual(this.delivered);
    } else if (step.kind === 'truncate') {
      this.last = this.between(this.delivered, this.last, step.share);
      history.truncate(this.last);
    } else {
      const after = this.between(history.windowBase, this.last, Math.min(step.from, step.to));
      const through = this.between(history.windowBase, this.last, Math.max(step.from, step.to));
      const found = history.slice(after, through).flatMap((batch) => [...batch]);
      const expected = Array.from({ length: through - after }, (_, index) => after + 1 + index);
      expect(found.map(({ zxid }) => zxid)).toEqual(expected);
      expect(found.map(({ previous }) => previous)).toEqual(expected.map((zxid) => zxid - 1));
      expect(found.map(({ body }) => Buffer.from(body).toString())).toEqual(
        expected.map((zxid) => this.bodies.get(zxid)),
      );
      expect(this.inParts(after, through, step.bytesMax)).toEqual(expected);
    }
  }

  /** Each part is a proposal at least, and not more than `bytesMax` if it is more than one. */
  inParts(after: Zxid, through: Zxid, bytesMax: number): readonly Zxid[] {
    const found: Zxid[] = [];
    for (let at = after; at < through; at = found.at(-1) ?? through) {
      const part = this.history.slice(at, through, bytesMax);
      const bytes = part.reduce((sum, batch) => sum + batch.bytes.length, 0);
      const zxids = part.flatMap((batch) => [...batch]).map(({ zxid }) => zxid);
      if (zxids.length > 1) expect(bytes).toBeLessThanOrEqual(bytesMax);
      expect(zxids.length).toBeGreaterThan(0);
      found.push(...zxids);
    }
    return found;
  }
}

describe('the window of a history', () => {
  it('gives what a list would, kept, delivered, trimmed and cut in any order', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const model = new Model();
        for (const step of steps) model.run(step);
        model.run({ kind: 'slice', from: 0, to: 1, bytesMax: 100 });
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a small part of what is delivered, and all of what is not', () => {
    const model = new Model();
    for (let run = 0; run < 100; run++) model.keep(10);
    model.history.trim(500, 1000);
    expect(model.history.windowBase).toBe(500);
    model.history.trim(990, 2000);
    expect(model.history.windowBase).toBeGreaterThan(950);
    expect(model.history.windowBase).toBeLessThanOrEqual(990);
  });

  it('refuses what is older than it', () => {
    const model = new Model();
    for (let run = 0; run < 3; run++) model.keep(10);
    model.history.trim(20, 0);
    expect(() => model.history.slice(10, 30)).toThrow(/older than the window/);
  });
});
