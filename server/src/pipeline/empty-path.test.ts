// The empty path belongs to no znode, whatever was found last and deleted since; no request with it
// may end the member.
import { OpCode, PathRequest, SetWatchesRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const setWatches = (client: TestClient): number =>
  client.send(OpCode.setWatches, SetWatchesRequest, {
    relativeZxid: 0,
    dataWatches: [''],
    existWatches: [],
    childWatches: [],
  });

describe('the empty path behind a delete', () => {
  it.each([
    ['getACL', (client: TestClient) => client.send(OpCode.getAcl, PathRequest, { path: '' }), -101],
    [
      'getAllChildrenNumber',
      (client: TestClient) => client.send(OpCode.getAllChildrenNumber, PathRequest, { path: '' }),
      -101,
    ],
    ['setWatches', setWatches, 0],
  ])('is nothing to %s', (_, send, error) => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    client.delete('/a');
    ensemble.settle();
    client.take();
    const xid = send(client);
    ensemble.settle();
    expect(client.take().find((reply) => reply.xid === xid)?.error).toBe(error);
  });
});
