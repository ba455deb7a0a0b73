import { expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import type { ConnectOptions } from '../api/options.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { TlsSource } from '../wire/tls-source.js';
import { checkedOptions } from './options-check.js';

it('has the defaults that are documented', () => {
  expect(checkedOptions({})).toMatchObject({
    sessionTimeoutMs: 30_000,
    connectTimeoutMs: 10_000,
    operationTimeoutMs: 30_000,
    reconnectDelayBaseMs: 50,
    reconnectDelayMaxMs: 5_000,
    outstandingMax: 100_000,
    readOnly: false,
    renewSession: true,
    shuffle: true,
    keepAlive: true,
    worker: null,
    connectDeadlineMs: 30_000,
    frameBytesMax: 16 * 1024 * 1024,
    auth: [],
    tls: expect.any(TlsSource),
    resume: null,
  });
  expect(checkedOptions({ sessionTimeoutMs: 6_000 })).toMatchObject({
    connectTimeoutMs: 2_000,
    reconnectDelayMaxMs: 1_000,
  });
});

const THREAD = new URL('../worker/thread.ts', import.meta.url);

const REFUSED: ConnectOptions[] = [
  { sessionTimeoutMs: 999 },
  { sessionTimeoutMs: 2 ** 31 },
  { sessionTimeoutMs: Number.NaN },
  { connectTimeoutMs: 0 },
  { operationTimeoutMs: -1 },
  { outstandingMax: 0.5 },
  { frameBytesMax: 0 },
  { resume: { sessionId: 0n, password: new Uint8Array(16) } },
  { connectDeadlineMs: -1 },
  { worker: THREAD, surroundings: new FakeSurroundings() },
  { worker: THREAD, tls: { checkServerIdentity: () => undefined } },
];

it.each(REFUSED)('refuses %o', (options) => {
  expect(() => checkedOptions(options)).toThrow(OptionError);
});

it.each([
  [{ sessionTimeout: 5_000 }, 'option sessionTimeout does not exist; is sessionTimeoutMs meant?'],
  [{ chroot: '/app' }, 'option chroot does not exist'],
  [{ auth: { scheme: 'digest', auth: 'a:b' } }, /^option auth is of a wrong type: object$/],
  [{ auth: [{ scheme: 'digest' }] }, 'option auth must hold { scheme:'],
  [{ tls: 'yes' }, 'option tls is of a wrong type: string'],
  [{ shuffle: 0 }, 'option shuffle is of a wrong type: number'],
  [{ signal: new AbortController() }, 'option signal is of a wrong type'],
  [null, 'must be an object'],
])('says what is wrong with %o, which no compiler has seen', (options, message) => {
  const untyped = () => Reflect.apply(checkedOptions, null, [options]);
  expect(untyped).toThrow(OptionError);
  expect(untyped).toThrow(message);
});

it('starts no worker whose thread is not there, as in a bundled program', () => {
  expect(checkedOptions({ worker: THREAD }).worker).toEqual(THREAD);
  for (const url of [new URL('./nowhere.js', THREAD), new URL('https://localhost/thread.js')]) {
    const refused = () => checkedOptions({ worker: url });
    expect(refused).toThrow(OptionError);
    expect(refused).toThrow(`no thread at ${url.href}; in a bundle`);
  }
});

it('takes undefined for an option that is not given', () => {
  expect(checkedOptions({ shuffle: undefined, auth: undefined, signal: undefined })).toMatchObject({
    shuffle: true,
    auth: [],
  });
});
