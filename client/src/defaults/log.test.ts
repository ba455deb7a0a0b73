/**
 * Goal: each change of a client's state, and what goes wrong in the background, is one line in the
 * logger that the application gave, whether it is pino's, the console or neither.
 */
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import { checkedOptions } from '../session/options-check.js';
import { ScriptedClient, SESSION_TIMEOUT_MS } from '../testing/scripted-client.js';

class Lines extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }

  get records(): Record<string, unknown>[] {
    const lines = this.text.split('\n').filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line));
  }
}

it('writes each change of state to pino, with the session and without its password', async () => {
  const lines = new Lines();
  const logger = pino({ level: 'debug' }, lines);
  const scripted = new ScriptedClient({ logger, name: 'orders' });
  await scripted.accept(0xab);
  const { last } = scripted.network;
  last.close(new Error('cut'));
  await scripted.pass(SESSION_TIMEOUT_MS * 2);
  await scripted.client.close();
  const told = lines.records.filter(({ event }) => event !== 'session.attempt_failed');
  expect(told.map(({ event, level }) => [event, level])).toEqual([
    ['session.connected', 30],
    ['session.suspended', 40],
    ['session.no_server', 40],
    ['session.lost', 40],
    ['session.connecting', 30],
    ['session.closed', 30],
  ]);
  expect(told[0]).toMatchObject({
    client: 'orders',
    session: '0xab',
    server: 'a:2181',
    newSession: true,
    timeoutMs: SESSION_TIMEOUT_MS,
    msg: 'a session has been opened',
    from: 'connecting',
  });
  expect(told[1]).toMatchObject({ session: '0xab', err: { type: 'ConnectionLossError' } });
  expect(told[1]).not.toHaveProperty('lossCause');
  expect(told[3]).toMatchObject({ session: '0xab', lossCause: 'silence' });
  expect(lines.text).not.toContain('password');
  expect(lines.records.some(({ event }) => event === 'session.attempt_failed')).toBe(true);
});

it('writes the id of a local session, which is negative, as servers do', async () => {
  const lines = new Lines();
  const scripted = new ScriptedClient({ logger: pino({}, lines) });
  await scripted.accept(-2);
  expect(lines.records[0]).toMatchObject({ session: '0xfffffffffffffffe' });
  await scripted.pass(0);
});

it('puts the sentence first for a console', async () => {
  const lines = new Lines();
  const scripted = new ScriptedClient({ logger: new Console(lines) });
  await scripted.accept();
  expect(lines.text).toMatch(/^a session has been opened \{\n {2}event: 'session.connected',/);
  await scripted.pass(0);
});

it('takes the console and pino by type, and refuses what is no logger', () => {
  for (const logger of [console, pino({ level: 'silent' }), undefined]) {
    expect(checkedOptions({ logger }).name).toBe('default');
  }
  for (const logger of [{}, null, { info: () => undefined }, 'console']) {
    expect(() => checkedOptions({ logger: logger as never })).toThrow(OptionError);
  }
  expect(() => checkedOptions({ name: '' })).toThrow(OptionError);
});

it('is not harmed by a logger that throws: that is an uncaught exception of its own', async () => {
  const uncaught: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  const broken = () => {
    throw new Error('no disk');
  };
  const scripted = new ScriptedClient({
    logger: { debug: broken, info: broken, warn: broken, error: broken },
  });
  await scripted.accept();
  expect(scripted.client.state).toBe('connected');
  process.removeAllListeners('uncaughtException');
  for (const listener of others) process.on('uncaughtException', listener);
  expect(uncaught).toMatchObject([{ message: 'no disk' }]);
});
