/**
 * The audit log by itself: its lines, its files one after the other, and what it does when the file
 * takes nothing.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErrorCode } from '@rookery/protocol';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { OperatorError } from '../config/operator-error.js';
import type { AuditRecord } from '../pipeline/audit.js';
import { AuditLog, auditFileOf, checkAuditFile } from './audit-log.js';

const RECORD: AuditRecord = {
  session: 0x2a,
  user: ['digest:ann:AbCd'],
  ip: '10.0.0.1',
  operation: 'delete',
  result: 'success',
  znode: '/a',
  zxid: 2 ** 32 + 1,
};
const REFUSAL: AuditRecord = { ...RECORD, result: 'failure', error: ErrorCode.noAuth };

function setUp(options: Partial<ConstructorParameters<typeof AuditLog>[0]> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'rookery-audit-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'audit.jsonl');
  const delayed: (() => void)[] = [];
  const after = (_: number, action: () => void) => {
    delayed.push(action);
    return { cancel: () => undefined };
  };
  const log = new AuditLog({
    member: 3,
    path,
    bytesMax: 1 << 20,
    filesKept: 2,
    required: false,
    logger: pino({ level: 'silent' }),
    timers: { after, wallMs: () => 0, nowMs: () => 0, defer: () => undefined },
    ...options,
  });
  onTestFinished(() => log.close());
  return { log, path, directory, runDelayed: () => delayed.splice(0).map((action) => action()) };
}

function linesOf(path: string) {
  const text = readFileSync(path, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

it('a line has the keys of ZooKeeper, the time, the member and the zxid', async () => {
  const { log, path } = setUp();
  log.record({ ...RECORD, operation: 'setData', version: 4, bytes: 12 });
  await log.close();
  const [start, line, stop] = linesOf(path);
  expect(start).toMatchObject({ operation: 'serverStart', member: 3, result: 'success' });
  expect(line).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    member: 3,
    session: '0x2a',
    user: ['digest:ann:AbCd'],
    ip: '10.0.0.1',
    operation: 'setData',
    znode: '/a',
    result: 'success',
    zxid: '0x100000001',
    version: 4,
    bytes: 12,
  });
  expect(stop).toMatchObject({ operation: 'serverStop' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(log.figures).toEqual({ written: 3, dropped: 0, leftOut: 0 });
});

it('a local session is shown as clients see it', async () => {
  const { log, path } = setUp();
  log.record({ ...RECORD, session: -2 });
  await log.close();
  expect(linesOf(path)[1]).toMatchObject({ session: '0xfffffffffffffffe' });
});

it('a name with control characters stays within its line', async () => {
  const { log, path } = setUp();
  log.record({ ...RECORD, user: ['digest:a\n{"forged":1}\u001b[2J'] });
  await log.close();
  const text = readFileSync(path, 'utf8');
  expect(text.split('\n')).toHaveLength(4);
  expect(text).not.toContain('\u001b');
});

it('a full file is followed by a new one, and only so many are kept, each with whole lines', async () => {
  const { log, path, directory } = setUp({ bytesMax: 1000 });
  for (let version = 0; version < 100; version++) log.record({ ...RECORD, version });
  await log.close();
  expect(readdirSync(directory).sort()).toEqual(['audit.jsonl', 'audit.jsonl.1', 'audit.jsonl.2']);
  const files = [`${path}.2`, `${path}.1`, path];
  for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(1000);
  const versions = files.flatMap(linesOf).map(({ version }) => version);
  const first = versions[0];
  expect(first).toBeGreaterThan(50);
  const rest = Array.from({ length: 100 - first }, (_, index) => first + index);
  expect(versions).toEqual([...rest, undefined]);
});

it('an older file that cannot be replaced costs no line while there is the room of all files', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const { log, path, directory } = setUp({ bytesMax: 2000, logger });
  // No file takes the name of a directory.
  mkdirSync(join(directory, 'audit.jsonl.1'));
  mkdirSync(join(directory, 'audit.jsonl.2', 'held'), { recursive: true });
  for (let version = 0; version < 30; version++) log.record({ ...RECORD, version });
  await until(() => log.figures.written === 31);
  expect(log.figures.dropped).toBe(0);
  expect(statSync(path).size).toBeGreaterThan(4000);
  expect(lines).toContain('audit.not_rotated');
  for (let version = 30; version < 60; version++) log.record({ ...RECORD, version });
  await until(() => log.figures.dropped > 0);
  expect(statSync(path).size).toBeLessThanOrEqual(6000);
  expect(lines).toContain('audit.lost');
  rmSync(join(directory, 'audit.jsonl.1'), { recursive: true });
  rmSync(join(directory, 'audit.jsonl.2'), { recursive: true });
  log.record({ ...RECORD, version: 60 });
  await log.close();
  expect(linesOf(path)).toContainEqual(expect.objectContaining({ version: 60 }));
  expect(statSync(path).size).toBeLessThanOrEqual(2000);
});

it('a line that a crash has cut off does not spoil the next one', async () => {
  const { directory } = setUp();
  const path = join(directory, 'cut.jsonl');
  writeFileSync(path, '{"time":"19');
  const { log } = setUp({ path });
  await log.close();
  const [, start] = readFileSync(path, 'utf8').split('\n');
  expect(JSON.parse(start ?? '')).toMatchObject({ operation: 'serverStart' });
});

it('refusals have one line a second for each session, and then one with their number', async () => {
  const { log, path, runDelayed } = setUp();
  for (let count = 0; count < 500; count++) log.record(REFUSAL);
  log.record({ ...REFUSAL, session: 7 });
  runDelayed();
  log.record(REFUSAL);
  await log.close();
  const facts = linesOf(path).map(({ session, leftOut }) => [session, leftOut]);
  const own = [undefined, undefined];
  const lines = [
    ['0x2a', undefined],
    ['0x7', undefined],
    ['0x2a', 499],
    ['0x2a', undefined],
  ];
  expect(facts).toEqual([own, ...lines, own]);
  expect(log.figures.leftOut).toBe(499);
});

it('lines beyond the buffer are dropped and counted', async () => {
  const { log, path } = setUp({ bufferBytesMax: 1000 });
  for (let count = 0; count < 100; count++) log.record(RECORD);
  await log.close();
  const { written, dropped } = log.figures;
  const lines = linesOf(path);
  // The last one says how many are missing.
  expect(written + dropped).toBe(103);
  expect(dropped).toBeGreaterThan(80);
  expect(lines).toHaveLength(written);
  expect(lines.find(({ operation }) => operation === 'linesLost').leftOut).toBe(dropped);
});

it('a file that cannot be opened costs lines, and is tried again', async () => {
  const { directory } = setUp();
  const path = join(directory, 'later', 'audit.jsonl');
  const { log } = setUp({ path });
  await until(() => log.figures.dropped > 0);
  mkdirSync(join(directory, 'later'));
  log.record(RECORD);
  await log.close();
  expect(log.figures).toMatchObject({ written: 3, dropped: 1 });
  const lost = linesOf(path).find(({ operation }) => operation === 'linesLost');
  expect(lost).toMatchObject({ result: 'failure', leftOut: 1 });
});

it('a required log tells once that it has lost a line', async () => {
  const { directory } = setUp();
  const { log } = setUp({ path: directory, required: true });
  const error = await log.lost;
  expect(error.message).toContain('has lost a line, and is required: EISDIR');
  // It would end the member with exit code 2, after which no supervisor starts it again.
  expect(error).not.toBeInstanceOf(OperatorError);
});

it('a required log is checked before anything starts', () => {
  const { directory } = setUp();
  const logger = pino({ level: 'silent' });
  expect(() => checkAuditFile({ path: directory, required: true, logger })).toThrow(
    `The audit log ${directory} cannot be written, and auditRequired is set: EISDIR`,
  );
  checkAuditFile({ path: directory, required: false, logger });
});

it('each member has a file of its own', () => {
  expect(auditFileOf('/var/log/audit.jsonl', 2)).toBe('/var/log/audit-2.jsonl');
  expect(auditFileOf('/var/log.d/audit', 2)).toBe('/var/log.d/audit-2');
  expect(auditFileOf('/var/.audit', 2)).toBe('/var/.audit-2');
});
