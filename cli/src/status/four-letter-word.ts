/** Sends one four-letter word to a server of ZooKeeper's protocol and reads the answer. */
import { connect } from 'node:net';

/** No answer to `srvr` or `mntr` has so many bytes. */
const ANSWER_BYTES_MAX = 1 << 20;

export interface ServerToAsk {
  readonly host: string;
  readonly port: number;
}

/** Rejects with an Error that says why there is no answer within `timeoutMs`. */
export function askWord(
  server: ServerToAsk,
  word: string,
  timeoutMs: number,
  bytesMax = ANSWER_BYTES_MAX,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server);
    const parts: Buffer[] = [];
    let bytes = 0;
    const end = (error: Error | null): void => {
      clearTimeout(timer);
      socket.destroy();
      if (error === null) resolve(Buffer.concat(parts).toString());
      else reject(error);
    };
    const timer = setTimeout(() => end(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    socket.on('connect', () => socket.write(word));
    socket.on('data', (part) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > bytesMax) end(new Error(`the answer is longer than ${bytesMax} bytes`));
    });
    socket.on('end', () => end(null));
    socket.on('error', end);
  });
}
