/**
 * Members that can be suspended as a virtual machine is: the process stops, and its monotonic clock
 * stands still meanwhile, while the wall clock goes on.
 *
 * A small library that is loaded before the C library holds the clock (`stopped-clock.c`). It is
 * compiled where it is needed, so this needs Linux and a C compiler (`canStopClocks`).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ensemble } from './ensemble.js';
import type { Member } from './member.js';
import { type Product, productNamed, REPOSITORY } from './product.js';
import { until } from './wait.js';

const SOURCE = join(REPOSITORY, 'test/src/harness/stopped-clock.c');
const STOP_DEADLINE_MS = 10_000;

/** Whether there is what `onStoppableClocks` needs. */
export function canStopClocks(): boolean {
  return process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;
}

export function onStoppableClocks(): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const command = rookery.prepare(layout);
      const file = clockFile(layout.directory, layout.id);
      writeFileSync(file, Buffer.alloc(8));
      const clock = { LD_PRELOAD: library(layout.directory), STOPPED_CLOCK_FILE: file };
      return { ...command, environment: { ...command.environment, ...clock } };
    },
  };
}

/** Stops the member and its monotonic clock. Returns the function that lets it go on. */
export async function suspend({ directory }: Ensemble, member: Member): Promise<() => void> {
  member.freeze();
  await until(`member ${member.id} has stopped`, STOP_DEADLINE_MS, () => {
    return isStopped(member.pid) ? true : undefined;
  });
  const stoppedAt = process.hrtime.bigint();
  return () => {
    const file = clockFile(directory, member.id);
    const stood = readFileSync(file);
    const forNs = process.hrtime.bigint() - stoppedAt;
    stood.writeBigInt64LE(stood.readBigInt64LE() + forNs);
    // The member has mapped the file, so it is written in place.
    writeFileSync(file, stood, { flag: 'r+' });
    member.thaw();
  };
}

function library(directory: string): string {
  const path = join(directory, 'stopped-clock.so');
  if (!existsSync(path))
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', path, SOURCE, '-ldl']);
  return path;
}

/** Every thread is stopped, so no clock is read any more. */
function isStopped(pid: number): boolean {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
}

function clockFile(directory: string, id: number): string {
  return join(directory, `clock-${id}`);
}
