/**
 * The rules for the settings of the audit log. Called by config-schema.ts.
 */
import { flag, integer, text } from './setting-types.js';

/** A line is a few times 8 KB at most, and a file has some of them. */
const AUDIT_BYTES_LEAST = 64 * 1024;
const AUDIT_BYTES_MOST = 2 ** 40;
const AUDIT_FILES_MOST = 10_000;

export const auditShape = {
  auditFile: text('a file').nullable().default(null),
  auditBytesMax: integer(AUDIT_BYTES_LEAST, AUDIT_BYTES_MOST).default(64 * 1024 * 1024),
  auditFilesKept: integer(0, AUDIT_FILES_MOST).default(10),
  auditRequired: flag().default(false),
};

export function auditProblems(raw: Readonly<Record<string, unknown>>): string[] {
  if (raw['auditRequired'] !== true || (raw['auditFile'] ?? null) !== null) return [];
  return ['auditFile: expected a file while auditRequired is true, got nothing'];
}
