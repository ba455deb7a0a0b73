/**
 * Watches of every kind: each reports every change once and in time, and again after a reconnect.
 */
import { EventType } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { Operation, RemovedWatches } from '../../contract/history.js';
import { ClientView } from './client-view.js';
import { createOp, GET, OPEN, SmallHistory, STAT, setOp } from './small-history.js';

const { created, deleted, dataChanged, childrenChanged } = EventType;
const PING: Operation = { kind: 'ping' };
const ADD = (mode: 'persistent' | 'recursive', path = '/a'): Operation => {
  return { kind: 'addWatch', path, mode };
};
const EXISTS = (path: string): Operation => ({ kind: 'exists', path, watch: true });
const CHILDREN: Operation = { kind: 'children', path: '/a', watch: true };
const A = { ...STAT, czxid: 2, mzxid: 2, pzxid: 2 };
const FRESH = { zxid: 2, data: 'x', stat: A };
/** Transactions that no client requested. */
const NOBODY = { session: 0 };
const PROPERTY = /^each watch reports its change, once, before anything shows it: /;

/** Session 1 is open at client 1; /a was created at 2. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  history.applied(1, OPEN, NOBODY);
  history.session('opened');
  history.applied(2, createOp('/a'), NOBODY);
  return history;
}

function set(history: SmallHistory, zxid: number, path = '/a'): void {
  history.applied(zxid, setOp(path, zxid - 2), NOBODY);
}
function create(history: SmallHistory, zxid: number, path: string): void {
  history.applied(zxid, createOp(path), NOBODY);
}
function remove(history: SmallHistory, zxid: number, path = '/a'): void {
  history.applied(zxid, { kind: 'delete', path }, NOBODY);
}

describe('a one-shot watch', () => {
  it('fires once, before a reply of that zxid', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    set(history, 3);
    history.event(dataChanged, '/a', 3);
    history.done(PING, { zxid: 3 });
    set(history, 4);
    history.done(PING, { zxid: 4 });
  });

  it('is violated when a reply shows the change first', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    set(history, 3);
    expect(() => history.done(PING, { zxid: 3 })).toThrow(
      /before the event dataChanged \/a of 0x3/,
    );
  });

  it('is violated when it fires twice, or was never set', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    set(history, 3);
    history.event(dataChanged, '/a', 3);
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(PROPERTY);
    const never = begun();
    never.done(GET('/a'), FRESH);
    set(never, 3);
    expect(() => never.event(dataChanged, '/a', 3)).toThrow(/for which no watch stood/);
  });

  it('is violated when the event comes before the reply to the read that set it', () => {
    const history = begun();
    const read = history.ask(GET('/a', true));
    set(history, 3);
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(/for which no watch stood/);
    history.answer(read, FRESH);
  });

  it('fires at the first change after the state that its read showed', () => {
    const history = begun();
    const read = history.ask(GET('/a', true));
    set(history, 3);
    set(history, 4);
    history.answer(read, FRESH);
    const early = () => history.event(dataChanged, '/a', 4);
    expect(early).toThrow(/no watch stood; the event dataChanged \/a of 0x3 is due/);
  });

  it('does not fire for a change that its read already showed', () => {
    const history = begun();
    const read = history.ask(GET('/a', true));
    set(history, 3);
    history.answer(read, { zxid: 3, data: 'x', stat: { ...A, mzxid: 3, version: 1 } });
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(PROPERTY);
  });

  it('remains a single watch when it is set again before it fired', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    history.done(EXISTS('/a'), { zxid: 2, stat: A });
    set(history, 3);
    history.event(dataChanged, '/a', 3);
    history.done(PING, { zxid: 3 });
  });

  it('on a missing znode reports its creation', () => {
    const history = begun();
    history.done(EXISTS('/b'), { zxid: 2, error: -101 });
    create(history, 3, '/b');
    expect(() => history.done(PING, { zxid: 3 })).toThrow(/created \/b/);
    history.event(created, '/b', 3);
    history.done(PING, { zxid: 3 });
  });

  it('on a missing znode is not set by get', () => {
    const history = begun();
    history.done(GET('/b', true), { zxid: 2, error: -101 });
    create(history, 3, '/b');
    history.done(PING, { zxid: 3 });
  });

  it('for children reports a new child, and data watches do not', () => {
    const history = begun();
    history.done(CHILDREN, { zxid: 2, children: [], stat: A });
    history.done(GET('/a', true), FRESH);
    create(history, 3, '/a/b');
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(PROPERTY);
    history.event(childrenChanged, '/a', 3);
    history.done(PING, { zxid: 3 });
  });

  it('reports one deletion once to a client, whatever it watches there', () => {
    const history = begun();
    history.done(CHILDREN, { zxid: 2, children: [], stat: A });
    history.done(GET('/a', true), FRESH);
    remove(history, 3);
    history.event(deleted, '/a', 3);
    expect(() => history.event(deleted, '/a', 3)).toThrow(PROPERTY);
  });

  it('must have fired before the answer that the session is closed', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    set(history, 3);
    expect(() => history.session('closed', { zxid: 4 })).toThrow(PROPERTY);
  });

  it('reports changes in their order', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    history.done(EXISTS('/b'), { zxid: 2, error: -101 });
    set(history, 3);
    create(history, 4, '/b');
    expect(() => history.event(created, '/b', 4)).toThrow(
      /before the event dataChanged \/a of 0x3/,
    );
  });
});

describe('a persistent watch', () => {
  it('reports every change of the path and of its children', () => {
    const history = begun();
    history.done(ADD('persistent'), { zxid: 2 });
    set(history, 3);
    create(history, 4, '/a/b');
    history.event(dataChanged, '/a', 3);
    history.event(childrenChanged, '/a', 4);
    history.done(PING, { zxid: 4 });
  });

  it('is violated when it misses the second change', () => {
    const history = begun();
    history.done(ADD('persistent'), { zxid: 2 });
    set(history, 3);
    set(history, 4);
    history.event(dataChanged, '/a', 3);
    expect(() => history.done(PING, { zxid: 4 })).toThrow(/dataChanged \/a of 0x4/);
  });

  it('that is recursive reports everything below, but no childrenChanged', () => {
    const history = begun();
    history.done(ADD('recursive'), { zxid: 2 });
    create(history, 3, '/a/b');
    history.event(created, '/a/b', 3);
    expect(() => history.event(childrenChanged, '/a', 3)).toThrow(PROPERTY);
    create(history, 4, '/a/b/c');
    expect(() => history.done(PING, { zxid: 4 })).toThrow(/created \/a\/b\/c/);
  });

  it('that was set at an older state reports what has happened since', () => {
    const history = begun();
    const add = history.ask(ADD('recursive', '/'));
    create(history, 3, '/b');
    history.answer(add, { zxid: 2 });
    expect(() => history.done(PING, { zxid: 3 })).toThrow(/created \/b of 0x3/);
  });

  it('and a one-shot one on the same path report one change once', () => {
    const history = begun();
    history.done(ADD('persistent'), { zxid: 2 });
    history.done(ADD('recursive'), { zxid: 2 });
    history.done(GET('/a', true), FRESH);
    set(history, 3);
    history.event(dataChanged, '/a', 3);
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(PROPERTY);
  });
});

describe('after a reconnect', () => {
  /** Watches data of /a, children of /a and the missing /b, and reconnects at `zxid` 2. */
  function gone(): SmallHistory {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    history.done(CHILDREN, { zxid: 2, children: [], stat: A });
    history.done(EXISTS('/b'), { zxid: 2, error: -101 });
    history.session('disconnected');
    return history;
  }
  const again = { connection: 2, zxid: 2 };

  it('missed changes are reported by events without a zxid, and the other watches remain', () => {
    const history = gone();
    set(history, 3);
    history.session('resumed', again);
    history.event(dataChanged, '/a', -1, { connection: 2 });
    history.session('reset', { connection: 2, zxid: 3 });
    create(history, 4, '/b');
    expect(() => history.done(PING, { zxid: 4 }, { connection: 2 })).toThrow(/created \/b of 0x4/);
  });

  it.each<[string, (history: SmallHistory) => void, readonly [number, string][]]>([
    [
      'a deletion, for both',
      (history) => remove(history, 3),
      [
        [deleted, '/a'],
        [deleted, '/a'],
      ],
    ],
    ['a creation', (history) => create(history, 3, '/b'), [[created, '/b']]],
    ['a new child', (history) => create(history, 3, '/a/c'), [[childrenChanged, '/a']]],
    ['nothing', () => undefined, []],
  ])('%s must be reported, and nothing else', (_, change, events) => {
    const reset = (told: readonly (readonly [number, string])[]) => {
      const history = gone();
      change(history);
      history.session('resumed', again);
      for (const [type, path] of told) history.event(type, path, -1, { connection: 2 });
      history.session('reset', { connection: 2, zxid: events.length > 0 ? 3 : 2 });
    };
    reset(events);
    if (events.length > 0) expect(() => reset(events.slice(1))).toThrow(/of what it missed/);
    expect(() => reset([...events, [dataChanged, '/a']])).toThrow(/of what it missed/);
  });

  it('nothing is answered before the watches are set again', () => {
    const history = gone();
    history.session('resumed', again);
    const early = () => history.done(PING, { zxid: 2 }, { connection: 2 });
    expect(early).toThrow(/before the watches were set again/);
  });

  it('no unrequested event comes without a zxid', () => {
    const history = begun();
    expect(() => history.event(created, '/a', -1)).toThrow(/no setWatches2 asked for/);
  });

  it('watches of the lost connection report nothing', () => {
    const history = gone();
    history.session('resumed', again);
    history.session('reset', { connection: 2, zxid: 2 });
    history.session('disconnected', { connection: 2 });
    set(history, 3);
    history.session('resumed', { connection: 3, zxid: 2 });
    history.event(dataChanged, '/a', -1, { connection: 3 });
    history.session('reset', { connection: 3, zxid: 3 });
    expect(() => history.event(dataChanged, '/a', 3, { connection: 3 })).toThrow(PROPERTY);
  });
});

