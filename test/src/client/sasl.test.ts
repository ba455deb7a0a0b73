/**
 * The client logs in by DIGEST-MD5, to Rookery and to Apache ZooKeeper alike, with and without
 * members that let nobody else in.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AuthFailedError, type ConnectOptions, connect, NoAuthError } from '@rookery/client';
import { afterAll, expect, it } from 'vitest';
import { newTestDirectory, useServingEnsemble } from '../harness/ensemble.js';
import { productUnderTest } from '../harness/product.js';
import { sharedEnsemble } from './shared-ensemble.js';

const directory = newTestDirectory();
const usersFile = join(directory, 'users');
writeFileSync(usersFile, 'bob:secret\nann:pass-word\n', { mode: 0o600 });
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const ensemble = sharedEnsemble({ settings: { sasl: { usersFile } } });
const BOB = { username: 'bob', password: 'secret' };
const ANN = { username: 'ann', password: 'pass-word' };

function opened(options: ConnectOptions, ports: readonly number[] = ensemble().ports) {
  return connect(ports.map((port) => `127.0.0.1:${port}`).join(), {
    sessionTimeoutMs: 10_000,
    signal: AbortSignal.timeout(60_000),
    ...options,
  });
}

it('is the user of its ACLs on each member, and nobody else is', async () => {
  const bob = await opened({ sasl: BOB });
  const acl = [{ perms: 31, scheme: 'sasl', id: 'bob' }];
  await bob.create('/bobs', 'private', { acl });
  for (const port of ensemble().ports) {
    const again = await opened({ sasl: BOB }, [port]);
    await again.sync('/bobs');
    expect((await again.getData('/bobs')).data?.toString()).toBe('private');
    await again.close();
  }
  const ann = await opened({ sasl: ANN });
  await ann.sync('/bobs');
  await expect(ann.getData('/bobs')).rejects.toThrow(NoAuthError);
  const nobody = await opened({});
  await expect(nobody.getData('/bobs')).rejects.toThrow(NoAuthError);
  for (const client of [bob, ann, nobody]) await client.close();
});

it('is refused with a wrong password and as an unknown user, for good', async () => {
  const wrong = { username: 'bob', password: 'guessed' };
  await expect(opened({ sasl: wrong })).rejects.toThrow(AuthFailedError);
  // ZooKeeper 3.8 checks an unknown user with the password of whoever logged in there before.
  const password = productUnderTest().name === 'apache' ? 'guessed' : 'secret';
  const unknown = { username: 'eve', password };
  await expect(opened({ sasl: unknown })).rejects.toThrow(AuthFailedError);
});

it('gets in where everybody must log in, and others do not', async () => {
  const settings = { sasl: { usersFile }, enforceAuth: ['sasl'] };
  const strict = await useServingEnsemble({ size: 1, settings });
  const bob = await opened({ sasl: BOB }, strict.ports);
  await bob.create('/in', '');
  await bob.close();
  const nobody = await opened({ operationTimeoutMs: 3_000 }, strict.ports);
  await expect(nobody.getData('/in')).rejects.toThrow();
  await nobody.close();
});
