/** A log file that continues an earlier one and is replaced by a new one at its size limit. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { expect, it, onTestFinished } from 'vitest';
import { memberLogFile } from './ensemble.js';

it('exceeds its size limit by one line at most, and so does the file before it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rookery-log-file-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'logs', 'member-1.log');
  for (const run of ['a', 'b']) {
    const file = memberLogFile(path, 100);
    for (let line = 0; line < 10; line++) file.write(`${run} ${line} ${'x'.repeat(30)}\n`);
    file.end();
    await finished(file);
  }
  expect((await readdir(join(directory, 'logs'))).toSorted()).toEqual([
    'member-1.log',
    'member-1.log.old',
  ]);
  const newest = await readFile(path, 'utf8');
  const older = await readFile(`${path}.old`, 'utf8');
  expect(newest.length).toBeLessThanOrEqual(100 + 35);
  expect(older.length).toBeLessThanOrEqual(100 + 35);
  expect(`${older}${newest}`.trimEnd().split('\n').at(-1)).toMatch(/^b 9 /);
});
