import { pino } from 'pino';
import { expect, it } from 'vitest';
import { harmless, logTo } from './log-output.js';

it('writes no character that a terminal obeys, whatever a client has chosen for a name', () => {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  const logger = pino({ formatters: { log: harmless } }, { write });
  const name = '\u001b[2J\n\u009b31m\u007f\u202e\u2028 café 😀';
  logger.info({ name, count: 1 }, 'an.event');
  logger.info({ name: 'plain', err: new Error('x') }, 'an.event');
  const [line = '', plain = ''] = lines;
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\u202e]/u);
  expect(JSON.parse(line).name).toBe('\\u001b[2J\n\\u009b31m\\u007f\\u202e\\u2028 café 😀');
  expect(JSON.parse(plain)).toMatchObject({ name: 'plain', err: { message: 'x' } });
});

it('goes on after lines that a full disk does not take, with whole lines once there is room', () => {
  let written = '';
  let room = 5;
  const log = logTo(1, (_fd, bytes, at) => {
    const part = Buffer.from(bytes).subarray(at, at + room);
    if (part.length === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    written += part.toString();
    room -= part.length;
    return part.length;
  });
  log.write('one\n');
  log.write('two\n');
  log.write('three\n');
  expect(written).toBe('one\nt');
  room = 100;
  log.write('four\n');
  log.write('five\n');
  expect(written).toBe('one\nt\nfour\nfive\n');
});

it('waits for a reader that is slower, and loses nothing then', () => {
  let written = '';
  let refusals = 2;
  const log = logTo(1, (_fd, bytes, at) => {
    if (refusals-- > 0) throw Object.assign(new Error('try again'), { code: 'EAGAIN' });
    written += Buffer.from(bytes)
      .subarray(at, at + 2)
      .toString();
    return Math.min(2, bytes.length - at);
  });
  log.write('lines\n');
  expect(written).toBe('lines\n');
});
