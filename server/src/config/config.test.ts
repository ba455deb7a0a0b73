import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, loadConfig, memberDirectories } from './config.js';
import { checkSettings } from './config-schema.js';

function server(id: number, clientPort: number, peerPort: number, host = '127.0.0.1') {
  return { id, host, clientPort, peerPort };
}

const three = [server(1, 2181, 2881), server(2, 2182, 2882), server(3, 2183, 2883)];

function problemsOf(extra: object): readonly string[] {
  return checkSettings({ dataDir: './data', servers: three, peerAuth: 'none', ...extra }).problems;
}

describe('a config file', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rookery-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function file(text: string): string {
    const path = join(folder, 'ensemble.json');
    writeFileSync(path, text);
    return path;
  }

  it('as in ensemble.example.json loads with every documented default', () => {
    const example = new URL('../../../ensemble.example.json', import.meta.url);
    const config = loadConfig(file(readFileSync(example, 'utf8')), 1);
    expect(config).toEqual({
      dataDir: join(folder, 'data'),
      dataLogDir: join(folder, 'data'),
      digestAlgs: ['SHA1'],
      rootAcl: null,
      requestsPerSecondMax: 0,
      backupDirectory: null,
      backupEveryMinutes: 1440,
      backupsKept: 14,
      backupDaysKept: 0,
      tickTimeMs: 2000,
      servers: three,
      peerAuth: null,
      initLimit: 10,
      syncLimit: 5,
      peerHeartbeatMs: 100,
      peerTimeoutMs: 1000,
      minSessionTimeoutMs: 4000,
      maxSessionTimeoutMs: 40_000,
      maxClientCnxns: null,
      connectionTokensMax: 0,
      connectionTokensPerSecond: 100,
      globalOutstandingLimit: 1000,
      frameBytesMax: 1_048_575,
      inputBytesMax: null,
      outputBytesMax: null,
      fourLetterWords: '*',
      extendedTypes: true,
      superDigest: null,
      tls: null,
      sasl: null,
      enforceAuth: [],
      superIdentities: [],
      skipACL: false,
      enforceQuota: false,
      treeBytesMax: null,
      diskReserveBytes: null,
      ephemeralsPerSessionMax: 1_000_000,
      multiOpsMax: 4096,
      pathDepthMax: 2000,
      neverUsedContainersMs: 0,
      readOnlyMode: false,
      localSessions: false,
      reconfigEnabled: false,
      holdLevel: null,
      ensembleName: null,
      metricsHost: null,
      adminHost: '127.0.0.1',
      adminUsers: [],
      adminReaders: [],
      adminOrigins: [],
      adminReadOnly: false,
      auditFile: null,
      auditBytesMax: 67_108_864,
      auditFilesKept: 10,
      auditRequired: false,
      logLevel: 'info',
    });
  });

  it('may give absolute directories, and each member has its own inside them', () => {
    const settings = { dataDir: '/srv/a', dataLogDir: '/srv/b', servers: three };
    const config = loadConfig(file(JSON.stringify(settings)), 2);
    expect(memberDirectories(config, 2)).toEqual({ data: '/srv/a/2', log: '/srv/b/2' });
  });

  it('may name a file for the audit log next to it, and must if that is required', () => {
    const auditing = { dataDir: 'x', servers: three, auditRequired: true };
    const audited = JSON.stringify({ ...auditing, auditFile: 'audit.jsonl' });
    expect(loadConfig(file(audited), 1).auditFile).toBe(join(folder, 'audit.jsonl'));
    expect(checkSettings(auditing).problems).toEqual([
      'auditFile: expected a file while auditRequired is true, got nothing',
    ]);
  });

  it('may name the secret of its members next to it', () => {
    const peerAuth = { secretFile: 'peer.secret', required: false };
    const config = loadConfig(file(JSON.stringify({ dataDir: 'x', servers: three, peerAuth })), 1);
    const secretFile = join(folder, 'peer.secret');
    expect(config.peerAuth).toEqual({ secretFile, required: false });
  });

  it('that lists no such member is refused with the ids there are', () => {
    const path = file(JSON.stringify({ dataDir: 'x', servers: three }));
    expect(() => loadConfig(path, 4)).toThrow(/servers: none has the id 4 \(the ids are 1, 2, 3\)/);
  });

  it('has each key once, and the one that is there twice is named with its place', () => {
    const server = '{ "id": 1, "host": "h", "clientPort": 1,\n"peerPort": 2, "clientPort": 3 }';
    const text = `{ "dataDir": "a",\n"servers": [${server}],\n"dataDir": "b" }`;
    expect(() => loadConfig(file(text), 1)).toThrow(
      /2 problems\n {2}the key "clientPort" of servers\[0\] is there twice \(lines 2 and 3\)/,
    );
    expect(() => loadConfig(file(text), 1)).toThrow('the key "dataDir" is there twice');
  });

  it('names paths without a NUL character, which no system takes', () => {
    const nul = 'a\0b';
    for (const [key, what] of [
      ['dataDir', 'a directory'],
      ['dataLogDir', 'a directory'],
      ['backupDirectory', 'a directory'],
      ['auditFile', 'a file'],
    ] as const) {
      const [problem, ...others] = problemsOf({ [key]: nul });
      expect(problem).toContain(`${key}: expected ${what} without a NUL character`);
      expect(others, key).toEqual([]);
    }
    const tls = { certFile: nul, keyFile: nul, caFile: nul, crlFiles: [nul] };
    for (const setting of [{ tls }, { peerAuth: { secretFile: nul } }, { peerAuth: { tls } }]) {
      expect(problemsOf(setting).join()).toContain('NUL');
    }
    expect(problemsOf({ sasl: { usersFile: nul } }).join()).toContain('NUL');
  });

  it('may begin with a byte order mark, and with one alone', () => {
    const text = JSON.stringify({ dataDir: 'x', servers: three });
    expect(loadConfig(file(`\uFEFF${text}`), 1).servers).toEqual(three);
    expect(() => loadConfig(file(`\uFEFF\uFEFF${text}`), 1)).toThrow(/is not JSON/);
  });

  it('that is missing or no JSON is refused by name', () => {
    const missing = join(folder, 'nowhere.json');
    expect(() => loadConfig(missing, 1)).toThrow(/nowhere\.json: 1 problem\n {2}cannot be read/);
    expect(() => loadConfig(file('{ "dataDir": '), 1)).toThrow(/is not JSON/);
  });

  it('with five mistakes is refused with one line for each and exit code 2', () => {
    const text = JSON.stringify({
      tickTime: 2000,
      dataDir: '',
      peerHeartbeatMs: 600,
      servers: [server(1, 2181, 2881), { ...server(1, 2181, 2882), clientPort: '2182' }],
    });
    const error = thrownBy(() => loadConfig(file(text), 1));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ exitCode: 2 });
    expect(String(error).split('\n').slice(1)).toEqual([
      '  dataDir: expected a directory, got ""',
      '  servers[1].clientPort: expected a whole number from 1 to 65535, got "2182"',
      '  tickTime: unknown key',
      '  peerTimeoutMs: expected more than twice peerHeartbeatMs (600), got 1000',
      '  servers[1].id: expected a unique id, 1 is also servers[0].id',
    ]);
  });
});

