/**
 * Kazoo's own test suite, as Debian's python3-kazoo contains it, against three members.
 *
 * The plugin beside the fixtures substitutes members for the servers that kazoo would start, and
 * names the tests that are left out: Kerberos and reconfiguration. Two parts run at the same time,
 * each with three members of its own, because the suite spends most of its time waiting. The
 * clients of the second part connect by TLS with certificates.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { mayLackKazoo, PYTHON } from '../../harness/foreign.js';
import { freePorts } from '../../harness/ports.js';
import { productUnderTest, ROOKERY_MAIN } from '../../harness/product.js';
import { TestAuthority } from '../../simulated.js';

const PLUGIN_DIRECTORY = new URL('../../foreign/kazoo/', import.meta.url).pathname;
const PARTS = 2;
const DEADLINE_MS = 400_000;
const LOG_LINES_ON_FAILURE = 40;
/** Kazoo gives each of its three servers ten ports, and uses the first four of them. */
const PORTS_PER_ENSEMBLE = 24;
const PASSED_AT_LEAST = 464;
/** The part whose clients connect by TLS; Apache ZooKeeper has another port for them. */
const BY_TLS = productUnderTest().name === 'rookery' ? 2 : 0;

it.skipIf(await mayLackPythonModules())(
  "kazoo's own suite passes, in part by TLS, except for Kerberos and reconfiguration",
  async () => {
    const parts = Array.from({ length: PARTS }, (_, index) => index + 1);
    const bases = await basePorts();
    const outcomes = await Promise.all(parts.map((part) => runPart(part, bases[part - 1] ?? 0)));
    for (const { output } of outcomes) console.log(summaryOf(output));
    const counts = outcomes.map(({ output }) => countsIn(output));
    expect(outcomes.map(({ code }) => code)).toEqual(parts.map(() => 0));
    expect(counts.map(({ failed }) => failed)).toEqual(parts.map(() => 0));
    const passed = counts.reduce((sum, count) => sum + count.passed, 0);
    expect(passed).toBeGreaterThanOrEqual(PASSED_AT_LEAST);
  },
  DEADLINE_MS + 10_000,
);

async function mayLackPythonModules(): Promise<boolean> {
  const required = process.env['ROOKERY_REQUIRE_FOREIGN'] === '1';
  const imports = ['-c', 'import pytest, mock, objgraph'];
  return (await mayLackKazoo()) || (!required && spawnSync(PYTHON, imports).status !== 0);
}

async function runPart(part: number, basePort: number) {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-kazoo-'));
  onTestFinished(({ task }) => {
    if (task.result?.state === 'fail') console.log(logTails(directory));
    rmSync(directory, { recursive: true, force: true });
  });
  return await runCommand({
    file: PYTHON,
    args: ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'rookery_members'].concat([
      '--durations=10',
      '--disable-warnings',
      '--pyargs',
      'kazoo.tests',
    ]),
    directory,
    deadlineMs: DEADLINE_MS,
    environment: {
      PYTHONPATH: PLUGIN_DIRECTORY,
      PYTHONDONTWRITEBYTECODE: '1',
      TMPDIR: directory,
      KAZOO_SHARD: `${part}/${PARTS}`,
      ...(part === BY_TLS ? { KAZOO_TLS: JSON.stringify(certificates(directory)) } : {}),
      ROOKERY_E2E_PRODUCT: productUnderTest().name,
      ROOKERY_NODE: process.execPath,
      ROOKERY_MAIN,
      // Kazoo's harness requires these variables before it starts anything.
      ZOOKEEPER_VERSION: '3.8.0',
      ZOOKEEPER_CLASSPATH: '/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-nop.jar',
      ZOOKEEPER_PORT_OFFSET: String(basePort),
    },
  });
}

/** The ends of the members' logs, which the plugin keeps side by side. */
function logTails(directory: string): string {
  const logs = readdirSync(directory).filter((name) => /^member-\d+\.log$/.test(name));
  return logs
    .map((name) => {
      const lines = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
      return [`=== ${name}`, ...lines.slice(-LOG_LINES_ON_FAILURE)].join('\n');
    })
    .join('\n');
}

/** In the terms of a member's `tls`, and of kazoo's options. */
function certificates(directory: string) {
  const folder = join(directory, 'certificates');
  mkdirSync(folder);
  const authority = new TestAuthority(folder);
  const [server, client] = [authority.server(), authority.client()];
  const { certFile, keyFile } = server;
  return {
    member: { certFile, keyFile, caFile: authority.caFile },
    client: { ca: authority.caFile, certfile: client.certFile, keyfile: client.keyFile },
  };
}

/** For each part, the first of as many consecutive free ports. */
async function basePorts(): Promise<number[]> {
  for (;;) {
    const ports = await freePorts(PARTS * PORTS_PER_ENSEMBLE);
    const [first, last] = [ports[0] ?? 0, ports.at(-1) ?? 0];
    if (last - first !== ports.length - 1) continue;
    return Array.from({ length: PARTS }, (_, index) => first + index * PORTS_PER_ENSEMBLE);
  }
}

/** The report without the log lines that threads print after pytest has ended. */
function summaryOf(output: string): string {
  const lines = output.split('\n').filter((line) => {
    return !/^(Connection dropped|Transition to|Session has|Zookeeper process)/.test(line);
  });
  return lines.join('\n').trimEnd();
}

function countsIn(output: string): { passed: number; failed: number } {
  const last = output.match(/^\d+ (?:failed|passed|errors?)\b.* in [\d.]+s.*$/m)?.[0] ?? '';
  const count = (what: string) => Number(last.match(new RegExp(`(\\d+) ${what}`))?.[1] ?? 0);
  return { passed: count('passed'), failed: count('failed') + count('error') };
}
