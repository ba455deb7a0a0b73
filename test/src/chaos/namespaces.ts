/**
 * The network of one run has a namespace for each member, one for the clients, and a router between
 * them.
 *
 * Every host has one veth pair to the router's namespace, which forwards from one to the other, so
 * all network faults are made in that one place (network.ts). None of it is connected to the
 * machine's own network, so addresses may repeat from run to run. The names contain the process id
 * and the start time of the run that made them. The next run thereby recognizes and removes what a
 * dead run has left, and parallel runs do not disturb each other. Called by main.ts, outside of all
 * the namespaces.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { command } from './command.js';

const PREFIX = 'rkchaos';
/** The directory in which iproute2 keeps the names. */
const NAMES = '/run/netns';

/** Every host with an address: the members, and the one of the clients. */
export type Host = number | 'clients';

/** The names and addresses of one run's network, whether or not it exists. */
export class Layout {
  readonly run: string;
  readonly members: number;

  constructor(run: string, members: number) {
    this.run = run;
    this.members = members;
  }

  get ids(): number[] {
    return Array.from({ length: this.members }, (_, index) => index + 1);
  }

  get hosts(): Host[] {
    return ['clients', ...this.ids];
  }

  get router(): string {
    return `${PREFIX}-${this.run}-router`;
  }

  namespace(host: Host): string {
    return `${PREFIX}-${this.run}-${host}`;
  }

  /** The router's end of the veth pair to this host. */
  device(host: Host): string {
    return `to-${host}`;
  }

  address(host: Host): string {
    return `10.99.${numberOf(host)}.2`;
  }

  gateway(host: Host): string {
    return `10.99.${numberOf(host)}.1`;
  }
}

function numberOf(host: Host): number {
  return host === 'clients' ? 0 : host;
}

/** Names a run after the process that makes it, so that others see whether that process lives. */
export function runNameOf(pid: number): string {
  return `${pid}-${startTimeOf(pid) ?? 0}`;
}

/** Whether the process that a run is named after has ended, even if its id is used again. */
export function isDead(run: string): boolean {
  const [pid = '', started = ''] = run.split('-');
  return startTimeOf(Number(pid)) !== Number(started);
}

/** Returns the run in a namespace's name; null for a namespace of somebody else. */
export function runOfNamespace(name: string): string | null {
  return /^rkchaos-(\d+-\d+)-(?:router|clients|\d+)$/.exec(name)?.[1] ?? null;
}

/** Makes all namespaces and connects them. If it rejects, those that it has made stay. */
export async function makeNamespaces(layout: Layout): Promise<void> {
  const { router } = layout;
  await command('ip', ['netns', 'add', router]);
  await command('ip', ['-n', router, 'link', 'set', 'lo', 'up']);
  // Each network namespace has this setting of its own; the machine's stays as it is.
  const forward = 'echo 1 > /proc/sys/net/ipv4/ip_forward';
  await command('ip', ['netns', 'exec', router, 'sh', '-c', forward]);
  for (const host of layout.hosts) await makeHost(layout, host);
}

async function makeHost(layout: Layout, host: Host): Promise<void> {
  const { router } = layout;
  const namespace = layout.namespace(host);
  const device = layout.device(host);
  const inside = ['-n', namespace];
  const outside = ['-n', router];
  await command('ip', ['netns', 'add', namespace]);
  const pair = ['link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace];
  await command('ip', [...outside, ...pair]);
  await command('ip', [...outside, 'address', 'add', `${layout.gateway(host)}/30`, 'dev', device]);
  await command('ip', [...outside, 'link', 'set', device, 'up']);
  await command('ip', [...inside, 'address', 'add', `${layout.address(host)}/30`, 'dev', 'eth0']);
  await command('ip', [...inside, 'link', 'set', 'lo', 'up']);
  await command('ip', [...inside, 'link', 'set', 'eth0', 'up']);
  await command('ip', [...inside, 'route', 'add', 'default', 'via', layout.gateway(host)]);
}

/** Removes what exists of a run's network, and ends the processes in it. */
export async function removeNamespaces(run: string): Promise<void> {
  for (const name of namesOf((candidate) => candidate === run)) {
    try {
      await removeNamespace(name);
    } catch (error) {
      // Another run that starts at the same time may remove the same namespaces.
      if (namespaceNames().includes(name)) throw error;
    }
  }
}

async function removeNamespace(name: string): Promise<void> {
  // Only children of the dead run were started in this namespace.
  const pids = (await command('ip', ['netns', 'pids', name])).split('\n').filter(Boolean);
  for (const pid of pids) killIfThere(Number(pid));
  await command('ip', ['netns', 'delete', name]);
}

/** Removes what killed runs have left; resolves with the names of the runs. */
export async function removeLeftovers(): Promise<string[]> {
  const dead = new Set(namesOf(isDead).map((name) => runOfNamespace(name) ?? ''));
  for (const run of dead) await removeNamespaces(run);
  return [...dead];
}

function namesOf(isWanted: (run: string) => boolean): string[] {
  return namespaceNames().filter((name) => {
    const run = runOfNamespace(name);
    return run !== null && isWanted(run);
  });
}

function namespaceNames(): string[] {
  try {
    return readdirSync(NAMES);
  } catch (error) {
    // iproute2 makes the directory when it makes the first name.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // The process has ended in the meantime.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** When the process started, in clock ticks since boot; null if there is none, or a zombie. */
function startTimeOf(pid: number): number | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // There is no such process, or we may not see it: then it is not a run of ours.
    return null;
  }
  // The name is in parentheses and may contain spaces. The state is the third field, and the start
  // is the 22nd.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : Number(fields[19]);
}
