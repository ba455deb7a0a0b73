/**
 * A quiet process gives back the memory that V8 keeps for new objects. The process does what a
 * member's process does: it runs that part of the command, with a large buffer instead of a tree.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const DEADLINE_MS = 60_000;

it('the young generation of a real process shrinks once it is quiet', async () => {
  const module = new URL('../../../cli/dist/server/heap-trim.js', import.meta.url).href;
  const args = ['--input-type=module', '--eval', PROGRAM, module];
  const options = { timeout: DEADLINE_MS };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  expect(stdout).toContain('trimmed');
});

/** Produces garbage beside a large buffer, then waits until the young generation is smaller. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8';
  const { trimHeapWhenQuiet } = await import(process.argv[1]);
  const youngBytes = () =>
    getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  const tree = new Uint8Array(200 << 20);
  let kept = [];
  while (youngBytes() < 30 << 20) {
    if (kept.length === 3e5) kept = [];
    kept.push({});
  }
  trimHeapWhenQuiet();
  const looking = setInterval(() => {
    if (youngBytes() > 15 << 20) return;
    console.log('trimmed', tree.length);
    clearInterval(looking);
  }, 100);
`;
