/** Work on the directories of members that do not run. */
export { exportedNodes } from './exported-nodes.js';
export { type MembersToRestore, restoreMembers } from './restore.js';
export { type Dropped, type RestorePlan, restorePlanOf } from './restore-plan.js';
export { readStoppedMember, type StoppedMember } from './stopped-member.js';
