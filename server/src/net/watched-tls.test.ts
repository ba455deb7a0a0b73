/** What is said of certificates and revocation lists that come to their end meanwhile. */

import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import {
  TestAuthority,
  type TestCertificate,
  writePkcs12,
} from '../simulated/security/certificates.js';
import { systemTimers } from './timers.js';
import { PeerTls, WatchedTls } from './watched-tls.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_WALL_MS = Date.now();
/** Levels of pino. */
const [WARN, ERROR] = [40, 50];

interface Others {
  /** For an intermediate certificate behind it in the file. */
  readonly chainDays?: number;
  /** For an authority in a `caFile`, which has a revocation list for two days. */
  readonly authorityDays?: number;
}

function useCertificate(days: number, { chainDays, authorityDays }: Others = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-expiry-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const endOf = (inDays: number) => Math.ceil(NOW_WALL_MS / 1_000) * 1_000 + inDays * DAY_MS;
  const endsWallMs = endOf(days);
  const authority = new TestAuthority(directory, 'authority', authorityDays);
  const { certFile, keyFile } = authority.sign('server', { endsWallMs });
  if (chainDays !== undefined) {
    const { cert } = authority.sign('between', { endsWallMs: endOf(chainDays) });
    appendFileSync(certFile, cert);
  }
  const timers = new ManualTimers(NOW_WALL_MS);
  const { logger, lines } = keptLog();
  const settings = {
    certFile,
    keyFile,
    caFile: authorityDays === undefined ? null : authority.caFile,
    pkcs12File: null,
    passphraseFile: null,
    crlFiles: authorityDays === undefined ? [] : [authority.revocationList('revoked')],
  };
  const tls = new WatchedTls(
    settings,
    { name: 'tls', port: 'client', handshakesMax: 1 },
    logger,
    timers,
  );
  const told = () => lines.splice(0).map(({ msg }) => msg);
  return { tls, timers, told, lines, endsWallMs };
}

it('warns two weeks before the end, and each day from then on, also behind it', async () => {
  const { tls, timers, told, endsWallMs } = useCertificate(30);
  tls.start();
  expect(tls.figures.expiresWallMs).toBe(endsWallMs);
  expect(told()).toEqual(['tls.certificate']);
  for (let day = 1; day <= 15; day++) await timers.suspend(DAY_MS);
  expect(told()).toEqual([]);
  for (let day = 16; day <= 18; day++) await timers.suspend(DAY_MS);
  const soon = told();
  expect(soon.length).toBeGreaterThanOrEqual(2);
  expect(new Set(soon)).toEqual(new Set(['tls.certificate_expires_soon']));
  await timers.suspend(endsWallMs - timers.wallMs());
  expect(told()).not.toContain('tls.certificate_expired');
  await timers.suspend(1_000);
  expect(told()).toEqual(['tls.certificate_expired']);
  await timers.suspend(DAY_MS);
  expect(told()).toEqual(['tls.certificate_expired']);
  tls.close();
  await timers.suspend(2 * DAY_MS);
  expect(told()).toEqual([]);
});

it('says nothing more where a member was not started, because nothing keeps its time', async () => {
  const { timers, told } = useCertificate(1);
  expect(told()).toEqual(['tls.certificate_expires_soon']);
  await timers.suspend(3 * DAY_MS);
  expect(told()).toEqual([]);
});

it('says of a certificate that expires between its load and the start that it has expired', async () => {
  const { tls, timers, told } = useCertificate(0);
  expect(told()).toEqual(['tls.certificate_expires_soon']);
  await timers.advance(2_000);
  tls.start();
  expect(told()).toEqual(['tls.certificate_expired']);
  await timers.advance(1_000);
  expect(told()).toEqual([]);
  tls.close();
});

it('warns once although a timer fires before its time by the clock of the wall', async () => {
  const { tls, timers, told } = useCertificate(0.5);
  expect(told()).toEqual(['tls.certificate_expires_soon']);
  tls.start();
  const setBackMs = 50;
  const wallMs = timers.wallMs.bind(timers);
  timers.wallMs = () => wallMs() - setBackMs;
  const leftMs = tls.figures.expiresWallMs + 1_000 - wallMs();
  await timers.advance(leftMs);
  expect(told()).toEqual([]);
  await timers.advance(setBackMs);
  expect(told()).toEqual(['tls.certificate_expired']);
  tls.close();
});

