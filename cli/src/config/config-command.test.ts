/**
 * A zoo.cfg becomes a config file. The keys and their defaults are those of ZooKeeper's
 * administrator's guide; Debian's own file is among the examples.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '@rookery/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runFromZooCfg } from './config-command.js';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'rookery-zoo-cfg-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

type Sasl = { readonly jaas?: string; readonly users?: string };

function convert(text: string, folder = directory(), sasl: Sasl = {}) {
  const file = join(folder, 'zoo.cfg');
  writeFileSync(file, text);
  let out = '';
  let err = '';
  const code = runFromZooCfg(
    { file, ...sasl },
    {
      out: (more) => {
        out += more;
      },
      err: (more) => {
        err += more;
      },
    },
  );
  return { code, config: JSON.parse(out), err };
}

type Given = { readonly server?: object; readonly [setting: string]: unknown };

/** The file as Debian's package installs it, without its comments. */
const DEBIAN = `
tickTime=2000
initLimit=10
syncLimit=5
dataDir=/var/lib/zookeeper
clientPort=2181
# server.1=zookeeper1:2888:3888
server.1=zk1:2888:3888
server.2=zk2:2888:3888
server.3=zk3:2888:3888
`;

describe('rookery config from-zoo-cfg', () => {
  it('converts the usual file of three servers', () => {
    const { code, config, err } = convert(DEBIAN);
    expect(err).not.toMatch(/^(refused|incomplete)/m);
    expect(code).toBe(0);
    expect(config).toEqual({
      tickTimeMs: 2000,
      initLimit: 10,
      syncLimit: 5,
      dataDir: '/var/lib/zookeeper',
      peerAuth: 'none',
      servers: [1, 2, 3].map((id) => ({ id, host: `zk${id}`, peerPort: 2888, clientPort: 2181 })),
    });
  });

  it('says that members do not authenticate each other, where other machines can be members', () => {
    expect(convert(DEBIAN).err).toMatch(/peerAuth is "none": members do not authenticate/);
    const local = DEBIAN.replaceAll(/=zk\d:/g, '=127.0.0.1:');
    expect(convert(local).err).not.toContain('peerAuth');
    expect(convert(local).config).not.toHaveProperty('peerAuth');
  });

  it('shows what would move the cursor or turn a line as its number', () => {
    const keys = 'b\u001b]0;k=1\nw\u009b1mr=\u202ex\n';
    const { config, err } = convert(`${DEBIAN}${keys}dataDir=/\u202ed\n`);
    expect(err).toContain('b\\u001b]0;k: ');
    expect(err).toContain('w\\u009b1mr: ');
    expect(config).toMatchObject({ dataDir: '/\u202ed' });
  });

  it('makes a file of one server when there is no server line', () => {
    const { code, config } = convert('tickTime=2000\ndataDir=/data\nclientPort=2181\n');
    expect(code).toBe(0);
    expect(config.servers).toEqual([
      { id: 1, host: '127.0.0.1', peerPort: 2888, clientPort: 2181 },
    ]);
  });

  it('reads the dynamic file, roles, and the addresses and ports for clients', () => {
    const folder = directory();
    const lines = [
      'server.2=[2001:db8::2]:2888:3888:participant;2182',
      'server.1=a.example:2888:3888|b.example:2889:3889;0.0.0.0:2181',
      'version=100000000',
    ];
    writeFileSync(join(folder, 'zoo.cfg.dynamic'), lines.join('\n'));
    const { config, err } = convert('dataDir=/data\ndynamicConfigFile=zoo.cfg.dynamic\n', folder);
    expect(config).toMatchObject({
      servers: [
        {
          id: 1,
          host: 'a.example',
          peerPort: 2888,
          clientPort: 2181,
          listen: '*',
          peerListen: 'a.example',
        },
        { id: 2, host: '2001:db8::2', peerPort: 2888, clientPort: 2182 },
      ],
    });
    expect(err).toContain('a member has one address: a.example is taken');
  });

  it('reads limits, switches and ports for tools, also in the form of system properties', () => {
    const { code, config, err } = convert(`${DEBIAN}
minSessionTimeout=-1
maxSessionTimeout=60000
maxClientCnxns=60
zookeeper.globalOutstandingLimit=500
jute.maxbuffer=0x400000
skipACL=no
enforceQuota=true
extendedTypesEnabled=true
4lw.commands.whitelist=srvr, mntr
metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider
metricsProvider.httpPort=7000
admin.serverPort=8080
autopurge.purgeInterval=1
znode.container.maxNeverUsedIntervalMs=300000
DigestAuthenticationProvider.superDigest=super:qW/HnTfCSoQpB5G8LgkwT3IbiFc=
`);
    expect(code).toBe(0);
    expect(config).toMatchObject({
      maxSessionTimeoutMs: 60_000,
      maxClientCnxns: 60,
      globalOutstandingLimit: 500,
      frameBytesMax: 4_194_304,
      skipACL: false,
      enforceQuota: true,
      extendedTypes: true,
      fourLetterWords: 'srvr, mntr',
      neverUsedContainersMs: 300_000,
      superDigest: 'super:qW/HnTfCSoQpB5G8LgkwT3IbiFc=',
    });
    expect(config).not.toHaveProperty('minSessionTimeoutMs');
    expect(config.servers[0]).toMatchObject({ metricsPort: 7000, adminPort: 8080 });
    expect(err).toMatch(/admin\.serverPort: adminPort; .* ruok needs a password; .* 404, .* 501/);
    // Secrets appear in the config, where they are needed, and nowhere else.
    expect(err).not.toContain('qW/HnTfCSoQpB5G8LgkwT3IbiFc');
  });

  it.each([
    ['server.4=zk4:2888:3888:observer', 'server.4: Rookery has no observers'],
    ['reconfigEnabled=true', 'reconfigEnabled: clients cannot change the list of members'],
    ['audit.impl.class=org.example.Own', 'audit.impl.class: the audit log is a file'],
    ['metricsProvider.className=org.example.Own', 'metricsProvider.className: metrics are those'],
    ['connection_throttle_freeze_time=5', 'connection_throttle_freeze_time: connections are not'],
    [
      'connection_throttle_weight_enabled=true',
      'connection_throttle_weight_enabled: every connection takes one token',
    ],
    ['maxCnxns=1000', 'maxCnxns: there is no limit of all connections'],
    ['admin.snapshot.enabled=true', 'admin.snapshot.enabled: /commands/snapshot and restore are'],
    ['admin.commandURL=/zk', 'admin.commandURL: commands are at /commands'],
    ['group.1=1:2:3', 'group.1: Rookery has no hierarchical quorums'],
    ['leaderServes=no', 'leaderServes: the leader always serves clients'],
    ['tickTime=2s', 'tickTime: 2s is not a whole number'],
    ['tikTime=2000', 'tikTime: no release of ZooKeeper is known to have this key'],
    ['server.4=zk4', 'server.4: it is not host:port:port'],
  ])('refuses %s', (line, said) => {
    const { code, err } = convert(`${DEBIAN}${line}\n`);
    expect(err).toContain(`refused    ${said}`);
    expect(code).toBe(1);
  });

  it.each([
    ['connection_throttle_tokens=50', { connectionTokensMax: 50, connectionTokensPerSecond: 1000 }],
    [
      'connectionMaxTokens=50\nconnectionTokenFillTime=100\nconnection_throttle_fill_count=2',
      { connectionTokensMax: 50, connectionTokensPerSecond: 20 },
    ],
    ['connection_throttle_tokens=0\nconnection_throttle_fill_time=9', {}],
    ['admin.enableServer=true', { server: { adminPort: 8080 } }],
    ['admin.enableServer=true\nadmin.serverPort=9000', { server: { adminPort: 9000 } }],
    ['admin.enableServer=false\nadmin.serverPort=9000', { server: {} }],
    [
      'metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider',
      { server: { metricsPort: 7000 } },
    ],
    ['metricsProvider.className=org.apache.zookeeper.metrics.impl.DefaultMetricsProvider', {}],
    ['zookeeper.sasl.client=true\nzookeeper.request.timeout=9', {}],
  ])('gives what ZooKeeper has of %j', (lines, { server = {}, ...settings }: Given) => {
    const { code, config } = convert(`${DEBIAN}${lines}\n`);
    const plain = convert(DEBIAN).config;
    const servers = plain.servers.map((one: object) => ({ ...one, ...server }));
    expect([code, config]).toEqual([0, { ...plain, ...settings, servers }]);
  });

  it('leaves observers out, so that only participants count for the majority', () => {
    const { code, config, err } = convert(
      `${DEBIAN}server.4=zk4:2888:3888:observer\nserver.5=zk5:2888:3888:OBSERVER;2181\n`,
    );
    expect(config.servers.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3]);
    expect(err).toMatch(/^refused +server\.4: .*zk4 is left out/m);
    expect(err).toMatch(/^refused +server\.5: .*zk5 is left out/m);
    expect(code).toBe(1);
  });

  it.each([
    'server.4=zk4:2888:3888:observer\nserver.5=zk5:2888:3888:observer',
    'server.1=zk1',
    'server.1=zk1:2888:3888:observer\npeerType=observer',
  ])('makes no member of its own where no line of the file is one: %j', (lines) => {
    const { code, config, err } = convert(`dataDir=/d\nclientPort=2181\n${lines}\n`);
    expect(config.servers).toEqual([]);
    expect(err).toMatch(/^refused +server\.N: no line is left that makes a member/m);
    expect(err).toMatch(/^incomplete servers: /m);
    expect(code).toBe(1);
  });

  it('has no limit to refuse where ZooKeeper has none', () => {
    const { code, err } = convert(
      `${DEBIAN}maxCnxns=0\nznode.container.maxNeverUsedIntervalMs=0\nmaxTimeToWaitForEpoch=9\n`,
    );
    expect([code, err]).toEqual([0, expect.not.stringMatching(/^refused/m)]);
  });

  it('names what a member needs and the file lacks', () => {
    const { code, err } = convert('server.1=zk1:2888:3888\nserver.300=zk3:2888:3888;2181\n');
    expect(err).toMatch(/^incomplete dataDir/m);
    expect(err).toMatch(/^incomplete servers\[0\]\.clientPort/m);
    expect(err).toMatch(/^incomplete servers\[1\]\.id/m);
    expect(code).toBe(1);
  });

  it('names a file that cannot be read, including the dynamic file', () => {
    expect(() => convert('dynamicConfigFile=missing.cfg\n')).toThrow(OperatorError);
    expect(() => runFromZooCfg({ file: '/no/such/zoo.cfg' })).toThrow('/no/such/zoo.cfg');
  });
});

