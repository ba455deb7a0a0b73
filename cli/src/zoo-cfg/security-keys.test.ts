/**
 * The keys of TLS, SASL and identities in a zoo.cfg become settings. Names and defaults are those
 * of ZooKeeper's administrator's guide.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runFromZooCfg } from '../config/config-command.js';

const BASE = `dataDir=/data
clientPort=2181
server.1=zk1:2888:3888
server.2=zk2:2888:3888
server.3=zk3:2888:3888
`;
const CLIENTS = 'secureClientPort=2281\nssl.keyStore.location=/k.pem\n';
const TRUST = 'ssl.trustStore.location=/ca.pem\n';
const MEMBERS =
  'ssl.quorum.keyStore.location=/k.p12\nssl.quorum.trustStore.location=/ca.crt\n' +
  'ssl.quorum.trustStore.type=PEM\n';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'rookery-zoo-cfg-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function convert(text: string, more: { readonly secrets?: string } = {}) {
  const file = join(directory(), 'zoo.cfg');
  writeFileSync(file, `${BASE}${text}`);
  let out = '';
  let err = '';
  const code = runFromZooCfg(
    { file, ...more },
    {
      out: (each) => {
        out += each;
      },
      err: (each) => {
        err += each;
      },
    },
  );
  return { code, err, config: JSON.parse(out) };
}

describe('TLS for clients', () => {
  it('takes PEM files as they are, and asks for certificates by default as ZooKeeper does', () => {
    const { code, config } = convert(`${CLIENTS}${TRUST}`);
    expect(config.tls).toEqual({
      certFile: '/k.pem',
      keyFile: '/k.pem',
      caFile: '/ca.pem',
      clientAuth: 'need',
      onClientPort: false,
    });
    expect(config.servers[2]).toMatchObject({ clientPort: 2181, secureClientPort: 2281 });
    expect(code).toBe(0);
  });

  it('is spoken on the port of plain clients where ZooKeeper tells the two apart there', () => {
    const { code, config } = convert(
      'client.portUnification=true\nssl.keyStore.location=/k\nssl.keyStore.type=PKCS12\n' +
        'ssl.keyStore.passwordPath=/pass\nssl.clientAuth=none\n' +
        'ssl.handshakeDetectionTimeoutMillis=3000\n',
    );
    expect([code, config.tls]).toEqual([
      0,
      {
        pkcs12File: '/k',
        passphraseFile: '/pass',
        clientAuth: 'none',
        onClientPort: true,
        handshakeTimeoutMs: 3000,
      },
    ]);
  });

  it('names the files that have to be made of the stores of Java, and how', () => {
    const { code, err, config } = convert(
      'secureClientPort=2281\nssl.keyStore.location=/k.jks\nssl.trustStore.location=/t.jks\n',
    );
    expect(config.tls).toMatchObject({ pkcs12File: '/k.jks.p12', caFile: '/t.jks.pem' });
    expect(err).toMatch(/^incomplete ssl\.keyStore\.location: .*keytool -importkeystore/m);
    expect(err).toMatch(/^incomplete ssl\.trustStore\.location: .*keytool -list -rfc/m);
    expect(code).toBe(1);
  });

  it('says that authorities are missing where certificates are asked for', () => {
    const { code, err } = convert(CLIENTS);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^incomplete tls\.clientAuth: .*caFile/m),
    ]);
  });

  it('has no effect where nothing turns it on', () => {
    const { code, err, config } = convert('ssl.keyStore.location=/k.jks\n');
    expect(config).not.toHaveProperty('tls');
    expect([code, err]).toEqual([0, expect.stringMatching(/^no effect +ssl\.keyStore\.location/m)]);
  });
});

describe('passphrases and secrets', () => {
  const password = `${CLIENTS}${TRUST}ssl.keyStore.password=hunter2\n`;

  it('are written into files for their owner alone, and shown nowhere', () => {
    const secrets = join(directory(), 'secrets');
    const { code, err, config } = convert(
      `${password}quorum.auth.enableSasl=true\nquorum.auth.learnerRequireSasl=true\n` +
        'quorum.auth.serverRequireSasl=true\n',
      { secrets },
    );
    const { passphraseFile } = config.tls;
    expect(readFileSync(passphraseFile, 'utf8')).toBe('hunter2\n');
    expect(config.peerAuth).toEqual({ secretFile: join(secrets, 'peer.secret') });
    expect(readFileSync(config.peerAuth.secretFile, 'utf8')).toMatch(/^\S{44}\n$/);
    for (const path of [passphraseFile, config.peerAuth.secretFile]) {
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(err + JSON.stringify(config)).not.toContain('hunter2');
    expect(code).toBe(0);
    expect(() => convert(password, { secrets })).toThrow('cannot be made');
  });

  it('are left to the operator where no directory is named', () => {
    const { code, err, config } = convert(`${password}quorum.auth.enableSasl=true\n`);
    expect(config.tls).toMatchObject({ passphraseFile: 'tls.passphrase' });
    // ZooKeeper's members accept those without SASL unless both requirements are on.
    expect(config.peerAuth).toEqual({ secretFile: 'peer.secret', required: false });
    expect(err).toMatch(/^incomplete ssl\.keyStore\.password: .*--secrets$/m);
    expect(err).toMatch(/^incomplete quorum\.auth\.enableSasl: .*openssl rand/m);
    expect(err).not.toContain('hunter2');
    expect(code).toBe(1);
  });
});

describe('TLS between members', () => {
  it('becomes peerAuth, and makes a secret needless', () => {
    const { code, err, config } = convert(
      `${MEMBERS}sslQuorum=true\nquorum.auth.enableSasl=true\n`,
    );
    expect(config.peerAuth).toEqual({ tls: { pkcs12File: '/k.p12', caFile: '/ca.crt' } });
    expect(err).toMatch(/^no effect +quorum\.auth\.enableSasl: .*by their certificates$/m);
    expect(err).toMatch(/^taken +sslQuorum: .*subject alternative name$/m);
    expect(code).toBe(0);
  });

  it('lets members without it in as long as ZooKeeper does', () => {
    const { config } = convert(`${MEMBERS}sslQuorum=true\nportUnification=true\n`);
    expect(config.peerAuth).toMatchObject({ required: false, tls: { caFile: '/ca.crt' } });
  });

  it('says that its authorities are missing', () => {
    const { code, err } = convert('sslQuorum=true\nssl.quorum.keyStore.location=/k.p12\n');
    expect([code, err]).toEqual([1, expect.stringMatching(/^incomplete peerAuth\.tls\.caFile/m)]);
  });
});

describe('identities', () => {
  it('become those that pass every ACL, and schemes that every client must have proved', () => {
    const { config, err, code } = convert(
      `${CLIENTS}${TRUST}zookeeper.superUser=ann\nsuperUser.2=bob\n` +
        'X509AuthenticationProvider.superUser=CN=op\n' +
        'authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider\n' +
        'enforce.auth.enabled=true\nenforce.auth.schemes=x509, digest\naudit.enable=true\n',
    );
    expect(config).toMatchObject({
      superIdentities: ['sasl:ann', 'sasl:bob', 'x509:CN=op'],
      enforceAuth: ['x509', 'digest'],
      auditFile: 'audit.jsonl',
    });
    expect([code, err]).toEqual([0, expect.not.stringMatching(/^(refused|incomplete)/m)]);
  });

  it.each([
    ['SHA-256', 'SHA256'],
    ['SHA512', 'SHA512'],
  ])('digests of %s stay so', (name, alg) => {
    const { config } = convert(`DigestAuthenticationProvider.digestAlg=${name}\n`);
    expect(config.digestAlgs).toEqual([alg]);
  });

  it('of SASL need the JAAS file', () => {
    const provider = 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider';
    const { code, err } = convert(
      `authProvider.1=${provider}\nsessionRequireClientSASLAuth=true\n`,
    );
    expect(err).toMatch(/^incomplete authProvider\.1: .*--jaas/m);
    expect(err).toMatch(/^incomplete enforceAuth: expected sasl/m);
    expect(code).toBe(1);
  });
});

it.each([
  ['enforce.auth.enabled=true', 'names no scheme'],
  ['enforce.auth.enabled=true\nenforce.auth.schemes=sasl,ip', 'the scheme ip'],
  ['authProvider.9=com.example.Mine', 'no class can be plugged in'],
  [`${CLIENTS}ssl.ocsp=true`, 'OCSP is not spoken'],
  [`${CLIENTS}ssl.crl=true`, 'name them in crlFiles'],
  [`${CLIENTS}ssl.enabledProtocols=TLSv1.1,TLSv1.2`, 'and nothing else'],
  [`${CLIENTS}ssl.ciphersuites=X`, 'cipher suites'],
  [`${CLIENTS}ssl.unheardOf=1`, 'no setting of TLS here'],
  [`${MEMBERS}sslQuorum=true\nssl.quorum.hostnameVerification=false`, 'must name its host'],
  ['admin.forceHttps=true', 'the admin port has no TLS'],
  ['requireKerberosConfig=true', 'no Kerberos'],
  ['DigestAuthenticationProvider.digestAlg=MD5', 'digests are SHA-1, SHA-256 or SHA-512'],
])('refuses %j', (lines, said) => {
  const { code, err } = convert(`${lines}\n`);
  expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`^refused .*${said}`, 'm'))]);
});
