/**
 * `npm run docs:commands`: writes docs/operations/commands.schema.json from the schemas of what
 * commands write with `-o json`. A test compares the two.
 */
import { writeFileSync } from 'node:fs';
import { schemaText } from '../cli/dist/shell/schemas.js';

const FILE = new URL('../docs/operations/commands.schema.json', import.meta.url);
writeFileSync(FILE, schemaText());
console.log(`wrote ${FILE.pathname}`);
