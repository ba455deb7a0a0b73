/**
 * Waits for a session that is connected.
 */
import { errorMessage, OperationTimeoutError, SessionExpiredError } from '@rookery/protocol';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import type { OperationOptions, Session } from '../api/values.js';
import { onAbort } from '../calls/abort-followers.js';
import { timeoutError as timeoutOptionError } from '../calls/call-options.js';
import type { SessionKeeper } from './session-keeper.js';

export interface WaitOptions extends OperationOptions {
  /** In milliseconds, 0 for no limit. */
  readonly timeoutMs: number;
  readonly keeper: SessionKeeper;
}

/**
 * Resolves at once if the client is connected. Rejects with ClientClosedError (or AuthFailedError)
 * if the client is closed, and with SessionExpiredError if there can be no further session.
 */
export function waitConnected(options: WaitOptions): Promise<Session> {
  const { keeper, signal, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const undo: (() => void)[] = [];
    const settle = (settled: () => void) => {
      for (const step of undo) step();
      settled();
    };
    const look = () => {
      const outcome = outcomeOf(keeper, options.session);
      if (outcome instanceof Error) settle(() => reject(outcome));
      else if (outcome !== null) settle(() => resolve(outcome));
      return outcome !== null;
    };
    if (signal?.aborted === true) {
      reject(new OperationAbortedError(signal.reason, { ambiguous: false }));
      return;
    }
    if (look()) return;
    const error = timeoutOptionError(timeoutMs);
    if (error !== null) {
      reject(error);
      return;
    }
    undo.push(keeper.states.on(look));
    if (signal !== undefined) {
      const end = () => {
        const trouble = keeper.trouble === null ? {} : { trouble: errorMessage(keeper.trouble) };
        const error = new OperationAbortedError(signal.reason, { ambiguous: false, ...trouble });
        settle(() => reject(error));
      };
      undo.push(onAbort(signal, end));
    }
    if (timeoutMs > 0) {
      const expire = () => settle(() => reject(timeoutError(keeper)));
      undo.push(keeper.surroundings.setTimer(timeoutMs, expire));
    }
  });
}

function outcomeOf(keeper: SessionKeeper, wanted: bigint | undefined): Session | Error | null {
  const { session, states } = keeper;
  if (states.state === 'closed') return states.last.error ?? new ClientClosedError();
  const isOther = wanted !== undefined && session?.id !== wanted;
  if (isOther || keeper.isOver) return new SessionExpiredError();
  return states.state === 'connected' ? session : null;
}

function timeoutError(keeper: SessionKeeper): Error {
  const { trouble } = keeper;
  return new OperationTimeoutError(undefined, { ...(trouble && { cause: trouble }) });
}
