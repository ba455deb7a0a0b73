// Tests reads that waited behind a write, for a client that does not take its answers: they keep
// waiting until there is room, and still run before the session's next write is applied.
import { OpCode, PathRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

const LARGE = 'x'.repeat(500_000);

/** A client whose output is full from one large answer on, and a large znode. */
function scene(): { readonly ensemble: TestEnsemble; readonly client: TestClient } {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  client.create('/large', { data: LARGE });
  ensemble.settle();
  client.take();
  client.softBytes = 400_000;
  return { ensemble, client };
}

function readLarge(client: TestClient, count: number): void {
  for (let index = 0; index < count; index++) client.getData('/large');
}

/** The client takes its answers, as net would report it. */
function takeAll(ensemble: TestEnsemble, client: TestClient): readonly string[] {
  const taken = client.takeSummary();
  ensemble.leader.pipeline.onRoom(client.id, ensemble.nowMs);
  return taken;
}

describe('reads behind a write', () => {
  it('stop when the output is full, and go on one room after the other', () => {
    const { ensemble, client } = scene();
    client.create('/a');
    readLarge(client, 3);
    ensemble.settle();
    expect([...client.holds]).toEqual(['room']);
    expect(client.stats.outstanding).toBe(2);
    expect(takeAll(ensemble, client)).toEqual(['reply 2 0', 'reply 3 0']);
    expect([...client.holds]).toEqual(['room']);
    expect(takeAll(ensemble, client)).toEqual(['reply 4 0']);
    expect([...client.holds]).toEqual([]);
    expect(takeAll(ensemble, client)).toEqual(['reply 5 0']);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('run before the next write of their session is applied, full or not', () => {
    const { ensemble, client } = scene();
    client.create('/a');
    client.getData('/a');
    client.exists('/b');
    client.create('/b');
    client.exists('/b');
    ensemble.forward();
    client.softBytes = 0;
    ensemble.apply(1, 1);
    expect(client.stats.outstanding).toBe(4);
    ensemble.apply();
    const answers = ['reply 2 0', 'reply 3 0', 'reply 4 -101', 'reply 5 0'];
    expect(takeAll(ensemble, client)).toEqual(answers);
    expect(takeAll(ensemble, client)).toEqual(['reply 6 0']);
  });

  it('keep the next write back when their answers are large, and only then', () => {
    const { ensemble, client } = scene();
    client.create('/a');
    for (let index = 0; index < 100; index++) client.exists('/large');
    client.create('/b');
    readLarge(client, 1);
    client.create('/c');
    client.create('/d');
    expect(taken(ensemble.leader.pipeline).requests).toHaveLength(2);
  });

  it('keep the next write back when a write before them made what they read large', () => {
    const { ensemble, client } = scene();
    client.create('/small');
    client.setData('/small', LARGE);
    client.getData('/small');
    client.create('/c');
    expect(taken(ensemble.leader.pipeline).requests).toHaveLength(2);
  });

  it('let the writes behind them go on as the answers are taken', () => {
    const { ensemble, client } = scene();
    client.create('/a');
    readLarge(client, 3);
    client.create('/b');
    readLarge(client, 3);
    client.create('/c');
    const answers: string[] = [];
    for (let round = 0; round < 10; round++) {
      ensemble.settle();
      expect(client.writer.length).toBeLessThan(600_000);
      answers.push(...takeAll(ensemble, client));
    }
    expect(answers).toEqual(Array.from({ length: 9 }, (_, index) => `reply ${index + 2} 0`));
    expect([client.holds.size, client.stats.outstanding]).toEqual([0, 0]);
  });

  it('cost the connection when others made their answers larger than anybody foresaw', () => {
    const { ensemble, client } = scene();
    const other = ensemble.connect();
    client.create('/a');
    for (let index = 0; index < 100; index++) client.getData('/small');
    ensemble.forward();
    other.create('/small', { data: LARGE });
    ensemble.forward();
    client.create('/b');
    ensemble.forward();
    client.softBytes = 0;
    ensemble.apply(1, 2);
    expect([client.state, ...client.holds]).toEqual(['open', 'room']);
    ensemble.apply();
    expect(client.state).toBe('closed');
    expect(client.writer.length).toBeLessThan(10 << 20);
    expect(ensemble.leader.state.tree.find('/b')).toBeGreaterThan(0);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('are forgotten with their connection', () => {
    const { ensemble, client } = scene();
    client.create('/a');
    readLarge(client, 3);
    ensemble.settle();
    ensemble.leader.pipeline.onClosed(client.id);
    ensemble.leader.pipeline.onRoom(client.id, ensemble.nowMs);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('that wait for room are followed by the end that their client asked for', () => {
    const { ensemble, client } = scene();
    client.create('/a');
    readLarge(client, 3);
    client.sendRaw(OpCode.closeSession, new Uint8Array());
    const answers: string[] = [];
    for (let round = 0; round < 5; round++) {
      ensemble.settle();
      answers.push(...takeAll(ensemble, client));
    }
    expect(answers).toHaveLength(5);
    expect(client.state).toBe('ended');
  });
});

it('reads behind a sync stop when the output is full, too', () => {
  const { ensemble, client } = scene();
  client.send(OpCode.sync, PathRequest, { path: '/' });
  readLarge(client, 3);
  ensemble.settle();
  expect(client.stats.outstanding).toBe(2);
  expect(takeAll(ensemble, client)).toEqual(['reply 2 0', 'reply 3 0']);
});

it('a client that opens and closes again and again never has more on the way than its share', () => {
  const ensemble = new TestEnsemble({ pipeline: { outstandingBytesMax: 5_000 } });
  const { pipeline } = ensemble.leader;
  const waiting = Array.from({ length: 20 }, () => ensemble.connect());
  let admitted = 0;
  for (const client of waiting) {
    if (client.holds.size > 0) continue;
    client.create(`/n${client.id}`, { data: 'x'.repeat(1_000) });
    pipeline.onClosed(client.id);
    admitted += 1;
  }
  // Half of the bound, as no other address has anything pending.
  expect(admitted).toBe(3);
});
