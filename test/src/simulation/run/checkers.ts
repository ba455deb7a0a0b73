/** All checkers of a run, the cheap ones that every run has. */
import { MEMBER_CHECKERS } from '../checkers/member-side.js';
import type { NewChecker } from '../contract/checker.js';

export const ALL_CHECKERS: readonly NewChecker[] = [...MEMBER_CHECKERS];
