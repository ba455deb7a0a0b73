/** `npm run docs:configuration` writes docs/configuration.md from the schema and its comments. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tidy/source.js';
import { configurationReference, REFERENCE } from './configuration-reference.js';

writeFileSync(join(root, REFERENCE), configurationReference());
console.log(`wrote ${REFERENCE}`);
