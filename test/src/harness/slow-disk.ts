/** Members whose disks can be made slow, one by one, while they run. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ensemble } from './ensemble.js';
import type { Member } from './member.js';
import { type Product, productNamed, REPOSITORY } from './product.js';

const HOOK = join(REPOSITORY, 'test/dist/harness/slow-disk-hook.js');

export function onSlowableDisks(): Product {
  const rookery = productNamed('rookery');
  return {
    ...rookery,
    prepare(layout) {
      const { file, args, environment } = rookery.prepare(layout);
      const more = { SLOW_DISK_FILE: switchOf(layout.directory, layout.id) };
      return { file, args: ['--import', HOOK, ...args], environment: { ...environment, ...more } };
    },
  };
}

/** From now on each write of the member takes so much longer; 0 ends that. */
export function slowDown({ directory }: Ensemble, { id }: Member, ms: number): void {
  if (ms === 0) rmSync(switchOf(directory, id), { force: true });
  else writeFileSync(switchOf(directory, id), `${ms}`);
}

function switchOf(directory: string, id: number): string {
  return join(directory, `slow-disk-${id}`);
}
