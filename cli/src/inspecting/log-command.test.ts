/** Which transactions of a log are printed, and how. */
import type { Transaction } from '@rookery/server';
import { expect, it } from 'vitest';
import { isAskedFor, runInspectLog, textLine } from './log-command.js';

const WRITE: Transaction = {
  zxid: 0x100000005n,
  timeMs: Date.UTC(2026, 0, 31, 12),
  session: 0xffn,
  origin: 2,
  kind: 'write',
  changes: [
    { kind: 'create', path: '/a/b\n', detail: '3 bytes, persistent' },
    { kind: 'delete', path: '/c', detail: '' },
  ],
  toolkitText: null,
};

it('a line names zxid, time, session and changes, and no path can break it', () => {
  expect(textLine(WRITE)).toBe(
    '0x100000005  2026-01-31T12:00:00.000Z  session 0xff  ' +
      'create "/a/b\\n" 3 bytes, persistent, delete "/c"\n',
  );
  expect(textLine({ ...WRITE, kind: 'createSession', changes: [] })).toContain(' createSession\n');
});

it('the end of a session says whether its client has closed it, where the log tells', () => {
  const end = (kind: string, origin: number | null) => {
    return textLine({ ...WRITE, kind, origin, changes: [] })
      .split('  ')
      .at(-1);
  };
  expect(end('closeSession', 2)).toBe('closeSession by its client at member 2\n');
  expect(end('closeSession', 0)).toBe('closeSession by the leader\n');
  expect(end('beginClose', 0)).toBe('beginClose by the leader\n');
  expect(end('closeSession', null)).toBe('closeSession\n');
  expect(end('raiseLevel', 0)).toBe('raiseLevel\n');
});

it('transactions are selected by a path with everything below it, a session, or a time', () => {
  const asked = (what: object) => isAskedFor(WRITE, { format: 'lines', ...what });
  expect(['/', '/a', '/c'].map((path) => asked({ path }))).toEqual([true, true, true]);
  expect(['/a/', '/b', '/a/b'].map((path) => asked({ path }))).toEqual([false, false, false]);
  expect([asked({ session: 0xffn }), asked({ session: 1n })]).toEqual([true, false]);
  const { timeMs } = WRITE;
  expect([asked({ sinceMs: timeMs }), asked({ sinceMs: timeMs + 1 })]).toEqual([true, false]);
});

it('a source that is missing or named twice is a mistake of the caller', async () => {
  await expect(runInspectLog({ format: 'lines' })).rejects.toThrow('give a file of ZooKeeper');
  const both = { file: 'log.1', config: 'c.json', id: 1, format: 'lines' as const };
  await expect(runInspectLog(both)).rejects.toThrow('give a file of ZooKeeper');
  const nowhere = { file: '/nowhere', format: 'lines' as const };
  await expect(runInspectLog(nowhere)).rejects.toThrow('cannot be read');
});
