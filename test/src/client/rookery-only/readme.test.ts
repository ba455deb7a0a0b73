/**
 * Goal: what the READMEs show and tables say is so. Method: every `ts` block is type-checked, each
 * in a function of its own, with the names of the prelude at hand; the errors of the table are made
 * and asked; the recipes of the table are those that are exported, all of them.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as client from '@rookery/client';
import { expect, it, onTestFinished } from 'vitest';
import { REPOSITORY } from '../../harness/product.js';
import { runCommand } from '../run-command.js';

const READMES = ['README.md', 'client/README.md', 'server/README.md'];
const TYPESCRIPT = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
const CHECK_DEADLINE_MS = 120_000;

/** What the snippets speak of without having made it. */
const PRELUDE = `
declare const zk: import('@rookery/client').Client;
declare const ensemble: import('@rookery/server/testing').TestEnsemble;
declare const signal: AbortSignal;
declare const logger: import('pino').Logger;

declare function readAgain(): Promise<void>;
declare function apply(event: import('@rookery/client').WatchEvent): void;
declare function work(items: readonly Buffer[]): Promise<void>;
declare function writeReport(how: { signal: AbortSignal; token: bigint }): Promise<void>;
`;

const text = (file: string) => readFileSync(join(REPOSITORY, file), 'utf8');

it('every TypeScript block of the READMEs is correct', { timeout: CHECK_DEADLINE_MS }, async () => {
  const work = join(REPOSITORY, 'test/.work');
  mkdirSync(work, { recursive: true });
  const directory = mkdtempSync(join(work, 'readme-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'prelude.d.ts'), PRELUDE);
  const blocks = READMES.flatMap((file) => {
    const found = [...text(file).matchAll(/^```(?:ts|js)\n(.*?)^```/gms)];
    return found.map(([, code = ''], index) => ({ name: `${file}-${index}`, code }));
  });
  expect(blocks.length).toBeGreaterThanOrEqual(3);
  for (const { name, code } of blocks) {
    writeFileSync(join(directory, `${name.replaceAll(/[^\w-]/g, '-')}.ts`), asModule(code));
  }
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: join(REPOSITORY, 'tsconfig.base.json'),
      compilerOptions: { noEmit: true, composite: false, noUnusedLocals: false },
      include: ['*.ts'],
    }),
  );
  const options = { cwd: directory, deadlineMs: CHECK_DEADLINE_MS };
  const checked = await runCommand(process.execPath, [TYPESCRIPT, '-p', '.'], options);
  expect(checked).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('each class of the error table has the code and the retryable that it says', () => {
  const rows = [
    ...text('client/README.md').matchAll(/^\| `(\w+Error)`[^|]*\| (-\d+) \| (\w+) \|/gm),
  ];
  expect(rows.length).toBeGreaterThanOrEqual(10);
  for (const [, name = '', code, retryable] of rows) {
    const Class: unknown = Reflect.get(client, name);
    if (typeof Class !== 'function') throw new Error(`no ${name} is exported`);
    const error: unknown = Reflect.construct(Class, ['/path']);
    if (!(error instanceof client.KeeperError)) throw new Error(`${name} is no KeeperError`);
    const said = { name, code: Number(code), retryable: retryable === 'yes', ambiguous: false };
    expect({ ...error, retryable: error.retryable }).toMatchObject(said);
  }
  const named = [...text('client/README.md').matchAll(/`(\w+Error)`/g)].map(
    ([, name = '']) => name,
  );
  expect(named.filter((name) => name !== 'AbortError' && !(name in client))).toEqual([]);
});

it('each recipe that is exported has its place in the table, and the table has no other', () => {
  const index = text('client/src/index.ts');
  const exports = [...index.matchAll(/^export \{([^}]*)\} from '\.\/recipes\/[\w-]+\.js'/gms)];
  const recipes = exports
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => /^[A-Z]/.test(name) && !/Error$|Entry$/.test(name));
  const [, section = ''] = text('client/README.md').split('## Recipes\n');
  const [table = ''] = section.split('\n## ');
  const rows = [...table.matchAll(/^\| (`[^|]*)\|/gm)].map(([, cell = '']) => cell);
  const listed = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(listed.toSorted()).toEqual(recipes.toSorted());
});

/** Imports stay at the top; the rest may await, and may name things as the prelude does. */
function asModule(code: string): string {
  const lines = code.split('\n');
  const isImport = (line: string) => line.startsWith('import ');
  const body = lines.filter((line) => !isImport(line)).join('\n');
  return [...lines.filter(isImport), 'export async function snippet() {', body, '}', ''].join('\n');
}
