/** What is said of a certificate that comes to its end while the member runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keptLog } from '../simulated/net/fixtures.js';
import { ManualTimers } from '../simulated/net/manual-timers.js';
import { TestAuthority } from '../simulated/security/certificates.js';
import { WatchedTls } from './watched-tls.js';

const DAY_MS = 24 * 3_600_000;
const NOW_WALL_MS = Date.now();

function useCertificate(days: number) {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-expiry-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const endsWallMs = Math.ceil(NOW_WALL_MS / 1_000) * 1_000 + days * DAY_MS;
  const { certFile, keyFile } = new TestAuthority(directory).sign('server', { endsWallMs });
  const timers = new ManualTimers(NOW_WALL_MS);
  const { logger, lines } = keptLog();
  const tls = new WatchedTls({
    name: 'tls',
    port: 'client',
    handshakesMax: 1,
    logger,
    timers,
    settings: {
      certFile,
      keyFile,
      caFile: null,
      pkcs12File: null,
      passphraseFile: null,
      crlFiles: [],
    },
  });
  const told = () => lines.splice(0).map(({ msg }) => msg);
  return { tls, timers, told, endsWallMs };
}

it('warns two weeks before the end, and each day from then on, also behind it', async () => {
  const { tls, timers, told, endsWallMs } = useCertificate(30);
  tls.start();
  expect(tls.figures.expiresWallMs).toBe(endsWallMs);
  expect(told()).toEqual(['tls.certificate']);
  for (let day = 1; day <= 15; day++) await timers.stop(DAY_MS);
  expect(told()).toEqual([]);
  for (let day = 16; day <= 18; day++) await timers.stop(DAY_MS);
  const soon = told();
  expect(soon.length).toBeGreaterThanOrEqual(2);
  expect(new Set(soon)).toEqual(new Set(['tls.certificate_expires_soon']));
  await timers.stop(endsWallMs - timers.wallMs());
  expect(told()).not.toContain('tls.certificate_expired');
  await timers.stop(1_000);
  expect(told()).toEqual(['tls.certificate_expired']);
  await timers.stop(DAY_MS);
  expect(told()).toEqual(['tls.certificate_expired']);
  tls.close();
  await timers.stop(2 * DAY_MS);
  expect(told()).toEqual([]);
});

it('says nothing more where a member was not started, because nothing keeps its time', async () => {
  const { timers, told } = useCertificate(1);
  expect(told()).toEqual(['tls.certificate_expires_soon']);
  await timers.stop(3 * DAY_MS);
  expect(told()).toEqual([]);
});