describe('a removed watch', () => {
  const REMOVE = (type: RemovedWatches, path = '/a'): Operation => {
    return { kind: 'removeWatches', path, type };
  };

  it('is silent from the answer on, whatever its kind', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    history.done(ADD('persistent'), { zxid: 2 });
    history.done(ADD('recursive'), { zxid: 2 });
    history.done(REMOVE('any'), { zxid: 2 });
    set(history, 3);
    history.done(PING, { zxid: 3 });
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(/for which no watch stood/);
  });

  it('does not report what others have applied, and its member had not when it answered', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    const removal = history.ask(REMOVE('data'));
    set(history, 3);
    history.answer(removal, { zxid: 2 });
    history.done(PING, { zxid: 3 });
    expect(() => history.event(dataChanged, '/a', 3)).toThrow(/for which no watch stood/);
  });

  it('leaves those of other kinds, which report what it would have', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    history.done(CHILDREN, { zxid: 2, children: [], stat: A });
    history.done(ADD('persistent'), { zxid: 2 });
    const removal = history.ask(REMOVE('data'));
    set(history, 3);
    history.answer(removal, { zxid: 2 });
    expect(() => history.done(PING, { zxid: 3 })).toThrow(
      /before the event dataChanged \/a of 0x3/,
    );
    const other = begun();
    other.done(CHILDREN, { zxid: 2, children: [], stat: A });
    other.done(GET('/a', true), FRESH);
    const removes = other.ask(REMOVE('children'));
    create(other, 3, '/a/b');
    remove(other, 4, '/a/b');
    other.applied(5, setOp('/a', 1), NOBODY);
    other.answer(removes, { zxid: 2 });
    other.event(dataChanged, '/a', 5);
    other.done(PING, { zxid: 5 });
  });

  it('must have been there, and must be missing otherwise', () => {
    const history = begun();
    history.done(REMOVE('any'), { zxid: 2, error: -121 });
    expect(() => history.done(REMOVE('any'), { zxid: 2 })).toThrow(/with 0, not -121/);
    history.done(GET('/a', true), FRESH);
    history.done(REMOVE('children'), { zxid: 2, error: -121 });
    const missing = () => history.done(REMOVE('data'), { zxid: 2, error: -121 });
    expect(missing).toThrow(/with -121, not 0/);
    set(history, 3);
    history.event(dataChanged, '/a', 3);
    expect(() => history.done(REMOVE('data'), { zxid: 3 })).toThrow(PROPERTY);
  });

  it('is not set again at the next member', () => {
    const history = begun();
    history.done(GET('/a', true), FRESH);
    history.done(ADD('recursive'), { zxid: 2 });
    history.done(REMOVE('data'), { zxid: 2 });
    history.session('disconnected');
    set(history, 3);
    history.session('resumed', { connection: 2, zxid: 2 });
    // It would have reported the change; the recursive one does not.
    history.session('reset', { connection: 2, zxid: 3 });
  });
});
