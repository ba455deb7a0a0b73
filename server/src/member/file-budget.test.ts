/** Goal: whatever the limit is, all that may be open at once fits it, and clients come last. */
import { describe, expect, it } from 'vitest';
import { OperatorError } from '../config/operator-error.js';
import { openFilesMax } from '../net/open-files.js';
import { fileBudgetOf, OPEN_FILES_MIN } from './budgets.js';

describe('the open files of a process', () => {
  it('are shared out in full, half of a small limit and 2048 of a large one kept for storage', () => {
    const budgets = [256, 1024, 20_000].map((limit) => fileBudgetOf(limit, 3));
    expect(budgets).toEqual([
      { clientStreamsMax: 256 - 128 - 8 - 16, peerStrangersMax: 16 },
      { clientStreamsMax: 1024 - 512 - 8 - 64, peerStrangersMax: 64 },
      { clientStreamsMax: 20_000 - 2048 - 8 - 128, peerStrangersMax: 128 },
    ]);
  });

  it('need no budget where the system has no limit', () => {
    const { clientStreamsMax, peerStrangersMax } = fileBudgetOf(Number.POSITIVE_INFINITY, 3);
    expect([clientStreamsMax, peerStrangersMax]).toEqual([Number.POSITIVE_INFINITY, 128]);
  });

  it('that are too few are refused before anything is opened', () => {
    expect(fileBudgetOf(OPEN_FILES_MIN, 3).clientStreamsMax).toBeGreaterThan(40);
    expect(() => fileBudgetOf(OPEN_FILES_MIN - 1, 3)).toThrow(OperatorError);
    expect(() => fileBudgetOf(256, 99)).toThrow('256 open files: too few for a member of 99');
  });

  it('have a limit that can be read', () => {
    expect(openFilesMax()).toBeGreaterThan(0);
  });
});
