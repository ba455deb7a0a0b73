// Tests that an address with many bytes pending keeps nobody else from being read.
import { describe, expect, it } from 'vitest';
import { TestClient } from '../simulated/pipeline/test-client.js';
import { resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { Connection } from './connection.js';

const MAX = 12_000;
const GREEDY = '10.0.0.1';

function scene() {
  const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: MAX } });
  const [one, two] = [ensemble.connect(1, GREEDY), ensemble.connect(1, GREEDY)];
  return { ensemble, one, two, other: ensemble.connect(1, '10.0.0.2') };
}

let names = 0;
function send(client: TestClient, bytes: number): void {
  client.create(`/${++names}`, { data: 'x'.repeat(bytes) });
}

function innerChannel(): TestClient {
  return new TestClient(7, () => undefined, { address: '' });
}

function holdsOf(...clients: readonly TestClient[]): readonly number[] {
  return clients.map(({ holds }) => holds.size);
}

describe('bytes that are pending', () => {
  it('hold the connections of the address that has most, those without any too', () => {
    const { ensemble, one, two, other } = scene();
    const silent = ensemble.connect(1, GREEDY);
    send(one, 3_000);
    expect(holdsOf(one, two, silent, other)).toEqual([0, 0, 0, 0]);
    send(two, 3_000);
    expect(holdsOf(one, two, silent, other)).toEqual([1, 1, 1, 0]);
    send(other, 100);
    expect(holdsOf(other)).toEqual([0]);
    ensemble.settle();
    expect(other.takeOne().error).toBe(0);
    expect(holdsOf(one, two, silent, other)).toEqual([0, 0, 0, 0]);
  });

  it('are shared out among the addresses that have some, with room for one more', () => {
    const { ensemble, one, other } = scene();
    for (const [client, share] of [
      [one, 6],
      [other, 4],
    ] as const) {
      for (let index = 1; index <= share; index++) {
        expect(holdsOf(client), `before request ${index}`).toEqual([0]);
        send(client, 950);
      }
      expect(holdsOf(client)).toEqual([1]);
    }
    const third = ensemble.connect(1, '10.0.0.3');
    send(third, 950);
    expect(holdsOf(third)).toEqual([0]);
  });

  it('let an address go on when half of its share is left', () => {
    const { ensemble, one, two } = scene();
    for (let index = 0; index < 3; index++) send(one, 2_000);
    expect(holdsOf(one, two)).toEqual([1, 1]);
    ensemble.forward();
    ensemble.apply(1, 1);
    expect(holdsOf(one, two)).toEqual([1, 1]);
    ensemble.apply(1, 1);
    expect(holdsOf(one, two)).toEqual([0, 0]);
  });

  it('count for the address when their connection is gone', () => {
    const { ensemble, one, two, other } = scene();
    send(one, 7_000);
    ensemble.leader.pipeline.onClosed(one.id);
    const again = resume(ensemble, 1, one);
    expect(holdsOf(two, other)).toEqual([1, 0]);
    ensemble.forward();
    send(other, 100);
    expect(holdsOf(two, other)).toEqual([1, 0]);
    ensemble.settle();
    expect(holdsOf(again, two, other)).toEqual([0, 0, 0]);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('hold who comes from an address that has used its share', () => {
    const { ensemble, one } = scene();
    const late = ensemble.open(1, GREEDY);
    const stranger = ensemble.open(1, '10.0.0.3');
    for (const client of [late, stranger]) client.connect();
    send(one, 7_000);
    ensemble.forward();
    // The two sessions are opened, and the large write has still to be applied.
    ensemble.apply(1, 2);
    expect([...late.holds, ...stranger.holds]).toEqual(['outstanding']);
  });

  it('are one sum for a network of IPv6', () => {
    const { ensemble, other } = scene();
    const [one, two] = [ensemble.connect(1, '2001:db8::1'), ensemble.connect(1, '2001:db8::2')];
    send(one, 3_000);
    send(two, 3_000);
    expect(holdsOf(one, two, other)).toEqual([1, 1, 0]);
  });

  it('of handshakes count, with the names of a certificate', () => {
    const { ensemble, one, other } = scene();
    const proven = [{ scheme: 'x509', id: 'n'.repeat(7_000) }];
    ensemble.open(1, GREEDY, proven).connect();
    ensemble.forward();
    send(one, 100);
    expect(holdsOf(one, other)).toEqual([1, 0]);
    ensemble.settle();
    expect(holdsOf(one, other)).toEqual([0, 0]);
  });

  it('hold everybody when addresses reach the bound together', () => {
    const { ensemble, one, two, other } = scene();
    const silent = ensemble.connect(1, '10.0.0.3');
    send(one, 5_900);
    expect(holdsOf(one, other)).toEqual([0, 0]);
    send(other, 6_100);
    expect(holdsOf(one, two, other, silent)).toEqual([1, 1, 1, 1]);
    ensemble.settle();
    expect(holdsOf(one, two, other, silent)).toEqual([0, 0, 0, 0]);
  });

  it('of connections within this process are those of their operators', () => {
    const { one } = scene();
    const inner = (operatorAddress?: string) =>
      new Connection(7, Object.assign(innerChannel(), { operatorAddress }), false);
    const outer = new Connection(8, one, false);
    expect(inner(GREEDY).group).toBe(outer.group);
    expect(inner().group).toBe('connection 7');
  });

  it('count no longer when the role ends', () => {
    const { ensemble, one } = scene();
    const { pipeline } = ensemble.leader;
    send(one, 7_000);
    pipeline.onClosed(one.id);
    pipeline.stopServing();
    pipeline.startServing();
    const again = ensemble.open(1, GREEDY);
    again.connect();
    ensemble.settle();
    expect(holdsOf(again)).toEqual([0]);
  });
});
