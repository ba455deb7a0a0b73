/** What a data directory last served with: the bound of what it remembers of changed files. */
import { describe, expect, it } from 'vitest';
import type { Config, ServerAddress } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import type { ServedWith } from '../storage/contract.js';
import { planServing } from './last-configuration.js';

const FORMER_LISTS_MAX = 8;

function serversOf(ids: readonly number[]): readonly ServerAddress[] {
  return ids.map((id) => ({ id, host: `host-${id}`, clientPort: 1, peerPort: 2 }));
}

function plan(servedWith: ServedWith | null, ids: readonly number[], ensembleId = 'E') {
  const config = { servers: serversOf(ids), peerTimeoutMs: 1000 } as Partial<Config> as Config;
  return planServing({ servedWith, ensembleId }, config);
}

describe('a list that is changed again and again and never served with', () => {
  it('is remembered eight times; one change more is refused with all of them', () => {
    let kept: ServedWith = { lists: [[1, 2, 3, 4]], peerTimeoutMs: 1000 };
    for (let change = 1; change <= FORMER_LISTS_MAX; change++) {
      const made = plan(kept, [1, 2, 3, 4, 100 + change]);
      expect(made.former).toHaveLength(change);
      kept = made.kept;
    }
    // The one that was configured last is no further change.
    expect(plan(kept, [1, 2, 3, 4, 100 + FORMER_LISTS_MAX]).former).toHaveLength(FORMER_LISTS_MAX);
    const oneMore = () => plan(kept, [1, 2, 3, 4, 200]);
    expect(oneMore).toThrow(OperatorError);
    expect(oneMore).toThrow('1, 2, 3, 4; 1, 2, 3, 4, 101;');
  });

  it('is nothing to a directory without an ensemble', () => {
    const lists = [[1, 2, 3]];
    expect(plan({ lists, peerTimeoutMs: 1000 }, [7, 8, 9], '').former).toEqual([]);
    expect(plan(null, [7, 8, 9]).former).toEqual([]);
  });
});
