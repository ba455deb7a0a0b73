/** Sequential names, in small histories of several clients. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../../contract/history.js';
import { newSequenceNumbers } from './sequence-numbers.js';
import { SmallHistory } from './small-history.js';

const CREATE = { kind: 'create', path: '/q/n-', data: '', mode: 'ephemeralSequential' } as const;
const PROPERTY = /^sequential names are unique and grow with their zxid: /;

function named(...all: readonly (readonly [number, string])[]): void {
  const history = new SmallHistory(newSequenceNumbers);
  for (const [zxid, path] of all) history.done(CREATE, { zxid, path });
}

describe('sequential names', () => {
  it('grow with their zxid, in whatever order the answers come', () => {
    named([3, '/q/n-0000000001'], [7, '/q/n-0000000004'], [5, '/q/n-0000000003']);
    named([3, '/q/n-2147483647'], [2, '/q/n-0000000003']);
  });

  it.each<[string, readonly (readonly [number, string])[]]>([
    [
      'occur twice',
      [
        [3, '/q/n-0000000001'],
        [4, '/q/n-0000000001'],
      ],
    ],
    [
      'fall',
      [
        [3, '/q/n-0000000002'],
        [4, '/q/n-0000000001'],
      ],
    ],
    [
      'are greater than those of a later zxid',
      [
        [5, '/q/n-0000000002'],
        [4, '/q/n-0000000003'],
      ],
    ],
    ['have no number', [[5, '/q/n-']]],
    ['have a short number', [[5, '/q/n-17']]],
    ['have another prefix', [[5, '/q/m-0000000001']]],
  ])('are broken when they %s', (_, all) => {
    expect(() => named(...all)).toThrow(PROPERTY);
  });

  it('with different prefixes share the numbers of their parent', () => {
    const history = new SmallHistory(newSequenceNumbers);
    history.done(CREATE, { zxid: 3, path: '/q/n-0000000001' });
    const other: Operation = { ...CREATE, path: '/q/m-' };
    const same = () => history.done(other, { zxid: 4, path: '/q/m-0000000001' });
    expect(same).toThrow(PROPERTY);
    history.done({ ...CREATE, path: '/p/n-' }, { zxid: 4, path: '/p/n-0000000001' });
  });

  it('in one multi have consecutive numbers', () => {
    const multi: Operation = { kind: 'multi', parts: [CREATE, CREATE] };
    const part = (path: string) => ({ error: 0, path, stat: null });
    const history = new SmallHistory(newSequenceNumbers);
    const right = [part('/q/n-0000000001'), part('/q/n-0000000002')];
    history.done(multi, { zxid: 3, parts: right });
    const wrong = [part('/q/n-0000000003'), part('/q/n-0000000003')];
    expect(() => history.done(multi, { zxid: 4, parts: wrong })).toThrow(PROPERTY);
  });

  it('that were refused do not count', () => {
    const history = new SmallHistory(newSequenceNumbers);
    history.done(CREATE, { zxid: 3, error: -101 });
  });
});
