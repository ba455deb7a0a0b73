/**
 * The files in `ops/` for containers work. The command and the config file of the Kubernetes
 * manifest are run with the test's own directories, in network namespaces that stand for pods, with
 * the probes of the manifest; so are the services of the Compose file, with their health checks.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkSettings } from '@rookery/server';
import { expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { newTestDirectory } from '../../harness/ensemble.js';
import { skipOrFail } from '../../harness/foreign.js';
import { canMakePods, Pods } from '../../harness/pods.js';
import { productUnderTest, REPOSITORY } from '../../harness/product.js';
import { until } from '../../harness/wait.js';

const TEST_DEADLINE_MS = 120_000;
const MANIFEST_CONFIG = '/etc/rookery/ensemble.json';
const NAMES = ['rookery-0', 'rookery-1', 'rookery-2'];

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

const documents = parseAllDocuments(read('kubernetes/rookery.yaml')).map((one) => one.toJS());
const ofKind = (kind: string, name?: string) => {
  const found = documents.find(
    (one) => one.kind === kind && (name === undefined || one.metadata.name === name),
  );
  if (found === undefined) throw new Error(`the manifest has no ${kind}`);
  return found;
};
const statefulSet = ofKind('StatefulSet').spec;
const [container] = statefulSet.template.spec.containers;
const config = JSON.parse(ofKind('ConfigMap').data['ensemble.json']);

it(
  'the Kubernetes manifest runs an ensemble whose members find a pod that returns at another address',
  async ({ skip }) => {
    if (productUnderTest().name === 'apache') skip('these are files of Rookery');
    if (!canMakePods) skipOrFail(skip, 'network namespaces cannot be created on this machine');
    const directory = newTestDirectory();
    const pods = Pods.open(directory);
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') {
        for (const name of NAMES) console.log(readFileSync(join(directory, `${name}.log`), 'utf8'));
      }
      await pods.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const file = join(directory, 'ensemble.json');
    const secretFile = join(directory, 'secret');
    writeFileSync(secretFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o400 });
    const here = { dataDir: join(directory, 'data'), peerAuth: { secretFile } };
    writeFileSync(file, JSON.stringify({ ...config, ...here }));
    const [, , , ...shell] = ['', ...container.command, ...container.args];
    const command = String(shell[0]).replace(MANIFEST_CONFIG, file);
    expect(container.command).toEqual(['sh', '-c']);
    const { metricsPort } = config.servers[0];
    const addresses = new Map<string, string>();
    const start = (name: string, address: string) => {
      pods.start({ name, address, command });
      addresses.set(`${name}.${statefulSet.serviceName}`, address);
      pods.publish(addresses);
    };
    const url = `http://localhost:${metricsPort}`;
    const isReady = (name: string) => pods.probes(name, url);
    const isLive = (name: string) => pods.probes(name, url, '--live');
    const untilReady = async (names: readonly string[]) => {
      for (const name of names) {
        await until(
          `${name} is ready`,
          TEST_DEADLINE_MS,
          async () => (await isReady(name)) || undefined,
        );
      }
    };
    // A member may start before its own name is published.
    NAMES.forEach((name, index) => {
      start(name, `10.244.7.${index + 1}`);
    });
    await untilReady(NAMES);
    const others = NAMES.slice(1).map((name) => pods.pidOf(name));
    // The other members dial the member with the lowest id.
    await pods.kill('rookery-0');
    start('rookery-0', '10.244.7.101');
    await untilReady(NAMES);
    expect(NAMES.slice(1).map((name) => pods.pidOf(name))).toEqual(others);
    expect(NAMES.every((name) => pods.isRunning(name))).toBe(true);
    for (const name of NAMES.slice(1)) await pods.kill(name);
    await until('a member without a quorum is not ready', TEST_DEADLINE_MS, async () =>
      (await isReady('rookery-0')) ? undefined : true,
    );
    expect(await isLive('rookery-0')).toBe(true);
  },
  TEST_DEADLINE_MS,
);

it('the Kubernetes manifest agrees with its config file', () => {
  expect(checkSettings(config).problems).toEqual([]);
  expect(config.servers).toHaveLength(statefulSet.replicas);
  const ports = new Map(
    container.ports.map((port: { name: string; containerPort: number }) => [
      port.name,
      port.containerPort,
    ]),
  );
  for (const [index, server] of config.servers.entries()) {
    expect(server.id).toBe(index + 1);
    expect(server.host).toBe(`rookery-${index}.${statefulSet.serviceName}`);
    expect(server.clientHost).toBe(ofKind('Service', 'rookery').metadata.name);
    expect([...ports]).toEqual([
      ['client', server.clientPort],
      ['peer', server.peerPort],
      ['metrics', server.metricsPort],
    ]);
  }
  const probes: readonly Probe[] = [
    container.startupProbe,
    container.livenessProbe,
    container.readinessProbe,
  ];
  expect(probes.map(({ httpGet }) => httpGet)).toEqual([
    { path: '/livez', port: 'metrics' },
    { path: '/livez', port: 'metrics' },
    { path: '/readyz', port: 'metrics' },
  ]);
  const { volumes } = statefulSet.template.spec;
  const peer = volumes.find(({ name }: { name: string }) => name === 'peer');
  const mount = container.volumeMounts.find(({ name }: { name: string }) => name === 'peer');
  expect(config.peerAuth.secretFile).toBe(`${mount.mountPath}/secret`);
  // Root's, and readable by the group that fsGroup names: see server/src/security/secret-file.ts.
  expect(peer.secret.defaultMode).toBe(0o400);
  const members = ofKind('Service', statefulSet.serviceName).spec;
  expect([members.clusterIP, members.publishNotReadyAddresses]).toEqual(['None', true]);
  const { maxUnavailable, selector } = ofKind('PodDisruptionBudget').spec;
  expect(maxUnavailable).toBe(1);
  const labels = statefulSet.template.metadata.labels;
  for (const used of [selector, statefulSet.selector]) expect(used.matchLabels).toEqual(labels);
  expect(members.selector).toEqual(labels);
  // A member derives its limits from the memory that it may use, which Kubernetes must know, too.
  expect(container.resources.limits.memory).toBeDefined();
});

it('the Compose file agrees with its config file', () => {
  const compose = parse(read('docker/compose.yaml'), { merge: true });
  const { servers, ...rest } = JSON.parse(read('docker/ensemble.json'));
  expect(checkSettings({ ...rest, servers }).problems).toEqual([]);
  expect(Object.keys(compose.services)).toEqual(servers.map(({ host }: { host: string }) => host));
  servers.forEach(({ id, host, clientPort, metricsPort }: Record<string, unknown>) => {
    const service = compose.services[String(host)];
    expect(service.command).toEqual([
      ...['server', '--config', '/etc/rookery/ensemble.json', '--id', String(id)],
    ]);
    expect(service.ports[0]).toMatch(new RegExp(`:${clientPort}$`));
    expect(service.healthcheck.test.at(-1)).toBe(`http://localhost:${metricsPort}`);
    expect(service.volumes).toContain(`data-${id}:/data`);
    expect(service.mem_limit).toBeDefined();
  });
});

it(
  'the services of the Compose file become healthy together, and again after one was made anew',
  async ({ skip }) => {
    if (productUnderTest().name === 'apache') skip('these are files of Rookery');
    if (!canMakePods) skipOrFail(skip, 'network namespaces cannot be created on this machine');
    expect(read('docker/Dockerfile')).toContain('ENTRYPOINT ["rookery"]');
    const { services } = parse(read('docker/compose.yaml'), { merge: true });
    const directory = newTestDirectory();
    const containers = Pods.open(directory);
    onTestFinished(async () => {
      await containers.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const own = JSON.parse(read('docker/ensemble.json'));
    const file = join(directory, 'ensemble.json');
    writeFileSync(file, JSON.stringify({ ...own, dataDir: join(directory, 'data') }));
    const names = Object.keys(services);
    const addresses = new Map<string, string>();
    const start = (name: string, address: string) => {
      const words = ['rookery', ...services[name].command];
      const command = `exec ${words.join(' ').replace(MANIFEST_CONFIG, file)}`;
      containers.start({ name, address, command });
      addresses.set(name, address);
      containers.publish(addresses);
    };
    const untilHealthy = async () => {
      for (const name of names) {
        const url = services[name].healthcheck.test.at(-1);
        await until(`${name} is healthy`, TEST_DEADLINE_MS, async () => {
          return (await containers.probes(name, url)) || undefined;
        });
      }
    };
    for (const [index, name] of names.entries()) start(name, `10.244.8.${index + 1}`);
    await untilHealthy();
    // As by `docker compose up --force-recreate`, which gives it another address.
    const [first = ''] = names;
    await containers.kill(first);
    start(first, '10.244.8.101');
    await untilHealthy();
    expect(names.every((name) => containers.isRunning(name))).toBe(true);
  },
  TEST_DEADLINE_MS,
);

it('the systemd unit starts a member that reports its readiness', () => {
  const unit = read('systemd/rookery@.service');
  const settings = new Map(
    [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  );
  expect(settings.get('Type')).toBe('notify');
  expect(settings.get('NotifyAccess')).toBe('all');
  expect(settings.get('ExecStart')).toMatch(/ server --config \S+ --id %i$/);
  // Exit code 2 is a mistake in the config, which a restart does not repair.
  expect(settings.get('RestartPreventExitStatus')).toBe('2');
  // Anything else may be mended by itself, however long that takes.
  expect(settings.get('Restart')).toBe('on-failure');
  expect(settings.get('StartLimitIntervalSec')).toBe('0');
  expect(settings.get('ProtectSystem')).toBe('strict');
  expect([settings.get('StateDirectory'), settings.get('LogsDirectory')]).toEqual([
    'rookery',
    'rookery',
  ]);
  // As the guide makes them: the default would open both to every user of the machine.
  expect([settings.get('StateDirectoryMode'), settings.get('LogsDirectoryMode')]).toEqual([
    '0700',
    '0700',
  ]);
});

function read(name: string): string {
  return readFileSync(join(REPOSITORY, 'ops', name), 'utf8');
}
