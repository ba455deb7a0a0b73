/**
 * Pods as Kubernetes makes them, as far as Linux alone can: each has a network namespace with an
 * address of its own on one bridge, a hosts file that all of them share, and a host name.
 *
 * The namespaces, and with them their links and the bridge, are gone when the test has ended. Needs
 * Linux, root and iproute2.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOKERY_MAIN } from './product.js';

const run = promisify(execFile);

export const canMakePods =
  spawnSync('unshare', ['--mount', '--net', 'ip', 'link', 'show']).status === 0;

interface Pod {
  readonly namespace: string;
  readonly address: string;
  process: ChildProcess | null;
}

export interface PodSpec {
  readonly name: string;
  readonly address: string;
  /** A shell command; `rookery` is in its path. */
  readonly command: string;
}

export class Pods {
  readonly #directory: string;
  /** The names contain this process's id, because other tests may create pods, too. */
  readonly #prefix = `rk${process.pid}`;
  readonly #pods = new Map<string, Pod>();
  #made = 0;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static open(directory: string): Pods {
    const pods = new Pods(directory);
    const bin = join(directory, 'bin');
    mkdirSync(bin, { recursive: true });
    const program = join(bin, 'rookery');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${ROOKERY_MAIN}' "$@"\n`);
    chmodSync(program, 0o755);
    writeFileSync(join(directory, 'resolv.conf'), 'nameserver 127.29.22.54\n');
    pods.publish(new Map());
    const at = pods.#bridge;
    ip('netns', 'add', at);
    ip('-n', at, 'link', 'set', 'lo', 'up');
    ip('-n', at, 'link', 'add', 'bridge', 'type', 'bridge');
    ip('-n', at, 'link', 'set', 'bridge', 'up');
    return pods;
  }

  /**
   * Sets the names that resolve from now on, in all pods. It writes in place, because bind mounts
   * refer to the file.
   */
  publish(addresses: ReadonlyMap<string, string>): void {
    const lines = [...addresses].map(([name, address]) => `${address} ${name}\n`);
    writeFileSync(join(this.#directory, 'hosts'), `127.0.0.1 localhost\n${lines.join('')}`);
  }

  start({ name, address, command }: PodSpec): void {
    const namespace = `${this.#prefix}-${this.#made++}`;
    ip('netns', 'add', namespace);
    const link = `v${this.#made}`;
    const peer = ['peer', 'name', link, 'netns', this.#bridge];
    ip('-n', namespace, 'link', 'add', 'eth0', 'type', 'veth', ...peer);
    ip('-n', this.#bridge, 'link', 'set', link, 'master', 'bridge', 'up');
    ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', namespace, 'link', 'set', 'lo', 'up');
    ip('-n', namespace, 'link', 'set', 'eth0', 'up');
    const inside =
      `mount --bind '${this.#directory}/hosts' /etc/hosts && ` +
      `mount --bind '${this.#directory}/resolv.conf' /etc/resolv.conf && exec sh -c "$0"`;
    const log = openSync(join(this.#directory, `${name}.log`), 'a');
    const child = spawn(
      'ip',
      ['netns', 'exec', namespace, 'unshare', '--mount', 'sh', '-c', inside, command],
      {
        env: {
          ...process.env,
          PATH: `${join(this.#directory, 'bin')}:${process.env['PATH'] ?? ''}`,
          HOSTNAME: name,
        },
        stdio: ['ignore', log, log],
      },
    );
    this.#pods.set(name, { namespace, address, process: child });
  }

  /** Whether the pod's probe succeeds. */
  async probes(name: string, url: string, ...options: readonly string[]): Promise<boolean> {
    const { namespace } = this.#pod(name);
    const health = [process.execPath, ROOKERY_MAIN, 'health', '--url', url, ...options];
    return await run('ip', ['netns', 'exec', namespace, ...health]).then(
      () => true,
      () => false,
    );
  }

  pidOf(name: string): number {
    return this.#pod(name).process?.pid ?? 0;
  }

  isRunning(name: string): boolean {
    const { process: child } = this.#pod(name);
    return child !== null && child.exitCode === null && child.signalCode === null;
  }

  /** Removes the pod together with its address. */
  async kill(name: string): Promise<void> {
    const pod = this.#pod(name);
    const { process: child } = pod;
    if (child !== null && this.isRunning(name)) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    }
    pod.process = null;
    spawnSync('ip', ['netns', 'del', pod.namespace]);
    this.#pods.delete(name);
  }

  async close(): Promise<void> {
    for (const name of [...this.#pods.keys()]) await this.kill(name);
    spawnSync('ip', ['netns', 'del', this.#bridge]);
  }

  get #bridge(): string {
    return `${this.#prefix}-br`;
  }

  #pod(name: string): Pod {
    const pod = this.#pods.get(name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    return pod;
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
