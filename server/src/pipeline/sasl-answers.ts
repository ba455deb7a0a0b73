/**
 * One step of an authentication by SASL: a token from the client, and its answer.
 *
 * The zxid of an answer is 0, and a refusal has a body, too, as in ZooKeeper. Called by Requests.
 */
import {
  decode,
  ErrorCode,
  type JuteReader,
  MarshallingError,
  ReplyHeader,
  SaslRequest,
  SaslResponse,
} from '@rookery/protocol';
import type { Connection } from './connection.js';
import type { Authenticator } from './identities.js';

const EMPTY = new Uint8Array(0);

/** Writes the answer. False if the client is refused, which ends the connection. */
export function answerSasl(
  connection: Connection,
  authenticator: Authenticator,
  { xid, body }: { readonly xid: number; readonly body: JuteReader },
): boolean {
  const sent = tokenOf(body);
  const outcome = sent === null ? null : authenticator.answerSasl(connection, sent);
  const isAccepted = outcome?.kind === 'answer';
  if (isAccepted) connection.becomes(outcome.identities);
  const { writer } = connection.output;
  writer.beginFrame();
  const error = isAccepted ? ErrorCode.ok : ErrorCode.authFailed;
  ReplyHeader.write(writer, { xid, zxid: 0, error });
  SaslResponse.write(writer, { token: isAccepted ? outcome.token : null });
  writer.endFrame();
  return isAccepted;
}

/** A token that is absent counts as empty. Null for what is no request. */
function tokenOf(body: JuteReader): Uint8Array | null {
  try {
    return decode(SaslRequest, body.rest()).token ?? EMPTY;
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}
