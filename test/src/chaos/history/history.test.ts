/**
 * A history is read as it was written, even if its file was cut off; a process number ends with an
 * operation of unknown outcome.
 */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HistoryEntry } from './entry.js';
import { operationsOf, readHistory } from './history-reader.js';
import { HistoryWriter } from './history-writer.js';

async function newPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rookery-history-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'history.jsonl');
}

describe('a history', () => {
  it('is read as it was written, in order, with times that do not go back', async () => {
    const path = await newPath();
    const writer = HistoryWriter.open(path);
    const first = writer.recorder('register', 0).invoke('read', [1, null]);
    writer.recorder('set', 1).invoke('add', 3).fail('NoNodeError: gone');
    first.ok([1, 5], { zxid: 4294967299, session: '1f' });
    await writer.close();
    const entries = await readHistory(path);
    expect(
      entries.map(({ index, process, type, f, value }) => [index, process, type, f, value]),
    ).toEqual([
      [0, 0, 'invoke', 'read', [1, null]],
      [1, 1, 'invoke', 'add', 3],
      [2, 1, 'fail', 'add', 3],
      [3, 0, 'ok', 'read', [1, 5]],
    ]);
    expect(entries[3]).toMatchObject({ zxid: 4294967299, session: '1f', workload: 'register' });
    expect(entries[2]?.error).toBe('NoNodeError: gone');
    const times = entries.map(({ time }) => time);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(await readHistory(path, 'set')).toHaveLength(2);
  });

  it('may end within a line, but holds nothing else that is not its own', async () => {
    const path = await newPath();
    const writer = HistoryWriter.open(path);
    writer.recorder('set', 1).invoke('add', 3).ok(3);
    await writer.close();
    await appendFile(path, '{"index":2,"ti');
    expect(await readHistory(path)).toHaveLength(2);
    await appendFile(path, '\n{"index":3}\n{}\n');
    await expect(readHistory(path)).rejects.toThrow('not a line of a history');
  });

  it('uses a process number no more after an operation of which nobody knows the outcome', () => {
    const lines: string[] = [];
    const writer = new HistoryWriter({ write: (line) => lines.push(line), nowNs: () => 0 });
    const [a, b] = [writer.recorder('set', 0), writer.recorder('set', 1)];
    a.invoke('add', 1).info('ConnectionLossError');
    b.invoke('add', 2).ok(2);
    const ended = a.invoke('add', 3);
    ended.ok(3);
    expect(() => ended.ok(3)).toThrow('ended twice');
    const entries = lines.map((line): HistoryEntry => JSON.parse(line));
    expect(entries.map(({ process }) => process)).toEqual([0, 0, 1, 1, 2, 2]);
    expect(entries.map(({ client }) => client)).toEqual([0, 0, 1, 1, 0, 0]);
  });

  it('is paired into operations; one that never ended has an unknown outcome', () => {
    const lines: string[] = [];
    let now = 0;
    const writer = new HistoryWriter({ write: (line) => lines.push(line), nowNs: () => now++ });
    const late = writer.recorder('set', 0).invoke('add', 1);
    writer.recorder('set', 1).invoke('add', 2);
    late.ok('done', { zxid: 7 });
    const entries = lines.map((line): HistoryEntry => JSON.parse(line));
    const [first, second] = operationsOf(entries);
    expect(first).toMatchObject({ asked: 1, value: 'done', calledAt: 0, endedAt: 2, zxid: 7 });
    expect(second).toMatchObject({ outcome: 'info', endedAt: Number.POSITIVE_INFINITY });
    expect(() => operationsOf(entries.slice(1))).toThrow('an end without a beginning');
  });
});
