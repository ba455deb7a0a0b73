/** The zxids that a client sees, across connections and sessions. */
import { describe, expect, it } from 'vitest';
import { GET, SmallHistory } from './small-history.js';
import { newZxidSeen } from './zxid-seen.js';

const begun = () => {
  const history = new SmallHistory(newZxidSeen);
  history.session('opened');
  history.done(GET('/a'), { zxid: 5 });
  return history;
};
const PROPERTY = /^the zxids that a client sees never decrease: /;

describe('the zxid that a client sees', () => {
  it('never decreases within a connection', () => {
    const history = begun();
    history.done(GET('/a'), { zxid: 5 });
    expect(() => history.done(GET('/a'), { zxid: 4 })).toThrow(PROPERTY);
  });

  it('never decreases from one connection to the next, or from one session to the next', () => {
    const history = begun();
    history.session('disconnected');
    history.session('resumed', { connection: 2, member: 2 });
    expect(() => history.done(GET('/a'), { zxid: 4 }, { connection: 2 })).toThrow(PROPERTY);
    history.session('opened', { connection: 3, session: 2 });
    const of = { connection: 3, session: 2 };
    expect(() => history.done(GET('/a'), { zxid: 4 }, of)).toThrow(PROPERTY);
  });

  it('may be lower than that of an event after its connection was lost', () => {
    const history = begun();
    history.event(1, '/a', 8);
    history.session('disconnected');
    history.session('resumed', { connection: 2 });
    history.done(GET('/a'), { zxid: 6 }, { connection: 2 });
  });

  it('is not lower than that of an earlier event on its connection, nor are those of events', () => {
    const history = begun();
    history.event(1, '/a', 8);
    history.event(1, '/b', -1);
    expect(() => history.done(GET('/a'), { zxid: 7 })).toThrow(PROPERTY);
    expect(() => history.event(1, '/c', 7)).toThrow(PROPERTY);
  });

  it('does not decrease when watches are set again', () => {
    const history = begun();
    history.session('resumed', { connection: 2 });
    const reset = () => history.session('reset', { connection: 2, zxid: 4 });
    expect(reset).toThrow(PROPERTY);
  });

  it('does not affect other clients', () => {
    begun().done(GET('/a'), { zxid: 1 }, { client: 2, session: 2, connection: 2 });
  });
});