describe('the address on which ZooKeeper listens', () => {
  it.each([
    ['server.1=a:2888:3888;0.0.0.0:2181', { host: 'a', listen: '*', peerListen: 'a' }],
    ['server.1=a:2888:3888;[::]:2181', { host: 'a', listen: '*', peerListen: 'a' }],
    ['server.1=a:2888:3888;10.0.0.9:2181', { host: 'a', listen: '10.0.0.9', peerListen: 'a' }],
    ['server.1=10.0.0.9:2888:3888;10.0.0.9:2181', { host: '10.0.0.9' }],
    ['server.1=a:2888:3888;2181\nquorumListenOnAllIPs=true', { host: 'a', peerListen: '*' }],
    ['server.1=a:2888:3888;2181\nclientPortAddress=0.0.0.0', { host: 'a', listen: '*' }],
  ])('becomes the address on which the member listens: %j', (lines, expected) => {
    const { code, config } = convert(`dataDir=/d\n${lines}\n`);
    const ports = { id: 1, clientPort: 2181, peerPort: 2888 };
    expect([code, config.servers]).toEqual([0, [{ ...ports, ...expected }]]);
  });

  it('is refused where one shared file cannot express it for all members', () => {
    const { code, err } = convert('dataDir=/d\nclientPort=2181\nclientPortAddress=10.0.0.9\n');
    expect([code, err]).toEqual([1, expect.stringMatching(/refused +clientPortAddress: .*listen/)]);
  });
});

