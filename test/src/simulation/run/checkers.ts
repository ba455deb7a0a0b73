/** All checkers of a run, the cheap ones that every run has. */
import { CLIENT_CHECKERS } from '../checkers/client-side.js';
import { newLeases } from '../checkers/leases.js';
import { MEMBER_CHECKERS } from '../checkers/member-side.js';
import type { NewChecker } from '../contract/checker.js';

export const ALL_CHECKERS: readonly NewChecker[] = [
  ...CLIENT_CHECKERS,
  ...MEMBER_CHECKERS,
  newLeases,
];
