/**
 * ZOOKEEPER-4814: every ConnectResponse contained the readOnly byte, which clients before 3.4
 * neither send nor expect; such a client took it for the beginning of the next frame.
 */

import { expect, it } from 'vitest';
import { type TestClient, TestEnsemble } from '../simulated.js';

const OLD_BYTES = 36;

/** The bytes of the only frame that was sent as the answer, without its length. */
function answerBytes(client: TestClient): number {
  const frames = client.takeFrames();
  expect(frames.length).toBe(1);
  return frames[0]?.length ?? 0;
}

it('ZK-4814: a client receives a readOnly byte if and only if it sent one, whatever the answer', () => {
  for (const readOnly of [null, false, true]) {
    const bytes = readOnly === null ? OLD_BYTES : OLD_BYTES + 1;
    const ensemble = new TestEnsemble();
    const fresh = ensemble.open();
    fresh.connect({ readOnly });
    ensemble.settle();
    expect(answerBytes(fresh), 'a new session').toBe(bytes);
    // The next frame begins where the client expects it.
    fresh.exists('/');
    expect(fresh.takeOne().error).toBe(0);

    const known = ensemble.connect();
    const resumed = ensemble.open();
    resumed.connect({ readOnly, sessionId: known.session, password: known.password });
    ensemble.settle();
    expect(answerBytes(resumed), 'a session resumed').toBe(bytes);

    const refused = ensemble.open();
    refused.connect({ readOnly, sessionId: 4711, password: new Uint8Array(16) });
    ensemble.settle();
    expect(answerBytes(refused), 'a session that is gone').toBe(bytes);
  }
});
