/**
 * `rookery config check` tries on this machine what a member would try, and names what would fail.
 * Names under `.invalid` never resolve (RFC 2606), and 192.0.2.1 is nobody's address (RFC 5737).
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, Perms } from '@rookery/client';
import { ConfigError } from '@rookery/server';
import { startEnsemble } from '@rookery/server/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { TestAuthority, type TestCertificate } from '../../../server/dist/simulated/index.js';
import { runConfigCheck } from './config-check.js';

interface Entry {
  readonly id: number;
  readonly host: string;
  readonly [key: string]: unknown;
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rookery-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const given = new Set<number>();

/**
 * Returns ports on which nobody listens now, each only once: they belonged to listeners that have
 * closed, so the system may choose them again.
 */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(servers.map((server) => listening(server)));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  if (ports.some((port) => given.has(port))) return await freePorts(count);
  for (const port of ports) given.add(port);
  return ports;
}

async function entry(id: number, more: Readonly<Record<string, unknown>> = {}): Promise<Entry> {
  const [clientPort, peerPort] = await freePorts(2);
  return { id, host: '127.0.0.1', clientPort, peerPort, ...more };
}

async function check(servers: readonly Entry[], id: number | null, more: object = {}) {
  const file = join(folder, 'ensemble.json');
  writeFileSync(file, JSON.stringify({ dataDir: 'data', servers, peerAuth: 'none', ...more }));
  let text = '';
  const code = await runConfigCheck({ file, id }, (line) => {
    text += line;
  });
  return { code, lines: text.trimEnd().split('\n') };
}

