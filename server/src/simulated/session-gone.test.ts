/**
 * When a client is told that its session is gone, in whole members: not before the closing of it
 * stands, whoever leads next.
 */
import { type Codec, OpCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { connected, follower, serving } from './scenario.js';

/** More than a round trip to a quorum, less than any patience with a disk. */
const HANG_MS = 200;
const NOTHING: Codec<null> = { read: () => null, write: () => undefined };

describe('that a session is gone', () => {
  it.each(['leader', 'follower'])(
    'is told at the %s only once the closing of it is committed',
    async (where) => {
      const ensemble = await serving();
      const client = await connected(ensemble, follower(ensemble));
      const session = client.connected;
      if (session === null) throw new Error('no session was opened');
      const target = where === 'leader' ? ensemble.leader : follower(ensemble);
      const next = await ensemble.client(target);
      for (const id of [1, 2, 3]) ensemble.hang(id);
      client.send(OpCode.closeSession, NOTHING, null);
      await ensemble.timers.advance(HANG_MS);
      client.drop();
      next.connect(session);
      await ensemble.timers.advance(HANG_MS);
      expect(next.connected).toBeNull();
      for (const id of [1, 2, 3]) ensemble.unhang(id);
      await ensemble.until(() => next.connected !== null, 'was the handshake answered');
      expect(next.connected?.timeoutMs).toBe(0);
      const { sessions } = ensemble.member(ensemble.leader).status;
      expect([...(sessions?.all ?? ['none is told'])]).toEqual([]);
    },
  );
});
