/**
 * The npm clients `node-zookeeper-client` (JavaScript) and `zookeeper` (a wrapper of the C client).
 *
 * They are installed beside their scripts by `npm ci --prefix test/npm-clients`, apart from the
 * workspace; the second one compiles C and is skipped where that does not work.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../../foreign/command.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';

const DIRECTORY = new URL('../../../npm-clients/', import.meta.url).pathname;
const DEADLINE_MS = 60_000;
const installed = (name: string) => join(DIRECTORY, 'node_modules', name, 'package.json');
const NATIVE_BUILD = join(DIRECTORY, 'node_modules/zookeeper/build/zookeeper.node');

it.skipIf(mayLack(installed('node-zookeeper-client')))(
  'node-zookeeper-client creates, watches, transacts and authenticates at two members',
  () => expectScriptPasses('node-zookeeper-client'),
  2 * DEADLINE_MS,
);

it.skipIf(!existsSync(NATIVE_BUILD))(
  'the native npm client creates, watches and authenticates at two members',
  () => expectScriptPasses('zookeeper'),
  2 * DEADLINE_MS,
);

async function expectScriptPasses(name: string): Promise<void> {
  const ensemble = await useServingEnsemble();
  const servers = ensemble.members.slice(0, 2).map((m) => `127.0.0.1:${m.clientPort}`);
  const { code, output } = await runCommand({
    file: process.execPath,
    args: [join(DIRECTORY, `${name}.js`), ...servers],
    deadlineMs: DEADLINE_MS,
  });
  expect(output).toContain(`${name}: everything as expected`);
  expect(code).toBe(0);
}
