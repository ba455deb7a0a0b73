/**
 * Every checker of what clients see.
 */
import type { NewChecker } from '../contract/checker.js';
import { ClientView } from './clients/client-view.js';
import { newCutOff } from './clients/cut-off.js';
import { newExpiry } from './clients/expiry.js';
import { newMovedOn } from './clients/moved-on.js';
import { newRealTimeOrder } from './clients/real-time-order.js';
import { newSequenceNumbers } from './clients/sequence-numbers.js';
import { newSessionFifo } from './clients/session-fifo.js';
import { newZxidSeen } from './clients/zxid-seen.js';

export const CLIENT_CHECKERS: readonly NewChecker[] = [
  // This checker comes first: its messages name applied transactions that others see in replies.
  () => new ClientView(),
  newSessionFifo,
  newZxidSeen,
  newRealTimeOrder,
  newSequenceNumbers,
  newExpiry,
  newCutOff,
  newMovedOn,
];