it('counts an intermediate certificate that expires before the own one', async () => {
  const { tls, lines, endsWallMs } = useCertificate(30, { chainDays: 10 });
  expect(tls.figures.expiresWallMs).toBe(endsWallMs - 20 * DAY_MS);
  expect(lines.map(({ msg, subject }) => [msg, subject])).toEqual([
    ['tls.certificate_expires_soon', 'CN=between'],
  ]);
  expect(useCertificate(10, { chainDays: 30 }).lines).toMatchObject([{ subject: 'CN=server' }]);
});

it('warns of an authority a month before its end, and of a revocation list an hour', async () => {
  const { tls, timers, lines } = useCertificate(90, { authorityDays: 40 });
  tls.start();
  const told = (of: string) =>
    lines
      .splice(0)
      .filter(({ msg }) => String(msg).startsWith(of))
      .map(({ msg, level, port, subject, block }) => [msg, level, port, subject ?? block]);
  const list = 'tls.revocation_list';
  const authority = 'tls.authority';
  expect(lines.map(({ msg }) => msg)).toEqual(['tls.certificate', authority, list]);
  const { listsEndWallMs, authorityExpiresWallMs } = tls.figures;
  expect(lines.at(-1)).toMatchObject({ expires: new Date(listsEndWallMs ?? 0).toISOString() });
  expect(lines.splice(0).at(-1)).toHaveProperty('file', expect.stringMatching(/revoked\.crl$/));
  const goTo = (wallMs: number | null) => timers.advance((wallMs ?? 0) - timers.wallMs());

  await goTo((listsEndWallMs ?? 0) - HOUR_MS);
  expect(told('tls')).toEqual([]);
  await timers.advance(1_000);
  expect(told('tls')).toEqual([[`${list}_expires_soon`, WARN, 'client', 1]]);
  await goTo(listsEndWallMs);
  expect(told('tls')).toEqual([]);
  await timers.advance(1_000);
  expect(told('tls')).toEqual([[`${list}_expired`, ERROR, 'client', 1]]);
  await timers.advance(DAY_MS);
  expect(told('tls')).toEqual([[`${list}_expired`, ERROR, 'client', 1]]);

  await goTo((authorityExpiresWallMs ?? 0) - 30 * DAY_MS);
  expect(told(authority)).toEqual([]);
  await timers.advance(1_000);
  const soon = [`${authority}_expires_soon`, WARN, 'client', 'CN=authority'];
  expect(told(authority)).toEqual([soon]);
  await timers.advance(DAY_MS);
  expect(told(authority)).toEqual([soon]);
  await goTo(authorityExpiresWallMs);
  lines.splice(0);
  await timers.advance(1_000);
  expect(told(authority)).toEqual([[`${authority}_expired`, ERROR, 'client', 'CN=authority']]);
  tls.close();
  await timers.advance(2 * DAY_MS);
  expect(told('tls')).toEqual([]);
});

/** Resolves with the outcome of dialling a member that presents `certificate`. */
async function dialled(tls: PeerTls, { cert, key }: TestCertificate): Promise<string> {
  const server = createServer({ cert, key }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => undefined);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  return await new Promise((resolve) => {
    const socket = connect({ ...tls.dialOptions(), host: '127.0.0.1', port }, () => {
      resolve('connected');
      socket.destroy();
    });
    socket.once('error', ({ message }) => resolve(message));
  });
}

it('trusts the authorities of caFile alone, whatever else a PKCS#12 file contains', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-peer-tls-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const authority = new TestAuthority(directory);
  const stranger = new TestAuthority(directory, 'stranger');
  const pkcs12File = writePkcs12(authority.server('own'), '', stranger.caFile);
  const { caFile } = authority;
  const { logger } = keptLog();
  const settings = {
    certFile: null,
    keyFile: null,
    pkcs12File,
    passphraseFile: null,
    caFile,
    crlFiles: [],
    ensemble: null,
  };
  const tls = new PeerTls(settings, logger, systemTimers());
  onTestFinished(() => tls.close());
  expect(await dialled(tls, authority.server('other'))).toBe('connected');
  const noKeyIds = 'authorityKeyIdentifier=none\nsubjectKeyIdentifier=none';
  const impostor = stranger.sign('impostor', { extensions: noKeyIds });
  expect(await dialled(tls, impostor)).toBe('its authority is not in caFile');
  // Somebody else, who calls himself as the authority, says that it has signed the stranger.
  const elsewhere = mkdtempSync(join(directory, 'elsewhere-'));
  const extensions = `basicConstraints=CA:TRUE\n${noKeyIds}`;
  const forged = new TestAuthority(elsewhere).sign('stranger', { extensions });
  const cert = Buffer.concat([impostor.cert, forged.cert]);
  expect(await dialled(tls, { ...impostor, cert })).toBe('its authority is not in caFile');
});
