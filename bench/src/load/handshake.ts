/**
 * The first frame of a connection, and the session that its answer names.
 *
 * A session is stored in the form that a client must present to resume it. Nothing here waits or
 * retries.
 */
import {
  ConnectRequest,
  type ConnectResponse,
  type Int64,
  JuteWriter,
  PASSWORD_BYTES,
} from '@rookery/protocol';

export interface Session {
  readonly id: Int64;
  readonly password: Uint8Array;
}

/** Requests the session, or a new one if it is null. */
export function connectFrame(session: Session | null, timeoutMs: number): Uint8Array {
  const writer = new JuteWriter();
  writer.beginFrame();
  ConnectRequest.write(writer, {
    protocolVersion: 0,
    lastZxidSeen: 0,
    timeoutMs,
    sessionId: session?.id ?? 0,
    password: session?.password ?? new Uint8Array(PASSWORD_BYTES),
    readOnly: false,
  });
  writer.endFrame();
  return writer.take();
}

/** The password is copied, because the buffer of the response is reused. */
export function sessionOf({ sessionId, password }: ConnectResponse): Session {
  return { id: sessionId, password: Uint8Array.from(password ?? []) };
}
