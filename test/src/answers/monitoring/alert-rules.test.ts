/** Debian's promtool accepts the alerts of `ops/`, and their tests pass. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mayLack } from '../../harness/foreign.js';
import { REPOSITORY } from '../../harness/product.js';

const PROMTOOL = '/usr/bin/promtool';

it.skipIf(mayLack(PROMTOOL)).each([
  ['check', 'rules.yml', 'SUCCESS'],
  ['test', 'rules.test.yml', 'SUCCESS'],
])('promtool %s rules succeeds with %s', (command, file, said) => {
  const path = join(REPOSITORY, 'ops/prometheus', file);
  const told = execFileSync(PROMTOOL, [command, 'rules', path], { encoding: 'utf8' });
  expect(told).toContain(said);
});
