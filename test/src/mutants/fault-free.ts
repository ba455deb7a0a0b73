/**
 * The fault-free run that a mutant must pass to count: it elects, writes 100 times at every member,
 * reads what was written, and restarts all cleanly; then everything must still exist and be equal.
 *
 * It is a program of its own, so that a mutant that breaks or hangs it breaks nothing else: exit 0,
 * or 1 with the reason. trial.ts runs it in the workspace.
 */
import { assert, ErrorCode } from '@rookery/protocol';
import {
  connected,
  everyoneServes,
  expectEqual,
  MemoryEnsemble,
  names,
  write,
} from '../simulated.js';

const WRITES = 100;

const ensemble = new MemoryEnsemble({ size: 3, seed: 1 });
const ids = ensemble.config.servers.map((server) => server.id);

await ensemble.start();
await everyoneServes(ensemble);
for (const id of ids) {
  await write(ensemble, await connected(ensemble, id), names(`by-${id}`, WRITES));
}
await expectEqual(ensemble);
for (const id of ids) await expectAll(id);
for (const id of ids) await ensemble.stop(id);
await ensemble.start();
await everyoneServes(ensemble);
await expectEqual(ensemble);
for (const id of ids) await expectAll(id);
await write(ensemble, await connected(ensemble, 1), ['/after']);
await expectEqual(ensemble);
console.log('passed');
process.exit(0);

async function expectAll(id: number): Promise<void> {
  const client = await connected(ensemble, id);
  const paths = ids.flatMap((writer) => names(`by-${writer}`, WRITES));
  const xids = paths.map((path) => client.exists(path));
  const last = xids.at(-1) ?? 0;
  await ensemble.until(() => client.errorOf(last) !== undefined, `did member ${id} answer reads`);
  const missing = paths.filter((_, index) => client.errorOf(xids[index] ?? 0) !== ErrorCode.ok);
  assert(missing.length === 0, () => `at member ${id}: missing ${missing.join(' ')}`);
}
