import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { checkSettings } from './config-schema.js';

function server(id: number, clientPort: number, peerPort: number, host = '127.0.0.1') {
  return { id, host, clientPort, peerPort };
}

const three = [server(1, 2181, 2881), server(2, 2182, 2882), server(3, 2183, 2883)];

function problemsOf(extra: object): readonly string[] {
  return checkSettings({ dataDir: './data', servers: three, peerAuth: 'none', ...extra }).problems;
}

describe('settings of security', () => {
  it('keep an admin port that shows paths from strangers: off loopback it needs users', () => {
    const user = 'ops:1vdFRDCql3UzcxJ7kySyFCmtSF0=';
    expect(problemsOf({ adminHost: '0.0.0.0' })).toEqual([
      'adminHost: expected a loopback address while there is neither adminUsers, adminReaders ' +
        'nor superDigest, got "0.0.0.0"',
    ]);
    for (const adminHost of ['127.0.0.1', '::1', 'localhost', '127.8.8.8']) {
      expect(problemsOf({ adminHost })).toEqual([]);
    }
    expect(problemsOf({ adminHost: '0.0.0.0', adminUsers: [user] })).toEqual([]);
    expect(problemsOf({ adminHost: '0.0.0.0', adminReaders: [user] })).toEqual([]);
    expect(problemsOf({ adminHost: 'zk1.example' })).toHaveLength(1);
    for (const setting of ['adminUsers', 'adminReaders']) {
      const expected = 'expected a user with a hash, as `rookery config hash-password` prints it';
      expect(problemsOf({ [setting]: ['ops:hunter2'] })).toEqual([
        `${setting}[0]: ${expected}, got something else`,
      ]);
    }
  });

  it('name the origins of proxies in front of an admin port as a browser does', () => {
    const origins = ['https://zk.example', 'http://zk.example:8443', 'https://[::1]:1'];
    expect(problemsOf({ adminOrigins: origins })).toEqual([]);
    for (const origin of [
      ...['zk.example', 'https://zk.example/', 'https://zk.example/zk', 'https://ZK.example'],
      ...['https://zk.example:443', 'ftp://zk.example', 'https://a@zk.example', '*', 'null', ''],
    ]) {
      expect(problemsOf({ adminOrigins: [origin] }), origin).toHaveLength(1);
    }
  });

  it('ask who other members are where other machines may reach their port, unless "none" is written', () => {
    const at = (server: object, peerAuth: unknown = null) =>
      checkSettings({
        dataDir: 'd',
        peerAuth,
        servers: three.map((one, index) => (index === 1 ? { ...one, ...server } : one)),
      }).problems;
    const expected = (host: string) => [
      'peerAuth: expected an object with secretFile or tls, or "none", because members ' +
        `listen on "${host}", which other machines may reach; got nothing`,
    ];
    expect(at({})).toEqual([]);
    expect(at({ host: '10.0.0.1' })).toEqual(expected('10.0.0.1'));
    expect(at({ host: 'zk.example' })).toEqual(expected('zk.example'));
    expect(at({ listen: '*' })).toEqual(expected('*'));
    expect(at({ listen: ['127.0.0.1', '::'] })).toEqual(expected('::'));
    expect(at({ host: 'zk.example', listen: '*', peerListen: '127.0.0.2' })).toEqual([]);
    expect(at({ host: '10.0.0.1' }, 'none')).toEqual([]);
    expect(at({ host: '10.0.0.1' }, { secretFile: 's' })).toEqual([]);
    const alone = [{ ...server(1, 2181, 2881), host: '10.0.0.1' }];
    expect(checkSettings({ dataDir: 'd', servers: alone }).problems).toEqual([]);
  });

  it('take a secret for members by its file only, and never repeat one', () => {
    const { settings } = checkSettings({
      dataDir: 'd',
      servers: three,
      peerAuth: { secretFile: 'peer.secret' },
    });
    expect(settings?.peerAuth).toEqual({ secretFile: 'peer.secret', required: true });
    for (const peerAuth of ['hunter2', { secret: 'hunter2' }, { secretFile: '' }, [], {}]) {
      const problems = problemsOf({ peerAuth });
      expect(problems).toHaveLength(1);
      expect(problems.join()).not.toContain('hunter2');
    }
  });

  it('take certificates of members as PEM or PKCS#12, with who signs them', () => {
    const tls = (files: object) => problemsOf({ peerAuth: { tls: files } });
    const pem = { certFile: 'c.pem', keyFile: 'c.key', caFile: 'ca.pem' };
    expect(tls(pem)).toEqual([]);
    expect(tls({ ...pem, ensemble: 'prod' })).toEqual([]);
    expect(tls({ pkcs12File: 'c.p12', caFile: 'ca.pem' })).toEqual([]);
    expect(problemsOf({ peerAuth: { secretFile: 's', tls: pem } })).toEqual([]);
    for (const wrong of [
      { ...pem, caFile: undefined },
      { ...pem, keyFile: undefined },
      { ...pem, pkcs12File: 'c.p12' },
      { ...pem, ensemble: 'a/b' },
      { ...pem, unknown: 1 },
      {},
    ]) {
      expect(tls(wrong), JSON.stringify(wrong)).toHaveLength(1);
    }
    expect(tls({ ...pem, caFile: undefined })).toEqual([
      'peerAuth.tls.caFile: expected a file, got nothing',
    ]);
    expect(tls({ ...pem, unknown: 1 })).toEqual(['peerAuth.tls.unknown: unknown key']);
  });

  it('take TLS with a certificate and its key, or with PKCS#12, and say what contradicts it', () => {
    const pem = { certFile: 'a.pem', keyFile: 'a.key' };
    const tlsOf = (tls: object) => checkSettings({ dataDir: 'd', servers: three, tls });
    expect(tlsOf(pem).settings?.tls).toMatchObject({ clientAuth: 'none', onClientPort: true });
    expect(tlsOf({ ...pem, caFile: 'ca.pem' }).settings?.tls?.clientAuth).toBe('need');
    expect(tlsOf({ pkcs12File: 'a.p12' }).problems).toEqual([]);
    const either = 'tls: expected either certFile and keyFile, or pkcs12File';
    expect(tlsOf({}).problems).toEqual([either]);
    expect(tlsOf({ certFile: 'a.pem' }).problems).toEqual([either]);
    expect(tlsOf({ ...pem, pkcs12File: 'a.p12' }).problems).toEqual([either]);
    const [needsCa] = tlsOf({ ...pem, clientAuth: 'want' }).problems;
    expect(needsCa).toContain('tls.clientAuth: expected caFile for "want"');
    expect(tlsOf({ ...pem, crlFiles: ['crl.pem'] }).problems[0]).toContain('tls.crlFiles');
    expect(tlsOf({ ...pem, onClientPort: false }).problems[0]).toContain('secureClientPort');
    expect(tlsOf({ ...pem, identity: 'san-uri' }).problems[0]).toContain('tls.identity: expected');
    expect(tlsOf({ ...pem, identity: 'cn' }).problems[0]).toContain('subject, san-uri, san-dns');
    expect(tlsOf({ ...pem, keyfile: 'x' }).problems).toEqual(['tls.keyfile: unknown key']);
    const secure = { servers: [{ ...server(1, 2181, 2881), secureClientPort: 2881 }] };
    const problems = problemsOf(secure);
    expect(problems[0]).toContain('servers[0].secureClientPort: expected tls');
    expect(problems[1]).toContain('2881 is also servers[0].secureClientPort');
  });

  it('ask of clients only what they can prove', () => {
    expect(problemsOf({ enforceAuth: ['digest'] })).toEqual([]);
    expect(problemsOf({ enforceAuth: ['sasl'] })[0]).toContain('enforceAuth: expected sasl');
    expect(problemsOf({ enforceAuth: ['x509'] })[0]).toContain('enforceAuth: expected tls');
    expect(problemsOf({ enforceAuth: ['sasl'], sasl: { usersFile: 'users' } })).toEqual([]);
    expect(problemsOf({ enforceAuth: ['ip'] })[0]).toContain('expected one of digest, x509, sasl');
    expect(problemsOf({ superIdentities: ['sasl:root', 'x509:CN=root'] })).toEqual([]);
    const [secret] = problemsOf({ superIdentities: ['root:secret'] });
    expect(secret).toContain('superIdentities[0]: expected "x509:"');
    expect(secret).not.toContain('secret');
  });

  it('take digests of SHA-1, SHA-256 and SHA-512, and some of these for ACLs', () => {
    const sha256 = 'hcXrlyJr3X38KWSkQCX0A8rvj8mxGMkK3a4eSHjhz2Y=';
    expect(problemsOf({ superDigest: `super:${sha256}` })).toEqual([]);
    expect(problemsOf({ adminUsers: [`ops:${sha256}`] })).toEqual([]);
    expect(problemsOf({ superIdentities: [`digest:root:${sha256}`] })).toEqual([]);
    expect(problemsOf({ superDigest: `super:${sha256.slice(4)}` })).toHaveLength(1);
    const sha512 = createHash('sha512').update('ops:secret').digest('base64');
    expect(problemsOf({ adminUsers: [`ops:${sha512}`] })).toEqual([]);
    expect(problemsOf({ adminUsers: [`ops:${sha512.slice(0, -1)}`] })).toHaveLength(1);
    for (const digestAlgs of [['SHA256'], ['SHA1', 'SHA256'], ['SHA512', 'SHA256', 'SHA1']]) {
      expect(problemsOf({ digestAlgs })).toEqual([]);
    }
    for (const digestAlgs of [[], ['SHA256', 'SHA256'], ['MD5'], 'SHA256']) {
      expect(problemsOf({ digestAlgs })[0]).toContain('some of SHA1, SHA256, SHA512');
    }
  });

  it('never repeat what was given for superDigest', () => {
    const [problem] = problemsOf({ superDigest: 'super:hunter2' });
    expect(problem).toMatch(/^superDigest: expected/);
    expect(problem).not.toContain('hunter2');
    expect(problemsOf({ superDigest: 'super:UdxDQl4f9v5oITwcAsO9bmWgHSI=' })).toEqual([]);
  });
});