describe('config check', () => {
  it('finds no fault with an ensemble that does not run yet', async () => {
    const servers = [await entry(1), await entry(2), await entry(3)];
    const { code, lines } = await check(servers, 1);
    expect(code).toBe(0);
    expect(lines.filter((line) => line.startsWith('FAIL'))).toEqual([]);
    const closed = lines.filter((line) => /^warning .*ECONNREFUSED.* does not run now$/.test(line));
    expect(closed).toHaveLength(4);
    const opened = lines.filter((line) => /^ok .*can be opened$/.test(line));
    expect(opened).toHaveLength(2);
    expect(lines.some((line) => /^ok .*data\/1 can be created; .* GiB are free$/.test(line))).toBe(
      true,
    );
  });

  it('fails for a port that another process has, but not for one that the member has', async () => {
    const answering = (text: string) =>
      listening(createServer((socket) => socket.once('data', () => socket.end(text))));
    const checked = async (text: string) =>
      await check([await entry(1, { clientPort: await answering(text) })], 1);
    const other = await checked('HTTP/1.1 400 Bad Request\r\n');
    expect(other.code).toBe(1);
    expect(other.lines.join()).toMatch(/FAIL .*another process has it \(EADDRINUSE\)/);
    for (const text of ['Mode: follower\n', 'This instance is not currently serving requests\n']) {
      const own = await checked(text);
      expect([own.code, own.lines.join()]).toEqual([0, expect.stringContaining('the member runs')]);
    }
  });

  it('tries every port that the member would open', async () => {
    const [adminPort, secureClientPort] = await freePorts(2);
    const metricsPort = await listening(createServer());
    const self = await entry(1, { metricsPort, adminPort, secureClientPort });
    const { certFile, keyFile } = new TestAuthority(folder).server();
    const { code, lines } = await check([self], 1, { tls: { certFile, keyFile } });
    const tried = lines.filter((line) => line.includes(' on 127.0.0.1, the '));
    expect([code, tried]).toEqual([
      1,
      [
        `ok       port ${self['clientPort']} on 127.0.0.1, the client port, can be opened`,
        `ok       port ${secureClientPort} on 127.0.0.1, the secure client port, can be opened`,
        `FAIL     port ${metricsPort} on 127.0.0.1, the metrics port, cannot be opened: another process has it (EADDRINUSE)`,
        `ok       port ${adminPort} on 127.0.0.1, the admin port, can be opened`,
      ],
    ]);
  });

  it('fails for an address that this machine does not have, and names the remedy', async () => {
    const { code, lines } = await check([await entry(1, { host: '192.0.2.1' })], 1);
    expect(code).toBe(1);
    expect(lines.join()).toMatch(/FAIL .*EADDRNOTAVAIL\); set "listen"/);
    const bound = await check([await entry(1, { host: '192.0.2.1', listen: '*' })], 1);
    expect([bound.code, bound.lines.join()]).toEqual([0, expect.stringContaining('every address')]);
  });

  it('fails for a directory that cannot be created', async () => {
    writeFileSync(join(folder, 'occupied'), '');
    const { code, lines } = await check([await entry(1)], 1, { dataDir: 'occupied' });
    expect(code).toBe(1);
    expect(lines.join()).toMatch(/FAIL .*occupied\/1 cannot be written: .*ENOTDIR/);
  });

  it('fails for a secret of the members that cannot be used, with the remedy', async () => {
    const servers = [await entry(1), await entry(2)];
    const peerAuth = { secretFile: 'peer.secret' };
    const missing = await check(servers, 1, { peerAuth });
    expect([missing.code, missing.lines.join()]).toEqual([
      1,
      expect.stringMatching(/FAIL .*peer\.secret cannot be read/),
    ]);
    writeFileSync(join(folder, 'peer.secret'), 'x'.repeat(40), { mode: 0o644 });
    const open = await check(servers, 1, { peerAuth });
    expect([open.code, open.lines.join()]).toEqual([1, expect.stringContaining('chmod 600')]);
    chmodSync(join(folder, 'peer.secret'), 0o600);
    const good = await check(servers, 1, { peerAuth });
    expect([good.code, good.lines.join()]).toEqual([
      0,
      expect.stringMatching(/ok .*the secret of the members/),
    ]);
  });

  it('fails for certificates of members that refuse each other', async () => {
    const authority = new TestAuthority(folder);
    let made = 0;
    const named = (host: string, more = '') =>
      authority.sign(`member-${++made}`, { extensions: `subjectAltName=IP:${host}\n${more}` });
    const checked = async ({ certFile, keyFile }: TestCertificate, more: object = {}) => {
      const tls = { certFile, keyFile, caFile: authority.caFile, ...more };
      return await check([await entry(1), await entry(2)], 1, { peerAuth: { tls } });
    };
    const good = await checked(named('127.0.0.1'));
    expect([good.code, good.lines.join()]).toEqual([
      0,
      expect.stringMatching(/warning +the certificate for members \(CN=member-1\) expires on/),
    ]);
    const authorities = good.lines.filter((line) => line.includes('caFile'));
    expect(authorities.join()).toMatch(
      /^warning +the authority of members in caFile \(CN=authority\) expires on [^,]*before$/,
    );
    const lasting = new TestAuthority(folder, 'lasting', 31);
    const trusted = await checked(named('127.0.0.1'), { caFile: lasting.caFile });
    expect(trusted.lines.join()).not.toContain('caFile');
    for (const [certificate, said, more] of [
      [named('127.0.0.2'), 'does not name the host of member 1'],
      [named('127.0.0.1', 'extendedKeyUsage=serverAuth'), 'refuse each other: INVALID_PURPOSE'],
      [authority.sign('old', { days: 0 }), 'has expired on'],
      [named('127.0.0.1'), 'refuse each other', { caFile: new TestAuthority(folder, 'b').caFile }],
      [named('127.0.0.1'), 'cannot be read', { keyFile: join(folder, 'missing') }],
    ] as const) {
      const bad = await checked(certificate, more);
      expect([bad.code, bad.lines.join()], said).toEqual([
        1,
        expect.stringMatching(new RegExp(`FAIL [^,]*${said}`)),
      ]);
    }
  });

  it('reads what clients are authenticated by, and tries the places of audit and backups', async () => {
    const authority = new TestAuthority(folder);
    const { certFile, keyFile } = authority.server();
    const tls = { certFile, keyFile, caFile: authority.caFile };
    const users = join(folder, 'users');
    writeFileSync(users, 'ann:secret\n', { mode: 0o600 });
    const servers = [await entry(1)];
    const more = {
      tls: { ...tls, crlFiles: [authority.revocationList('fresh')] },
      sasl: { usersFile: users },
      superIdentities: ['sasl:ann', 'sasl:bob'],
      auditFile: 'audit.jsonl',
      backupDirectory: 'backups',
    };
    const good = await check(servers, 1, more);
    expect(good.code).toBe(0);
    expect(good.lines.join()).toMatch(/warning +the authority of clients in caFile/);
    expect(good.lines.join()).toMatch(/ok +\S+users has one user of SASL/);
    expect(good.lines.join()).toMatch(/warning +superIdentities names sasl:bob/);
    expect(good.lines.join()).toMatch(/warning +\S+backups is on the disk of the data/);
    const wrong = {
      tls: { ...tls, keyFile: certFile },
      sasl: { usersFile: certFile },
      auditFile: 'missing/audit.jsonl',
    };
    const bad = await check(servers, 1, wrong);
    expect(bad.lines.filter((line) => line.startsWith('FAIL'))).toHaveLength(3);
    expect(bad.code).toBe(1);
    // Without a member, these may be files of other machines.
    expect((await check(servers, null, wrong)).code).toBe(0);
  });

  it('warns of a root that is open, because rootAcl came after the founding', async () => {
    const ensemble = await startEnsemble({ size: 1 });
    onTestFinished(() => ensemble.stop());
    const clientPort = Number(ensemble.members[0]?.clientAddress.split(':')[1]);
    const servers = [await entry(1, { clientPort })];
    const rootAcl = ['digest:ann:1vdFRDCql3UzcxJ7kySyFCmtSF0=:cdrwa', 'world:anyone:rc'];
    const open = await check(servers, null, { rootAcl });
    expect([open.code, open.lines.join()]).toEqual([
      0,
      expect.stringMatching(/warning +any client may change the root of the tree \(dwa\)/),
    ]);
    const client = await connect(ensemble.connectString);
    await client.setAcl('/', [{ perms: Perms.read, scheme: 'world', id: 'anyone' }]);
    await client.close();
    const closed = await check(servers, null, { rootAcl });
    expect(closed.lines.join()).toMatch(/ok +the root of the tree is not more open than rootAcl/);
    const wrong = await check(servers, null, { rootAcl: ['sasl:ann:cdrwa'] });
    expect([wrong.code, wrong.lines.join()]).toEqual([1, expect.stringContaining('rootAcl[0]')]);
  });

  it('fails for a name that does not resolve', async () => {
    const servers = [await entry(1), await entry(2, { host: 'nobody.invalid' })];
    const { code, lines } = await check(servers, null);
    expect(code).toBe(1);
    expect(lines.join()).toContain('the name of member 2, nobody.invalid, does not resolve here');
  });

  it.each([
    { apart: 'an hour', ms: 3_600_000, verdict: 'FAIL' },
    { apart: 'nothing', ms: 0, verdict: 'ok' },
  ])('compares clocks that are $apart apart', async ({ ms, verdict }) => {
    const metricsPort = await listening(
      createHttpServer({}, (_, response) => {
        response.setHeader('date', new Date(Date.now() - ms).toUTCString());
        response.end('ok');
      }),
    );
    const { code, lines } = await check([await entry(1), await entry(2, { metricsPort })], 1);
    expect(code).toBe(verdict === 'ok' ? 0 : 1);
    expect(lines.find((line) => line.includes('the clocks of member 2'))).toMatch(
      new RegExp(`^${verdict} `),
    );
  });

  it('reports an invalid config file in the same words as a start does', async () => {
    const failing = check([{ id: 1, host: 'a b' }], null);
    await expect(failing).rejects.toThrow(ConfigError);
  });
});
