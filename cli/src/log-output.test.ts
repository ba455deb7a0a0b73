import { pino } from 'pino';
import { expect, it } from 'vitest';
import { harmless } from './log-output.js';

it('writes no character that a terminal obeys, whatever a client has chosen for a name', () => {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const logger = pino({ formatters: { log: harmless } }, { write });
  const name = '\u001b[2J\n\u009b31m\u007f\u202e\u2028 café 😀';
  logger.info({ name, count: 1 }, 'an.event');
  logger.info({ name: 'plain', err: new Error('x') }, 'an.event');
  const [line = '', plain = ''] = lines;
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u);
  expect(JSON.parse(line).name).toBe('\u001b[2J\n\\u009b31m\\u007f\\u202e\\u2028 café 😀');
  expect(JSON.parse(plain)).toMatchObject({ name: 'plain', err: { message: 'x' } });
});
