/**
 * The golden interaction traces in test/traces: each file is run and compared with itself.
 *
 * A difference is a change of behaviour: explain it, then rewrite the files by `UPDATE_TRACES=1 npx
 * vitest run test/src/traces/traces.test.ts`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runTrace } from './interpreter.js';

const FOLDER = fileURLToPath(new URL('../../traces', import.meta.url));
const update = process.env['UPDATE_TRACES'] === '1';
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

describe('golden traces', () => {
  it('are never rewritten in CI', () => {
    expect(update && process.env['CI'] !== undefined).toBe(false);
  });

  it.each(files)('%s', (name) => {
    const path = join(FOLDER, name);
    const expected = readFileSync(path, 'utf8');
    const actual = runTrace(expected);
    if (update) writeFileSync(path, actual);
    else expect(actual).toBe(expected);
  });
});
