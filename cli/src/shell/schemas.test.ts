/** Every command that writes data documents its shape where users find it. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SCHEMAS, schemaText } from './schemas.js';
import { COMMANDS } from './table.js';

const FILE = new URL('../../../docs/operations/commands.schema.json', import.meta.url);
const PAGE = new URL('../../../docs/operations/shell.md', import.meta.url);

it('every command has a schema, and every schema a command', () => {
  const names = COMMANDS.filter(({ isPlain }) => isPlain !== true).map(({ name }) => name);
  expect(Object.keys(SCHEMAS).sort()).toEqual([...names].sort());
});

it('docs/operations/commands.schema.json is what `npm run docs:commands` writes', () => {
  expect(readFileSync(FILE, 'utf8')).toBe(schemaText());
});

it('every command has its line in the documents', () => {
  const page = readFileSync(PAGE, 'utf8');
  for (const { name } of COMMANDS) expect(page).toContain(`| \`${name}`);
});
