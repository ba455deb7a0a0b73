/** What a start finds where the disk of the audit log has no room for its file. */
import { openSync } from 'node:fs';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { OperatorError } from '../config/operator-error.js';
import { StorageFault } from '../storage/errors.js';
import { checkAuditFile } from './audit-log.js';

vi.mock('node:fs', { spy: true });

it.each(['ENOSPC', 'EDQUOT'])('%s is no mistake of the operator: it may pass', (code) => {
  const full = Object.assign(new Error(`${code}: no space`), { code });
  vi.mocked(openSync).mockImplementation(() => {
    throw full;
  });
  const log = { path: '/audit-1.jsonl', logger: pino({ level: 'silent' }) };
  const start = () => checkAuditFile({ ...log, required: true });
  expect(start).toThrow(StorageFault);
  // That would be exit code 2, after which no supervisor starts the member again.
  expect(start).not.toThrow(OperatorError);
  expect(start).toThrow(`disk full error at /audit-1.jsonl: ${code}: no space`);
  checkAuditFile({ ...log, required: false });
});
