// A hard quota refuses, a soft one only logs. Also tests which error wins, and reconfig, which
// nobody serves.
import {
  decode,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  OpCode,
  ReconfigRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const QUOTA = '/zookeeper/quota/q';

function limited(limits: string, enforceQuota = true) {
  const ensemble = new TestEnsemble({ preparer: { enforceQuota } });
  const client = ensemble.connect();
  client.create('/q', { data: '12345' });
  client.create(QUOTA);
  client.create(`${QUOTA}/zookeeper_limits`, { data: limits });
  client.create(`${QUOTA}/zookeeper_stats`);
  ensemble.settle();
  client.take();
  const answer = (send: (client: TestClient) => number): number => {
    send(client);
    ensemble.settle();
    return client.takeOne().error;
  };
  return { ensemble, client, answer };
}
const HARD_COUNT = 'count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2';
const HARD_BYTES = 'count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=-1';

describe('a hard quota', () => {
  it('of nodes refuses one more, the path itself counted', () => {
    const { answer } = limited(HARD_COUNT);
    expect(answer((c) => c.create('/q/a'))).toBe(0);
    expect(answer((c) => c.create('/q/b'))).toBe(-125);
    expect(answer((c) => c.create('/qb'))).toBe(0);
    expect(answer((c) => c.setData('/q/a', 'as long as it likes'))).toBe(0);
    expect(answer((c) => c.delete('/q/a'))).toBe(0);
    expect(answer((c) => c.create('/q/b'))).toBe(0);
  });

  it('of bytes refuses what makes it more, not what makes it less', () => {
    const { answer } = limited(HARD_BYTES);
    expect(answer((c) => c.create('/q/a', { data: '123456' }))).toBe(-125);
    expect(answer((c) => c.create('/q/a', { data: '12345' }))).toBe(0);
    expect(answer((c) => c.setData('/q', '123456'))).toBe(-125);
    expect(answer((c) => c.setData('/q', '1234'))).toBe(0);
    expect(answer((c) => c.create('/q/b'))).toBe(0);
  });

  it('loses to every other error of a create, and wins over the version of a setData', () => {
    const { answer } = limited(HARD_COUNT);
    answer((c) => c.create('/q/a', { flags: 1 }));
    expect(answer((c) => c.create('/q/none/x'))).toBe(-101);
    expect(answer((c) => c.create('/q/a'))).toBe(-110);
    expect(answer((c) => c.create('/q/a/x'))).toBe(-108);
    const bytes = limited(HARD_BYTES);
    expect(bytes.answer((c) => c.setData('/q', '12345678901', 9))).toBe(-125);
    expect(bytes.answer((c) => c.setData('/q/none', '12345678901'))).toBe(-101);
  });

  it('measures an operation of a multi by what the ones before it left', () => {
    const { ensemble, client } = limited(HARD_BYTES);
    const grow = (data: string): MultiRequestOp => ({
      opcode: OpCode.setData,
      request: { path: '/q', data: Buffer.from(data), version: -1 },
    });
    client.send(OpCode.multi, MultiRequest, { ops: [grow('1234567890'), grow('123456789')] });
    ensemble.settle();
    const { results } = decode(MultiResponse, client.takeOne().body);
    expect(results.map(({ opcode }) => opcode)).toEqual([OpCode.setData, OpCode.setData]);
  });

  it('whose text is too long to be read for each write counts as none', () => {
    const { answer } = limited(HARD_COUNT.padEnd(1024, ','));
    expect(answer((c) => c.create('/q/a'))).toBe(0);
    expect(answer((c) => c.create('/q/b'))).toBe(-125);
    const long = limited(HARD_COUNT.padEnd(1025, ','));
    expect(long.answer((c) => c.create('/q/a'))).toBe(0);
    expect(long.answer((c) => c.create('/q/b'))).toBe(0);
  });

  it('that is not enforced is noted only', () => {
    const { ensemble, answer } = limited(HARD_COUNT, false);
    answer((c) => c.create('/q/a'));
    expect(ensemble.preparer.txns.quotas.takeExcesses()).toEqual([]);
    expect(answer((c) => c.create('/q/b'))).toBe(0);
    expect(ensemble.preparer.txns.quotas.takeExcesses()).toEqual([
      { path: '/q', what: 'count', value: 3, limit: 2, isHard: true },
    ]);
  });
});

describe('a soft quota', () => {
  it('is noted only, the newest note of a path', () => {
    const { ensemble, answer } = limited('count=1,bytes=100');
    expect(answer((c) => c.create('/q/a'))).toBe(0);
    expect(answer((c) => c.create('/q/b'))).toBe(0);
    expect(ensemble.preparer.txns.quotas.takeExcesses()).toEqual([
      { path: '/q', what: 'count', value: 3, limit: 1, isHard: false },
    ]);
    expect(ensemble.preparer.txns.quotas.takeExcesses()).toEqual([]);
  });

  it('counts for nothing beside a hard one of its kind', () => {
    const { ensemble, answer } = limited('count=1,bytes=-1=;byteHardLimit=-1;countHardLimit=5');
    expect(answer((c) => c.create('/q/a'))).toBe(0);
    expect(ensemble.preparer.txns.quotas.takeExcesses()).toEqual([]);
  });
});

describe('reconfig', () => {
  const request = { joiningServers: null, leavingServers: null, newMembers: null };
  const body = { ...request, currentConfigId: -1 };

  it('is refused as disabled, and as unimplemented when it is enabled', () => {
    for (const [reconfigEnabled, code] of [
      [false, -123],
      [true, -6],
    ] as const) {
      const ensemble = new TestEnsemble({ preparer: { reconfigEnabled } });
      const client = ensemble.connect();
      client.send(OpCode.reconfig, ReconfigRequest, body);
      client.create('/a');
      ensemble.settle();
      expect(client.takeSummary()).toEqual([`reply 1 ${code}`, 'reply 2 0']);
    }
  });

  it('that is cut short is malformed', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.sendRaw(OpCode.reconfig, new Uint8Array(3));
    ensemble.settle();
    expect(client.takeOne().error).toBe(-5);
  });
});
