/**
 * All checkers of a run. Each is cheap enough for every run; `checkers.test.ts` ensures that none
 * is written and then forgotten here.
 */
import { CLIENT_CHECKERS } from '../checkers/client-side.js';
import { newLeases } from '../checkers/leases.js';
import { newLinearizableHistory } from '../checkers/linearizable-history.js';
import { MEMBER_CHECKERS } from '../checkers/member-side.js';
import type { NewChecker } from '../contract/checker.js';

export const ALL_CHECKERS: readonly NewChecker[] = [
  ...CLIENT_CHECKERS,
  ...MEMBER_CHECKERS,
  newLeases,
  newLinearizableHistory(),
];
