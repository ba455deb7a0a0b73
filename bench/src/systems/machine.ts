/**
 * The facts about the machine on which figures depend, and the cost of a durable write on its disk.
 *
 * A fact that cannot be found out is reported as unknown; nothing here fails a run.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import os from 'node:os';
import { join, resolve } from 'node:path';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly kernel: string;
  readonly node: string;
  readonly java: string;
  readonly fileSystem: string;
  /** The time to append one block to a file in the members' directory and sync it. */
  readonly fdatasyncUs: { readonly median: number; readonly p99: number };
  /** The number of processes that wanted to run in the last minute, before the first run. */
  readonly loadBefore: number;
}

const SYNCS = 200;
const BLOCK_BYTES = 4096;

export function describeMachine(directory: string): Machine {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model.trim() ?? 'unknown',
    cores: cpus.length,
    memoryBytes: os.totalmem(),
    kernel: `${os.type()} ${os.release()}`,
    node: process.version,
    java: javaVersion(),
    fileSystem: fileSystemOf(directory),
    fdatasyncUs: measureSync(directory),
    loadBefore: os.loadavg()[0] ?? Number.NaN,
  };
}

function javaVersion(): string {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  return /version "([^"]+)"/.exec(stderr ?? '')?.[1] ?? 'none';
}

/** The mount point with the longest path above the directory. */
function fileSystemOf(directory: string): string {
  try {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
    let best = { point: '', type: 'unknown' };
    for (const line of mounts) {
      const [, point = '', type = ''] = line.split(' ');
      const isAbove =
        point !== '' && `${resolve(directory)}/`.startsWith(point.replace(/\/?$/, '/'));
      if (isAbove && point.length >= best.point.length) best = { point, type };
    }
    return best.type;
  } catch {
    return 'unknown';
  }
}

function measureSync(directory: string): Machine['fdatasyncUs'] {
  const file = join(directory, 'fdatasync-probe');
  const block = Buffer.alloc(BLOCK_BYTES, 1);
  const descriptor = openSync(file, 'w');
  const times: number[] = [];
  for (let sync = 0; sync < SYNCS; sync++) {
    writeSync(descriptor, block);
    const fromMs = performance.now();
    fdatasyncSync(descriptor);
    times.push((performance.now() - fromMs) * 1000);
  }
  closeSync(descriptor);
  unlinkSync(file);
  times.sort((left, right) => left - right);
  const at = (share: number) => times[Math.floor(share * (SYNCS - 1))] ?? Number.NaN;
  return { median: at(0.5), p99: at(0.99) };
}