describe('a JAAS file', () => {
  const withJaas = (text: string, folder = directory(), more: { users?: string } = {}) => {
    const jaas = join(folder, 'jaas.conf');
    writeFileSync(jaas, text);
    return convert(DEBIAN, folder, { jaas, ...more });
  };

  it('gives a file of users that the server reads, and the super user', () => {
    const folder = directory();
    const users = join(folder, 'users');
    const text =
      'Server { org.apache.zookeeper.server.auth.DigestLoginModule required ' +
      'user_super="s3cret" user_bob="b ob" user_a_b="\u00fc"; };';
    const { err, config } = withJaas(text, folder, { users });
    expect(err).toContain(
      'taken      Server in the JAAS file, user "bob": a line of sasl.usersFile',
    );
    expect(err).toContain(
      'refused    Server in the JAAS file, user "a_b": the name or the password',
    );
    expect(config).toMatchObject({ superIdentities: ['sasl:super'], sasl: { usersFile: users } });
    const digest = createHash('md5').update('bob:zk-sasl-md5:b ob').digest('hex');
    expect(readFileSync(users, 'utf8')).toMatch(/^super:zk-sasl-md5:[0-9a-f]{32}\n/);
    expect(readFileSync(users, 'utf8')).toContain(`\nbob:zk-sasl-md5:${digest}\n`);
    expect(statSync(users).mode & 0o777).toBe(0o600);
    // Somebody else's file is never overwritten.
    expect(() => withJaas(text, folder, { users })).toThrow('cannot be made');
  });

  it('has its users refused by name without a file for them, and no password is printed', () => {
    const { code, err, config } = withJaas(`
// For clients.
Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
    user_super="s3cret" /* the first one */ user_bob='b"ob };';
};
QuorumServer {
  org.apache.zookeeper.server.auth.DigestLoginModule required user_zk="zkpw";
};
Client { com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true; };
`);
    expect(code).toBe(1);
    expect(err).toContain('refused    Server in the JAAS file, user "super": name a new file');
    expect(err).toContain('refused    Server in the JAAS file, user "bob": name a new file');
    expect(err).toContain('no effect  QuorumServer in the JAAS file: it is for members');
    expect(err).toContain('no effect  Client in the JAAS file: it is for clients');
    for (const secret of ['s3cret', 'b"ob', 'zkpw']) {
      expect(err + JSON.stringify(config)).not.toContain(secret);
    }
  });

  it.each([
    ['Server { m.DigestLoginModule required user_a="b" };', 'line 1: expected an option'],
    ['\nServer { m.DigestLoginModule user_a="b"; };', 'line 2: expected required'],
    ['Server {\n m.M required a="b\n};', 'line 2: a quoted text does not end'],
    ['Server', 'line 1: expected {'],
  ])('that is wrong is a mistake that names the line: %j', (text, said) => {
    expect(() => withJaas(text)).toThrow(said);
  });
});
