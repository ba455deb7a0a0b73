/**
 * Tests storms of handshakes: the leader is asked for a bounded number of sessions at a time, all
 * are answered in the order in which they came, and requests continue in between.
 */
import { describe, expect, it } from 'vitest';
import { resume, TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

const OUTSTANDING_MAX = 40;
/** A quarter. */
const HANDSHAKES_MAX = 10;
const STORM = 100;

function newEnsemble(outstandingMax = OUTSTANDING_MAX): TestEnsemble {
  return new TestEnsemble({ size: 2, pipeline: { outstandingMax } });
}

describe('a storm of new sessions', () => {
  it('asks the leader for a quarter of what may be outstanding at a time, and gets them all', () => {
    const ensemble = newEnsemble();
    const { pipeline } = ensemble.member(2);
    const clients = Array.from({ length: STORM }, () => ensemble.open(2));
    for (const client of clients) client.connect();
    expect(pipeline.outstanding).toBe(HANDSHAKES_MAX);
    expect(taken(pipeline).requests).toHaveLength(HANDSHAKES_MAX);
    const next = newEnsemble();
    const others = Array.from({ length: STORM }, () => next.open(2));
    for (const client of others) client.connect();
    next.settle();
    const sessions = others.map((client) => Number(client.takeConnectResponse().sessionId));
    expect(sessions).toEqual([...sessions].sort((one, other) => one - other));
    expect(next.member(2).pipeline.outstanding).toBe(0);
  });

  it('does not keep requests waiting, even where one alone may be outstanding', () => {
    for (const outstandingMax of [1, OUTSTANDING_MAX]) {
      const ensemble = newEnsemble(outstandingMax);
      const good = ensemble.connect(2);
      for (let count = 0; count < STORM; count++) ensemble.open(2).connect();
      for (let count = 0; count < 5; count++) {
        good.create(`/${count}`);
        // One round, in which new sessions are requested as fast as others are created.
        ensemble.forward();
        ensemble.apply(1);
        ensemble.apply(2);
        expect(good.takeOne().error).toBe(0);
        expect([...good.holds]).toEqual([]);
      }
    }
  });

  it('of clients that are gone at once still counts until the leader has answered', () => {
    const ensemble = newEnsemble();
    const { pipeline } = ensemble.member(2);
    for (let count = 0; count < STORM; count++) {
      const client = ensemble.open(2);
      client.connect();
      pipeline.onClosed(client.id);
    }
    expect(taken(pipeline).requests).toHaveLength(HANDSHAKES_MAX);
    const late = ensemble.open(2);
    late.connect();
    expect(pipeline.takeForLeader()).toEqual([]);
    pipeline.stopServing();
    expect(pipeline.outstanding).toBe(0);
  });
});

it('a storm of resumed sessions is bounded as well, and everybody gets the session back', () => {
  const ensemble = newEnsemble();
  const clients = Array.from({ length: STORM }, () => ensemble.connect(1));
  const again = clients.map((client) => resume(ensemble, 2, client));
  const { pipeline } = ensemble.member(2);
  expect(pipeline.outstanding).toBe(HANDSHAKES_MAX);
  for (let asked = 0; asked < STORM; asked += HANDSHAKES_MAX) ensemble.forward();
  const sessions = again.map((client) => client.takeConnectResponse().sessionId);
  expect(sessions).toEqual(clients.map(({ session }) => session));
  expect(pipeline.outstanding).toBe(0);
});
