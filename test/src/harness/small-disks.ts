/**
 * Members whose data is on a small file system of their own, which a test can fill.
 *
 * Each member has a tmpfs in a mount namespace of its own, so nothing is left when its process
 * ends: a member that is started again has an empty disk. Needs Linux and root (`canMount`).
 */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ensemble } from './ensemble.js';
import type { Member } from './member.js';
import { type Product, productNamed } from './product.js';

export function onSmallDisks(diskBytes: number): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const command = rookery.prepare(layout);
      const directory = join(layout.directory, 'data');
      const script =
        `mkdir -p ${directory} && mount -t tmpfs -o size=${diskBytes} tmpfs ${directory} ` +
        '&& exec "$@"';
      return {
        ...command,
        file: 'unshare',
        args: ['--mount', 'sh', '-c', script, 'sh', command.file, ...command.args],
      };
    },
  };
}

/** The directory of all data, as the member's process sees it. */
export function diskOf(ensemble: Ensemble, member: Member): string {
  return `/proc/${member.pid}/root${join(ensemble.directory, 'data')}`;
}

/** Fills the disk but for `leftBytes`; returns the function that makes room again. */
export function fillDisk(directory: string, leftBytes: number): () => void {
  const { bavail, bsize } = statfsSync(directory);
  const file = join(directory, 'filler');
  writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
  return () => rmSync(file, { force: true });
}
