// Tests addWatch, checkWatches, removeWatches and setWatches2, through a connection.
import { AddWatchRequest, OpCode, SetWatches2Request, WatchesRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const TYPES = { children: 1, data: 2, any: 3, persistent: 4, recursive: 5 } as const;

function addWatch(client: TestClient, path: string, mode: number): void {
  client.send(OpCode.addWatch, AddWatchRequest, { path, mode });
}
function ask(client: TestClient, opcode: number, path: string, type: number): number {
  client.send(opcode, WatchesRequest, { path, type });
  return client.takeOne().error;
}
function check(client: TestClient, path: string, type: number): number {
  return ask(client, OpCode.checkWatches, path, type);
}
function remove(client: TestClient, path: string, type: number): number {
  return ask(client, OpCode.removeWatches, path, type);
}
/** Watches of all modes on /w, which exists. */
function watching(): { ensemble: TestEnsemble; client: TestClient } {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  client.create('/w');
  ensemble.settle();
  client.getData('/w', true);
  client.read(OpCode.getChildren, '/w', true);
  addWatch(client, '/w', 0);
  addWatch(client, '/w', 1);
  client.take();
  return { ensemble, client };
}
function held(client: TestClient): readonly string[] {
  return Object.entries(TYPES)
    .filter(([, type]) => check(client, '/w', type) === 0)
    .map(([name]) => name);
}

describe('addWatch', () => {
  it('answers an int 0, whether there is a node or not, and -5 for an unknown mode', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    addWatch(client, '/not-there', 1);
    expect(client.takeOne()).toMatchObject({ error: 0, body: Buffer.alloc(4) });
    addWatch(client, '/not-there', 2);
    expect(client.takeOne()).toMatchObject({ error: -5, body: Buffer.alloc(0) });
  });

  it('tells of one change once, however many modes are on the path', () => {
    const { ensemble, client } = watching();
    client.setData('/w', 'x');
    client.setData('/w', 'y');
    client.create('/w/c');
    client.delete('/w/c');
    client.delete('/w');
    client.create('/w');
    ensemble.settle();
    const events = client.takeSummary().filter((line) => line.startsWith('event'));
    expect(events).toEqual([
      'event 3 /w',
      'event 3 /w',
      'event 1 /w/c',
      'event 4 /w',
      'event 2 /w/c',
      'event 4 /w',
      'event 2 /w',
      'event 1 /w',
    ]);
  });

  it('ends with the connection', () => {
    const { ensemble, client } = watching();
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(4);
    ensemble.leader.pipeline.onClosed(client.id);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
  });
});

describe('removeWatches', () => {
  const rest: readonly (readonly [keyof typeof TYPES, readonly string[]])[] = [
    ['children', ['data', 'any', 'persistent', 'recursive']],
    ['data', ['children', 'any', 'persistent', 'recursive']],
    ['persistent', ['children', 'data', 'any', 'recursive']],
    ['recursive', ['children', 'data', 'any', 'persistent']],
    ['any', []],
  ];
  for (const [type, left] of rest) {
    it(`of type ${type} leaves ${left.join(', ') || 'none'}`, () => {
      const { client } = watching();
      expect(remove(client, '/w', TYPES[type])).toBe(0);
      expect(held(client)).toEqual(left);
      expect(remove(client, '/w', TYPES[type])).toBe(-121);
    });
  }

  it('sees only the own watches, at exactly the path', () => {
    const { ensemble, client } = watching();
    const other = ensemble.connect();
    expect(check(other, '/w', TYPES.any)).toBe(-121);
    expect(remove(other, '/w', TYPES.any)).toBe(-121);
    expect(check(client, '/w/c', TYPES.any)).toBe(-121);
    expect(held(client)).toHaveLength(5);
  });

  it('of a type that is none is answered as malformed', () => {
    const { client } = watching();
    for (const type of [0, 6, -1]) {
      expect(remove(client, '/w', type)).toBe(-5);
      expect(check(client, '/w', type)).toBe(-5);
    }
  });
});

describe('setWatches2', () => {
  it('tells what one-shot watches missed, and sets persistent ones without a word', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    for (const path of ['/d', '/e', '/p', '/r']) client.create(path);
    ensemble.settle();
    client.take();
    client.send(OpCode.setWatches2, SetWatches2Request, {
      relativeZxid: 1,
      dataWatches: ['/d', '/gone'],
      existWatches: ['/e', '/later'],
      childWatches: ['/p'],
      persistentWatches: ['/p', '/later'],
      persistentRecursiveWatches: ['/r'],
    });
    expect(client.takeSummary()).toEqual([
      'event 3 /d',
      'event 2 /gone',
      'event 1 /e',
      'event 4 /p',
      'reply 5 0',
    ]);
    client.create('/later');
    client.create('/r/x');
    client.create('/p/x');
    client.setData('/later', 'x');
    ensemble.settle();
    const events = client.takeSummary().filter((line) => line.startsWith('event'));
    expect(events).toEqual(['event 1 /later', 'event 1 /r/x', 'event 4 /p', 'event 3 /later']);
  });
});
