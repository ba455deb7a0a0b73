/**
 * Hellos and messages from one release to the next: what is read, what is ignored, what is refused.
 */
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { MarshallingError } from '../jute/errors.js';
import { decodePeerMessage, encodePeerFrame } from './codec.js';
import { added, epoch, flag, Layout, text } from './fields.js';
import { WIRE_VERSION_MAX, WIRE_VERSION_MIN } from './wire-version.js';

const WIRE_VERSION_MAX_BEFORE_0_3 = 17;

const packr = new Packr({ useRecords: false });

describe('a hello', () => {
  it('of a later version with more fields is read, so that it can be refused by its version', () => {
    const offer = [
      ['wireMin', 8],
      ['release', '9.9'],
    ];
    const hello = decodePeerMessage(packr.pack([25, 9, 1, 3, 'i', '', false, offer, 'new', [1]]));
    const levels = { level: 1, levelMax: 1, levelAgreed: 1 };
    const expected = { wireMin: 8, release: '9.9', ...levels, treeBytes: 0 };
    expect(hello).toMatchObject({ kind: 'hello', version: 9, id: 1, to: 3, offer: expected });
  });

  it('has the layout that releases before 0.3.0 read, and a version that none of them speaks', () => {
    const levels = { level: 1, levelMax: 2, levelAgreed: 2 };
    const start = { incarnation: 'i', count: 1, instance: 'p' };
    const said = { shared: [], treeBytes: 0, start, earlierStarts: ['o'], lastSeen: start };
    const offer = { wireMin: 7, release: 'r', ...levels, ...said };
    const ids = { id: 1, to: 3, instance: 'i', ensembleId: 'e' };
    const version = WIRE_VERSION_MAX;
    const frame = encodePeerFrame({ kind: 'hello', version, ...ids, founded: true, offer });
    const [code, ...fields] = packr.unpack(frame.subarray(4));
    expect(code).toBe(25);
    expect(fields.slice(0, 6)).toEqual([version, 1, 3, 'i', 'e', true]);
    expect(fields).toHaveLength(7);
    expect(WIRE_VERSION_MIN).toBeGreaterThan(WIRE_VERSION_MAX_BEFORE_0_3);
  });

  it('may say by name what this release does not know', () => {
    const offer = [
      ['later', [1, 'two']],
      ['level', 3],
    ];
    const hello = decodePeerMessage(packr.pack([25, 9, 1, 3, 'i', '', false, offer]));
    expect(hello).toMatchObject({ offer: { level: 3, levelMax: 1 } });
  });

  it.each([
    ['a level that is no number', [['level', 'x']]],
    ['a level below 0', [['level', -1]]],
    ['a level past all bounds', [['levelMax', 1e9]]],
    ['a tree of less than nothing', [['treeBytes', -1]]],
    ['a release of 101 characters', [['release', 'x'.repeat(101)]]],
    ['a name without a value', [['level']]],
    ['a name that is no text', [[7, 7]]],
    ['a shared setting of 1001 characters', [['shared', [['servers', 'x'.repeat(1001)]]]]],
    ['a shared setting of three parts', [['shared', [['a', 'b', 'c']]]]],
    ['a shared setting that is no text', [['shared', [['a', 1]]]]],
    ['no list', 'release'],
  ])('is refused when its offer has %s', (_name, offer) => {
    const hello = packr.pack([25, 9, 1, 3, 'i', '', false, offer]);
    expect(() => decodePeerMessage(hello)).toThrowError(MarshallingError);
  });
});

describe('a field that a later wire version added', () => {
  const layout = new Layout<{ epoch: number; since7: boolean; since8: string }>({
    epoch: epoch,
    since7: added(7, flag, false),
    since8: added(8, text, 'none'),
  });
  const value = { epoch: 3, since7: true, since8: 'here' };

  it('is sent and read on links of that version and later ones alone', () => {
    expect([6, 7, 8, 9].map((version) => layout.sizeAt(version))).toEqual([1, 2, 3, 3]);
    const earlier = layout.pack([], value, layout.sizeAt(7));
    expect(earlier).toEqual([3, true]);
    expect(layout.unpack({}, earlier, 0)).toEqual({ ...value, since8: 'none' });
    expect(layout.unpack({}, layout.pack([], value, layout.sizeAt(9)), 0)).toEqual(value);
  });

  it('stands behind all older ones', () => {
    const fields = { one: added(8, flag, false), two: added(7, flag, false) };
    expect(() => new Layout(fields)).toThrowError('two is added behind older fields');
  });
});
