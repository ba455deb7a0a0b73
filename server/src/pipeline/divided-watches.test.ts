/**
 * A setWatches with very many paths is run in parts: other work comes in between, and what changes
 * meanwhile is heard of once. The parts are counted, not timed.
 */
import { encode, OpCode, SetWatches2Request, SetWatchesRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { NO_NODE } from '../state/tree.js';

const PATHS = 60_000;
/** Their bytes, with those of their lengths, are 840 KB; a part has 8 KB. */
const PARTS_MIN = 100;
const PART_PATHS_MAX = 600;
const LISTS = ['dataWatches', 'existWatches', 'childWatches'] as const;
const LISTS2 = [...LISTS, 'persistentWatches', 'persistentRecursiveWatches'] as const;
const NOTHING: SetWatches2Request = {
  relativeZxid: 1_000,
  dataWatches: [],
  existWatches: [],
  childWatches: [],
  persistentWatches: [],
  persistentRecursiveWatches: [],
};

const paths = Array.from({ length: PATHS }, (_, index) => `/path${100_000 + index}`);

function scene() {
  const watchLimits = { watcherBytesMax: 64 << 20, bytesMax: 128 << 20 };
  const ensemble = new TestEnsemble({ pipeline: { watchLimits, outstandingBytesMax: 1 << 19 } });
  const client = ensemble.connect();
  const other = ensemble.connect();
  const { pipeline } = ensemble.leader;
  const onRoom = (): void => {
    client.largeLeft = 1;
    pipeline.onRoom(client.id, ensemble.nowMs);
  };
  return { ensemble, client, other, watches: pipeline.watches, onRoom };
}

function send(client: TestClient, opcode: number, request: Partial<SetWatches2Request>): void {
  client.largeLeft = 1;
  const whole = { ...NOTHING, ...request };
  if (opcode === OpCode.setWatches) client.send(opcode, SetWatchesRequest, whole);
  else client.send(opcode, SetWatches2Request, whole);
}

describe('a setWatches with very many paths', () => {
  it.each([
    ...LISTS.map((list) => [OpCode.setWatches, list] as const),
    ...LISTS2.map((list) => [OpCode.setWatches2, list] as const),
  ])('%i is run in parts, and answered once: %s', (opcode, list) => {
    const { client, watches, onRoom } = scene();
    // Those of data and children are missing, so their deletion is reported at once.
    const isReported = list === 'dataWatches' || list === 'childWatches';
    send(client, opcode, { [list]: paths });
    let parts = 0;
    let done = 0;
    const summary: string[] = [];
    for (; client.holds.has('room') || parts === 0; onRoom()) {
      const told = client.takeSummary();
      summary.push(...told);
      const now = isReported ? summary.length : watches.watchCount;
      expect(now - done).toBeLessThanOrEqual(PART_PATHS_MAX);
      expect(summary.some((line) => line.startsWith('reply'))).toBe(false);
      done = now;
      parts += 1;
    }
    summary.push(...client.takeSummary());
    expect(parts).toBeGreaterThanOrEqual(PARTS_MIN);
    expect(summary.at(-1)).toBe('reply 1 0');
    expect(summary.length).toBe(isReported ? PATHS + 1 : 1);
    expect(watches.watchCount).toBe(isReported ? 0 : PATHS);
    expect([client.keptBytes, client.stats.outstanding]).toEqual([0, 0]);
  });

  it('is run at once where there is time, and what is sent behind it follows', () => {
    const { client, watches } = scene();
    client.send(OpCode.setWatches2, SetWatches2Request, { ...NOTHING, existWatches: paths });
    client.exists('/behind');
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply 2 -101']);
    expect(watches.watchCount).toBe(PATHS);
  });

  it('reports what changes between two parts once', () => {
    const { ensemble, client, other, onRoom } = scene();
    const [first = '', last = ''] = [paths[0], paths.at(-1)];
    send(client, OpCode.setWatches, { existWatches: paths });
    for (const path of [first, last]) other.create(path);
    ensemble.settle();
    while (client.holds.has('room')) onRoom();
    expect(client.takeSummary()).toEqual([`event 1 ${first}`, `event 1 ${last}`, 'reply 1 0']);
  });

  it('keeps nobody else from being read, and counts as input of its own connection', () => {
    const { client, other, onRoom } = scene();
    send(client, OpCode.setWatches, { existWatches: paths });
    expect(client.keptBytes).toBeGreaterThan(PATHS * 10);
    expect([client.holds.has('room'), other.holds.size]).toEqual([true, 0]);
    other.exists('/a');
    expect(other.takeOne().error).toBe(-101);
    while (client.holds.has('room')) onRoom();
    expect(client.keptBytes).toBe(0);
  });

  it('keeps the next write of its session back until its last part has run', () => {
    const { ensemble, client, watches, onRoom } = scene();
    client.create('/a');
    send(client, OpCode.setWatches, { existWatches: paths.slice(0, 10_000) });
    client.largeLeft = 0;
    client.create('/b');
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 1 0']);
    expect(watches.watchCount).toBe(0);
    while (client.holds.has('room')) {
      expect(ensemble.leader.state.tree.find('/b')).toBe(NO_NODE);
      onRoom();
      ensemble.settle();
    }
    expect(client.takeSummary()).toEqual(['reply 2 0', 'reply 3 0']);
    expect(watches.watchCount).toBe(10_000);
  });

  it('ends its connection where there is no room for all of it', () => {
    const watchLimits = { watcherBytesMax: 1 << 17, bytesMax: 128 << 20 };
    const ensemble = new TestEnsemble({ pipeline: { watchLimits } });
    const client = ensemble.connect();
    send(client, OpCode.setWatches, { existWatches: paths });
    client.largeLeft = 1;
    expect(client.state).toBe('open');
    ensemble.leader.pipeline.onRoom(client.id, ensemble.nowMs);
    expect(client.state).toBe('closed');
  });

  it('counts as outstanding no longer once it had no room', () => {
    const watchLimits = { watcherBytesMax: 1 << 18, bytesMax: 128 << 20 };
    const ensemble = new TestEnsemble({ pipeline: { watchLimits } });
    const client = ensemble.connect();
    client.create('/a');
    send(client, OpCode.setWatches, { existWatches: paths.slice(0, 10_000) });
    client.create('/b');
    client.largeLeft = Number.POSITIVE_INFINITY;
    ensemble.settle();
    expect(client.state).toBe('closed');
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it.each([OpCode.setWatches, OpCode.setWatches2])(
    '%i tells nothing to who has not proved what the member asks for',
    (opcode) => {
      const ensemble = new TestEnsemble({ pipeline: { admission: new Set(['sasl'] as const) } });
      const client = ensemble.connect();
      send(client, opcode, { dataWatches: paths, existWatches: paths });
      expect(client.takeSummary()).toEqual(['reply 1 -124']);
      expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
      expect(client.state).toBe('ended');
    },
  );

  it('is answered -5 as a whole if it is malformed', () => {
    const { client, watches } = scene();
    const body = encode(SetWatchesRequest, { ...NOTHING, existWatches: paths });
    client.sendRaw(OpCode.setWatches, body.subarray(0, body.length - 5));
    expect(client.takeSummary()).toEqual(['reply 1 -5']);
    expect(watches.watchCount).toBe(0);
  });
});