describe('settings', () => {
  it('are refused when the whole is not an object', () => {
    for (const raw of [null, [], 'x', 3]) expect(checkSettings(raw).problems).toHaveLength(1);
  });

  it('name unknown keys inside a server too', () => {
    const servers = [{ ...server(1, 2181, 2881), role: 'observer' }];
    expect(problemsOf({ servers })).toEqual(['servers[0].role: unknown key']);
  });

  it('name each missing key', () => {
    expect(checkSettings({ servers: [{ id: 1 }] }).problems).toEqual([
      'dataDir: expected a directory, got nothing',
      'servers[0].host: expected a host name or an IP address, got nothing',
      'servers[0].clientPort: expected a whole number from 1 to 65535, got nothing',
      'servers[0].peerPort: expected a whole number from 1 to 65535, got nothing',
    ]);
  });

  it('need at least one server and are content with exactly one', () => {
    expect(problemsOf({ servers: [] })).toEqual(['servers: expected at least one server, got []']);
    expect(problemsOf({ servers: [server(7, 2181, 2881)] })).toEqual([]);
  });

  it('refuse a client port that is a peer port on the same host, under any of its names', () => {
    const servers = [server(1, 2181, 2881), server(2, 2881, 2882, 'localhost')];
    expect(problemsOf({ servers })).toEqual([
      'servers[1].clientPort: expected a free port, 2881 is also servers[0].peerPort',
    ]);
    expect(problemsOf({ servers: [server(1, 2181, 2181)] })).toHaveLength(1);
  });

  it('take what a port is opened on: an address, a name, all addresses, or several', () => {
    for (const listen of ['*', '::', '10.0.0.1', 'a.test', ['10.0.0.1', '::1']]) {
      const servers = [{ ...server(1, 1, 2), listen, peerListen: listen, clientHost: 'c.test' }];
      expect(problemsOf({ servers })).toEqual([]);
    }
    for (const listen of ['', '10.0.0', [], ['a', 'a'], [['a']], 5, ['*', 'a b'], null]) {
      for (const key of ['listen', 'peerListen']) {
        const [problem, ...others] = problemsOf({
          servers: [{ ...server(1, 1, 2), [key]: listen }],
        });
        expect(others).toEqual([]);
        expect(problem).toMatch(
          /^servers\[0\]\..*isten: expected "\*", a host name or an IP address/,
        );
      }
    }
  });

  it('accept equal ports on different hosts', () => {
    const servers = [server(1, 2181, 2881, 'a.example'), server(2, 2181, 2881, 'b.example')];
    expect(problemsOf({ servers })).toEqual([]);
  });

  it('refuse a host that cannot be dialled', () => {
    for (const host of ['', 'a b', '127.0.0.1:80', '127.0.0', '300.1.1.1', 5]) {
      expect(problemsOf({ servers: [{ ...server(1, 1, 2), host }] })).toHaveLength(1);
    }
    expect(problemsOf({ servers: [server(1, 1, 2, '0.0.0.0')] })).toEqual([]);
    const two = [server(1, 1, 2, '0.0.0.0'), server(2, 3, 4)];
    expect(problemsOf({ servers: two })).toHaveLength(1);
    expect(problemsOf({ servers: [server(1, 1, 2, '::1')] })).toEqual([]);
    expect(problemsOf({ servers: [server(1, 1, 2, '[::1]')] })).toEqual([
      'servers[0].host: expected a host name or an IP address without brackets, got "[::1]"',
    ]);
  });

  it('allow the id 255 only without extended types', () => {
    const servers = [server(255, 2181, 2881)];
    expect(problemsOf({ servers })).toHaveLength(1);
    expect(problemsOf({ servers, extendedTypes: false })).toEqual([]);
    expect(problemsOf({ servers: [server(254, 2181, 2881)] })).toEqual([]);
    expect(problemsOf({ servers: [server(256, 2181, 2881)], extendedTypes: false })).toHaveLength(
      1,
    );
  });

  it('refuse session limits that contradict each other, defaults included', () => {
    const limits = (min?: number, max?: number) =>
      problemsOf({
        ...(min === undefined ? {} : { minSessionTimeoutMs: min }),
        ...(max === undefined ? {} : { maxSessionTimeoutMs: max }),
      });
    expect(limits(5000, 5000)).toEqual([]);
    expect(limits(5001, 5000)).toHaveLength(1);
    expect(limits(40_001)).toEqual([
      'minSessionTimeoutMs: expected at most maxSessionTimeoutMs (40000, 20 times tickTimeMs), got 40001',
    ]);
    expect(limits(undefined, 3999)).toEqual([
      'minSessionTimeoutMs: expected at most maxSessionTimeoutMs (3999), got 4000 (2 times tickTimeMs)',
    ]);
  });

  it('refuse a peer timeout of exactly two heartbeats and accept one more', () => {
    expect(problemsOf({ peerHeartbeatMs: 100, peerTimeoutMs: 200 })).toHaveLength(1);
    expect(problemsOf({ peerHeartbeatMs: 100, peerTimeoutMs: 201 })).toEqual([]);
  });

  it('refuse frames that take longer from member to member than the peer timeout', () => {
    const frameBytesMax = 32 << 20;
    expect(problemsOf({ frameBytesMax })).toEqual([
      'peerTimeoutMs: expected at least 4096 for frames of 33554432 bytes, got 1000',
    ]);
    expect(problemsOf({ frameBytesMax, peerTimeoutMs: 4096 })).toEqual([]);
    expect(problemsOf({ frameBytesMax: 8_000_000 })).toEqual([]);
  });

  it('take four-letter words as a list and refuse unknown ones', () => {
    const words = (fourLetterWords: string) =>
      checkSettings({ dataDir: 'd', servers: three, fourLetterWords });
    expect(words('ruok, srvr').settings?.fourLetterWords).toEqual(['ruok', 'srvr']);
    expect(words('ruok,*').settings?.fourLetterWords).toBe('*');
    expect(words('').settings?.fourLetterWords).toEqual([]);
    expect(words('ruok,nope').problems).toHaveLength(1);
  });

  it('answer by default no word that shows paths or sessions (CVE-2017-5637), but all on loopback', () => {
    const words = (...hosts: readonly string[]) => {
      const servers = three.map((server, index) => ({ ...server, host: hosts[index] }));
      return checkSettings({ dataDir: 'd', servers, peerAuth: 'none' }).settings?.fourLetterWords;
    };
    const harmless = ['conf', 'dirs', 'envi', 'gtmk', 'hash', 'isro', 'mntr', 'ruok', 'srvr'];
    const expected = [...harmless, 'stat', 'wchs'];
    expect(words('127.0.0.1', 'localhost', '::1')).toBe('*');
    expect(words('127.0.0.2', 'LocalHost', '::ffff:127.9.9.9')).toBe('*');
    expect(words('127.0.0.1', '127.0.0.2', '10.0.0.1')).toEqual(expected);
    expect(words('127.0.0.1', '127.0.0.2', 'localhost.example.org')).toEqual(expected);
    expect(words('127.0.0.1', '127.0.0.2', '::2')).toEqual(expected);
    // What is bound counts, not what others dial.
    const elsewhere = three.map((server) => ({ ...server, host: 'localhost', listen: '*' }));
    const bound = checkSettings({ dataDir: 'd', servers: elsewhere, peerAuth: 'none' });
    expect(bound.settings?.fourLetterWords).toEqual(expected);
    const standalone = [{ id: 1, host: '0.0.0.0', clientPort: 1, peerPort: 2 }];
    const open = checkSettings({ dataDir: 'd', servers: standalone });
    expect(open.settings?.fourLetterWords).toEqual(expected);
  });

  it('refuse two ports of a server that are one, whatever they are for', () => {
    const server = { id: 1, host: 'h', clientPort: 1, peerPort: 2, metricsPort: 3, adminPort: 3 };
    const { problems } = checkSettings({ dataDir: 'd', servers: [server] });
    expect(problems).toEqual([
      'servers[0].adminPort: expected a free port, 3 is also servers[0].metricsPort',
    ]);
  });

  it('refuse a wrong type with one line, whatever the key', () => {
    const keys = Object.keys(checkSettings({ dataDir: 'd', servers: three }).settings ?? {});
    expect(keys).toHaveLength(56);
    for (const key of keys) {
      // The one setting that is an object with a part that must be there.
      const wrong = key === 'sasl' ? 'a text' : { nested: true };
      expect(problemsOf({ [key]: wrong }), key).toHaveLength(1);
    }
    for (const key of ['tickTimeMs', 'initLimit', 'frameBytesMax', 'maxClientCnxns']) {
      for (const value of [-1, 1.5, 1e300, '10']) {
        expect(problemsOf({ [key]: value }), `${key} ${value}`).toHaveLength(1);
      }
    }
  });
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
