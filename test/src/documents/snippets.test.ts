/**
 * The programs in docs/ are correct: every `ts` block is type-checked, each in a function of its
 * own, against the sources of our packages, with the names of the prelude declared. The READMEs of
 * the packages are checked by test/src/client/rookery-only/readme.test.ts.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { root } from '../tidy/source.js';
import { blocksOf, pages } from './pages.js';

/** What the snippets use without defining it. */
const PRELUDE = `
declare const zk: import('@rookery/client').Client;
declare const signal: AbortSignal;
declare function readAgain(): Promise<void>;
declare function apply(event: import('@rookery/client').WatchEvent): void;
declare function work(items: readonly Buffer[]): Promise<void>;
declare function writeReport(how: { signal: AbortSignal; token: bigint }): Promise<void>;
`;

const snippets = pages()
  .filter(({ path }) => path.startsWith('docs/'))
  .flatMap(({ path, text }) =>
    blocksOf(text)
      .filter(({ language }) => language === 'ts' || language === 'js')
      .map(({ code }, index) => ({ name: `${path.replaceAll(/\W/g, '-')}-${index}`, code })),
  );

it('every TypeScript block of docs/ is correct', () => {
  expect(snippets.length).toBeGreaterThanOrEqual(4);
  expect(typeErrors(snippets)).toBe('');
});

it('a wrong block is found', () => {
  expect(typeErrors([{ name: 'wrong', code: 'zk.nothing();\n' }])).toContain('wrong.ts(2,4)');
});

/** Returns the compiler's messages; empty if there are none. */
function typeErrors(blocks: readonly { readonly name: string; readonly code: string }[]): string {
  const work = join(root, 'test/.work');
  mkdirSync(work, { recursive: true });
  const directory = mkdtempSync(join(work, 'snippets-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'prelude.d.ts'), PRELUDE);
  for (const { name, code } of blocks) writeFileSync(join(directory, `${name}.ts`), asModule(code));
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        noEmit: true,
        composite: false,
        incremental: false,
        noUnusedLocals: false,
        paths: {
          '@rookery/client': [join(root, 'client/src/index.ts')],
          '@rookery/client/testing': [join(root, 'client/src/testing/index.ts')],
          '@rookery/protocol': [join(root, 'protocol/src/index.ts')],
        },
      },
      include: ['*.ts'],
    }),
  );
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    execFileSync(process.execPath, [compiler, '-p', directory], {
      cwd: directory,
      encoding: 'utf8',
    });
    return '';
  } catch (error) {
    return String(Object(error).stdout);
  }
}

/** Imports stay at the top; the rest may use await, and may redeclare names of the prelude. */
function asModule(code: string): string {
  const lines = code.split('\n');
  const isImport = (line: string) => line.startsWith('import ');
  const body = lines.filter((line) => !isImport(line)).join('\n');
  return [...lines.filter(isImport), 'export async function snippet() {', body, '}', ''].join('\n');
}
