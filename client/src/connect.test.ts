import { channel } from 'node:diagnostics_channel';
import { OperationTimeoutError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { connect, createClient } from './connect.js';
import { FakeSurroundings } from './testing/fake-surroundings.js';

/** Nobody listens there: a port below 1024 that no service has. */
const NOBODY = '127.0.0.1:1';

function attemptFailed(): Promise<unknown> {
  return new Promise((resolve) => {
    const attempts = channel('rookery:client:attempt');
    attempts.subscribe(function onAttempt(message) {
      attempts.unsubscribe(onAttempt);
      resolve(message);
    });
  });
}

it.each([
  [{}, 30_000],
  [{ connectDeadlineMs: 700 }, 700],
])('rejects without a session at the deadline, %o, and says why', async (options, deadlineMs) => {
  const surroundings = new FakeSurroundings();
  const failed = attemptFailed();
  const connecting = connect(NOBODY, { surroundings, ...options });
  const outcome = connecting.then(
    () => null,
    (error: unknown) => error,
  );
  expect(await failed).toMatchObject({
    server: NOBODY,
    error: { cause: { code: 'ECONNREFUSED' } },
  });
  // The round ends, and with it the reason is known.
  await new Promise(setImmediate);
  surroundings.advance(deadlineMs);
  const error = await outcome;
  expect(error).toBeInstanceOf(OperationTimeoutError);
  expect(error).toMatchObject({ cause: expect.any(Error), ambiguous: false });
  expect(surroundings.timerCount).toBe(0);
});

it('says by a warning that no server is to be had, and why', async () => {
  const surroundings = new FakeSurroundings();
  const warned = new Promise<Error>((resolve) => {
    process.on('warning', function onWarning(warning) {
      if (!warning.message.startsWith('no server for')) return;
      process.off('warning', onWarning);
      resolve(warning);
    });
  });
  // Of this kind no name is ever resolved (RFC 6761).
  const client = createClient(`${NOBODY},nowhere.invalid:2181`, { surroundings, shuffle: false });
  let isWarned = false;
  void warned.then(() => {
    isWarned = true;
  });
  while (!isWarned) {
    surroundings.advance(1_000);
    await new Promise(setImmediate);
  }
  const warning = await warned;
  expect(warning).toMatchObject({ name: 'RookeryWarning', code: 'ROOKERY_NO_SERVER' });
  expect(warning.message).toContain(`${NOBODY}: connect ECONNREFUSED`);
  expect(warning.message).toContain('nowhere.invalid:2181: ');
  await client.close();
});
