/**
 * The requests that the session itself makes: to register watches again, as a marker, and to close.
 *
 * They are in no queue and have no deadline. The connection settles them, or they fail with it.
 */
import { type JuteWriter, OPERATIONS, OpCode } from '@rookery/protocol';
import type { RearmRequest } from '../watches/rearm.js';
import type { Call } from './call.js';
import { PendingRequest, type Request, type RequestOwner } from './request.js';

const NOBODY: RequestOwner = { trouble: null, onSettled: () => undefined };

/** `onSettled` is called once, with null if the request was answered without an error. */
export function ownRequest(
  opcode: number,
  write: (writer: JuteWriter) => void,
  onSettled: (error: Error | null) => void,
): Request {
  const call: Call<void> = {
    opcode,
    path: undefined,
    isWrite: false,
    write,
    read: () => undefined,
  };
  return new PendingRequest<void>({
    call,
    owner: NOBODY,
    signal: undefined,
    resolve: () => onSettled(null),
    reject: onSettled,
  });
}

export function closeRequest(onSettled: (error: Error | null) => void): Request {
  return ownRequest(OpCode.closeSession, () => undefined, onSettled);
}

/** A request that is answered after everything that was sent before it. */
export function markerRequest(onSettled: (error: Error | null) => void): Request {
  const { request } = OPERATIONS[OpCode.exists];
  const write = (writer: JuteWriter) => request.write(writer, { path: '/', watch: false });
  return ownRequest(OpCode.exists, write, onSettled);
}

export function rearmRequest(
  rearm: RearmRequest,
  onSettled: (error: Error | null) => void,
): Request {
  const write = (writer: JuteWriter) => {
    if (rearm.opcode === OpCode.setWatches) {
      OPERATIONS[OpCode.setWatches].request.write(writer, rearm.request);
    } else {
      OPERATIONS[OpCode.setWatches2].request.write(writer, rearm.request);
    }
  };
  return ownRequest(rearm.opcode, write, onSettled);
}
