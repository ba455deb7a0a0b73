/** The commit-msg hook that CONTRIBUTING.md sets up refuses what STYLE.md, "Commits", forbids. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../tidy/source.js';

/** Imported by a name that the compiler does not follow, because scripts have no types. */
const script = join(root, 'scripts/commit-message.mjs');
const { faultsOf }: { faultsOf: (message: string) => string[] } = await import(script);
const BODY = '\n\nThe reason.\nChecked by a test.\n';
const SUBJECT_72 = `storage: repair ${'x'.repeat(56)}`;

it('is set up by the command of CONTRIBUTING.md', () => {
  const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  expect(guide).toContain('git config core.hooksPath scripts/hooks');
});

it('hands the file that Git names to the script, and passes its verdict on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-commit-'));
  try {
    const file = join(folder, 'COMMIT_EDITMSG');
    for (const [message, code] of [
      [`zab: add a${BODY}`, 0],
      ['zab: add a\n', 1],
    ] as const) {
      writeFileSync(file, message);
      const hook = join(root, 'scripts/hooks/commit-msg');
      const { status, stderr } = spawnSync(hook, [file], { encoding: 'utf8' });
      expect(status, stderr).toBe(code);
      expect(stderr.includes('there is no body')).toBe(code === 1);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it.each([
  ['a subject with an area and a body', `storage: repair a damaged checkpoint${BODY}`],
  ['several areas', `storage, zab: repair a damaged checkpoint${BODY}`],
  ['no area', `Repair a damaged checkpoint${BODY}`],
  ['72 characters', `${SUBJECT_72}${BODY}`],
  ['a verb that ends like a participle', `zab: exceed no bound${BODY}`],
  [
    'comments and the diff of --verbose',
    `zab: add a${BODY}# ------- >8 -------\n${'y'.repeat(90)}`,
  ],
  ['a merge', "Merge branch 'other'\n"],
  ['a fixup', `fixup! ${SUBJECT_72}\n`],
])('accepts %s', (_, message) => {
  expect(faultsOf(message)).toEqual([]);
});

it.each([
  ['a subject of 73 characters', `${SUBJECT_72}x${BODY}`, '73 characters'],
  ['a past tense', `storage: repaired a checkpoint${BODY}`, '"repaired" is not in the imperative'],
  ['a progressive form', `Repairing a checkpoint${BODY}`, '"Repairing" is not in the imperative'],
  ['a statement', `A checkpoint is repaired${BODY}`, '"A" is not in the imperative'],
  ['an area without a verb', `storage:${BODY}`, 'not in the imperative'],
  ['a period', `storage: repair a checkpoint.${BODY}`, 'period'],
  ['a second line that is not empty', 'zab: add a\nThe reason.\n\nMore.\n', 'second line empty'],
  ['no body', 'zab: add a\n', 'there is no body'],
  ['a body of comments', 'zab: add a\n\n# Please enter the message\n', 'there is no body'],
  ['a body of trailers', 'zab: add a\n\nSigned-off-by: A <a@example.org>\n', 'there is no body'],
])('refuses %s', (_, message, reason) => {
  expect(faultsOf(message)).toEqual([expect.stringContaining(reason)]);
});
