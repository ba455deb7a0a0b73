/**
 * Goal: what docs/operations/shell.md shows can be typed. Method: its commands are run in their
 * order against one ensemble; each ends with the exit code that the page gives, and where a block
 * of text follows, prints it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf } from '../../documents/pages.js';
import { newTestDirectory } from '../../harness/ensemble.js';
import { REPOSITORY } from '../../harness/product.js';
import { sharedEnsemble } from '../shared-ensemble.js';
import { ShellUser } from './shell-command.js';

const ensemble = sharedEnsemble({ size: 1 });
it('the commands of the page do what it says', async () => {
  const connect = `127.0.0.1:${ensemble().ports[0]}`;
  const user = new ShellUser(connect, newTestDirectory());
  const blocks = blocksOf(readFileSync(join(REPOSITORY, 'docs/operations/shell.md'), 'utf8'));
  let lines = 0;
  for (const [index, { language, code }] of blocks.entries()) {
    if (language === 'console') await dialogue(user, code);
    if (language !== 'sh') continue;
    let printed = '';
    for (const line of code.trim().split('\n')) {
      const command = line
        .replace(/^rookery /, '"$0" "$1" ')
        .replaceAll(/127\.0\.0\.1:2181(,127\.0\.0\.1:218[23])*/g, connect)
        .replace(/\s+# .*$/, '');
      const { code: exitCode, out, said } = await user.shell(command);
      expect([line, exitCode, said]).toEqual([line, 0, said]);
      printed += out;
      lines++;
    }
    const next = blocks[index + 1];
    if (next?.language === 'text') expect(printed).toBe(next.code);
  }
  expect(lines).toBeGreaterThan(10);
});

/** What is typed behind the prompts gives the other lines. */
async function dialogue(user: ShellUser, code: string): Promise<void> {
  const lines = code.trimEnd().split('\n');
  const isTyped = (line: string) => line.startsWith('rookery:');
  const input = lines.filter(isTyped).map((line) => `${line.slice(line.indexOf('> ') + 2)}\n`);
  const { code: exitCode, out } = await user.run(['sh'], { input: input.join('') });
  const printed = out.trimEnd().split('\n');
  expect({ exitCode, printed }).toEqual({
    exitCode: 0,
    printed: lines.filter((line) => !isTyped(line)),
  });
}
