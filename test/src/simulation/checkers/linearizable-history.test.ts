/**
 * The adapter turns what clients of the simulator do into operations on znodes, checks no more than
 * is promised, and reports what is wrong.
 */
import { ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { PropertyBroken } from '../contract/checker.js';
import type { Operation, Result } from '../contract/history.js';
import { CLOSE, GET, SET, SmallHistory, STAT } from './clients/small-history.js';
import { newLinearizableHistory } from './linearizable-history.js';

const CREATE = (path: string, data = '0'): Operation => {
  return { kind: 'create', path, data, mode: 'persistent' };
};
const SYNC: Operation = { kind: 'sync', path: '/' };
const shown = (data: string, version: number): Partial<Result> => {
  return { data, stat: { ...STAT, version } };
};
const at = (version: number): Partial<Result> => ({ stat: { ...STAT, version } });

/** Client 1 created /a and set it to 1. */
function begun(): SmallHistory {
  const history = new SmallHistory(newLinearizableHistory({ operationsMax: 20 }));
  history.done(CREATE('/a'), at(0));
  history.done(SET('/a', '1'), at(1));
  return history;
}

const BY_2 = { client: 2, session: 2, connection: 2 };

function verdictOf(history: SmallHistory): string {
  try {
    history.checker.onEnd?.({ order: 1_000, atMs: 0, members: [] });
    return 'fine';
  } catch (error) {
    if (error instanceof PropertyBroken) return error.message;
    throw error;
  }
}

describe('a znode of the simulator', () => {
  it('may be stale in a plain read, but not in a read after a sync', () => {
    const plain = begun();
    plain.done(GET('/a'), shown('0', 0), BY_2);
    expect(verdictOf(plain)).toBe('fine');
    const synced = begun();
    synced.done(SYNC, {}, BY_2);
    synced.done(GET('/a'), shown('1', 1), BY_2);
    expect(verdictOf(synced)).toBe('fine');
    const stale = begun();
    stale.done(SYNC, {}, BY_2);
    stale.done(GET('/a'), shown('0', 0), BY_2);
    expect(verdictOf(stale)).toContain('/a: no order explains get');
  });

  it('may be shown as it was at any moment since the sync was requested', () => {
    const history = begun();
    const sync = history.ask(SYNC, BY_2);
    const get = history.ask(GET('/a'), BY_2);
    history.done(SET('/a', '2'), at(2));
    history.answer(sync, {});
    history.answer(get, shown('1', 1));
    expect(verdictOf(history)).toBe('fine');
  });

  it('is no longer judged once there was no capacity for it, even if there is later', () => {
    const history = new SmallHistory(newLinearizableHistory({ pathsMax: 1 }));
    history.done(CREATE('/a'), at(0));
    history.done(CREATE('/b'), at(0));
    // A znode that is created as an ephemeral is no longer judged, and frees capacity.
    history.done({ kind: 'create', path: '/a', data: '0', mode: 'ephemeral' }, at(0));
    history.done(CREATE('/b'), { error: ErrorCode.nodeExists });
    expect(verdictOf(history)).toBe('fine');
  });

  it('keeps what was acknowledged, and refuses what the versions forbid', () => {
    const lost = begun();
    lost.done(SET('/a', '2'), at(1));
    expect(verdictOf(lost)).toContain('no order explains set');
    const twice = begun();
    twice.done(SET('/a', '2', 1), at(2));
    twice.done(SET('/a', '3', 1), at(2), BY_2);
    expect(verdictOf(twice)).toContain('no order explains set');
    const refused = begun();
    refused.done(SET('/a', '2', 1), { error: ErrorCode.badVersion });
    expect(verdictOf(refused)).toContain('no order explains set');
    const made = begun();
    made.done(CREATE('/a'), at(0));
    expect(verdictOf(made)).toContain('no order explains create');
    const gone = begun();
    gone.done({ kind: 'delete', path: '/a', version: -1 }, {});
    gone.done(CREATE('/a'), at(0));
    gone.done(SET('/a', '5'), at(1));
    expect(verdictOf(gone)).toBe('fine');
  });

  it('may have been changed once by a write that was never answered', () => {
    const history = begun();
    history.lose(history.ask(SET('/a', '2'), BY_2));
    history.done(SET('/a', '3'), at(2));
    history.done(SET('/a', '4'), at(4));
    expect(verdictOf(history)).toBe('fine');
    history.done(SET('/a', '5'), at(6));
    expect(verdictOf(history)).toContain('no order explains set');
  });

  it('is changed by a multi as a whole or not at all', () => {
    const multi: Operation = {
      kind: 'multi',
      parts: [
        { kind: 'check', path: '/a', version: 1 },
        { kind: 'set', path: '/a', data: '2', version: -1 },
        { kind: 'create', path: '/b', data: 'x', mode: 'persistent' },
      ],
    };
    const done = begun();
    done.done(multi, {});
    done.done(SYNC, {});
    done.done(GET('/a'), shown('2', 2));
    done.done(GET('/b'), shown('x', 0));
    expect(verdictOf(done)).toBe('fine');
    const half = begun();
    half.done(multi, {});
    half.done(SYNC, {});
    half.done(GET('/b'), { error: ErrorCode.noNode });
    expect(verdictOf(half)).toContain('/b: no order explains get');
    const refused = begun();
    refused.done(multi, { error: ErrorCode.badVersion });
    refused.done(SYNC, {});
    refused.done(GET('/b'), { error: ErrorCode.noNode });
    expect(verdictOf(refused)).toBe('fine');
  });

  it('that is ephemeral or sequential is not judged', () => {
    const other = begun();
    const modes = ['ephemeral', 'persistentSequential'] as const;
    for (const mode of modes) other.done({ kind: 'create', path: '/e', data: '', mode }, {});
    other.done(GET('/e'), { error: ErrorCode.noNode });
    other.done(GET('/e0000000007'), shown('', 0));
    expect(verdictOf(other)).toBe('fine');
  });

  it('is judged in parts: writes in flight or lost before a part began may still take effect', () => {
    const nextPart = () => {
      const history = new SmallHistory(newLinearizableHistory({ operationsMax: 20, leftOut: 3 }));
      history.done(CREATE('/a'), at(0));
      history.lose(history.ask(SET('/a', 'lost'), BY_2));
      const late = history.ask(SET('/a', 'late'), BY_2);
      for (let version = 1; version <= 18; version++) history.done(SET('/a', 'x'), at(version));
      // A part has ended, these operations are left out, and another part begins.
      history.done(SET('/a', 'not judged'), at(77));
      for (let version = 20; version <= 22; version++) history.done(SET('/a', 'x'), at(version));
      history.done(SET('/a', 'y'), at(23));
      history.answer(late, at(24));
      return history;
    };
    const fine = nextPart();
    fine.done(SET('/a', 'z'), at(26));
    expect(verdictOf(fine)).toBe('fine');
    const twice = nextPart();
    twice.done(SET('/a', 'z'), at(27));
    expect(verdictOf(twice)).toContain('no order explains set');
    const seen = nextPart();
    seen.done(SYNC, {});
    seen.done(GET('/a'), shown('lost', 25));
    seen.done(SET('/a', 'z'), at(26));
    seen.done(SYNC, {});
    seen.done(GET('/a'), shown('lost', 25));
    expect(verdictOf(seen)).toContain('no order explains get');
  });

  it('is not changed in a later part by a write that a session lost before an answered one', () => {
    const nextPart = (settle: (history: SmallHistory) => void) => {
      const history = new SmallHistory(newLinearizableHistory({ operationsMax: 10, leftOut: 1 }));
      history.done(CREATE('/a'), at(0));
      history.lose(history.ask(SET('/a', 'lost'), { client: 2, session: 2, connection: 2 }));
      settle(history);
      for (let version = 1; version <= 9; version++) history.done(SET('/a', 'x'), at(version));
      // A part has ended, one operation is left out, and another part begins.
      for (let version = 10; version <= 14; version++) history.done(SET('/a', 'x'), at(version));
      history.done(SET('/a', 'y'), at(16));
      return verdictOf(history);
    };
    const write = CREATE('/elsewhere');
    expect(nextPart(() => undefined)).toBe('fine');
    const elsewhere = { client: 2, session: 2, connection: 3 };
    expect(nextPart((history) => history.done(write, at(0), elsewhere))).toContain('/a: no order');
    const refused = { error: ErrorCode.noNode };
    const badly = nextPart((history) => history.done(SET('/elsewhere'), refused, elsewhere));
    expect(badly).toBe('fine');
    expect(nextPart((history) => history.done(write, at(0)))).toBe('fine');
    const closed = { session: 2 };
    expect(nextPart((history) => history.applied(99, CLOSE, closed))).toContain('/a: no order');
  });

  it('is not changed in a later part by a write that a client gave up when its session ended', () => {
    const history = new SmallHistory(newLinearizableHistory({ operationsMax: 10, leftOut: 1 }));
    history.done(CREATE('/a'), at(0));
    const asked = history.ask(SET('/a', 'lost'), { client: 2, session: 2, connection: 2 });
    history.applied(99, CLOSE, { session: 2 });
    history.lose(asked);
    for (let version = 1; version <= 14; version++) history.done(SET('/a', 'x'), at(version));
    history.done(SET('/a', 'y'), at(16));
    expect(verdictOf(history)).toContain('/a: no order');
  });

  it('is reported with a minimal set of operations when it contradicts', () => {
    const history = begun();
    history.done(SYNC, {});
    for (let i = 0; i < 5; i++) history.done(GET('/a'), shown('1', 1));
    history.done(GET('/a'), shown('0', 0));
    const lines = verdictOf(history).split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[3]).toContain('client 1 get {} -> {"error":0,"data":"0","version":0}');
  });
});
