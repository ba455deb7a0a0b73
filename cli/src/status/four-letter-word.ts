/** Sends one four-letter word to a server of ZooKeeper's protocol and reads the answer. */
import { connect } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { FourLetterWord } from '@rookery/server';

/** No answer but that of a listing, such as `cons` or `dump`, has so many bytes. */
const ANSWER_BYTES_MAX = 1 << 20;

export interface ServerToAsk {
  readonly host: string;
  readonly port: number;
  /** Asked for each connection, and what it throws is why there is none; absent without TLS. */
  readonly tls?: (() => ConnectionOptions) | undefined;
}

/**
 * Resolves with the answer. It is '' from a server that does not know the word, and a sentence with
 * "not in the whitelist" from one whose configuration does not allow it. Rejects with an Error that
 * says why there is no answer within `timeoutMs`, or that it has more than `bytesMax` bytes.
 */
export function askWord(
  { host, port, tls }: ServerToAsk,
  word: FourLetterWord,
  timeoutMs: number,
  bytesMax = ANSWER_BYTES_MAX,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const onOpen = (): void => {
      isOpen = true;
      socket.write(word);
    };
    const socket =
      tls === undefined
        ? connect({ host, port }, onOpen)
        : connectTls({ ...tls(), host, port }, onOpen);
    const parts: Buffer[] = [];
    let bytes = 0;
    const end = (error: Error | null): void => {
      clearTimeout(timer);
      socket.destroy();
      if (error === null) resolve(Buffer.concat(parts).toString());
      else reject(plainly(error));
    };
    const timer = setTimeout(() => {
      const other = tls === undefined ? 'TLS or of another program' : 'another program';
      const maybe = isOpen ? `; the server may hang, or the port is for ${other}` : '';
      end(new Error(`no answer in ${timeoutMs} ms${maybe}`));
    }, timeoutMs);
    socket.on('data', (part) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > bytesMax) end(new Error(`the answer is longer than ${bytesMax} bytes`));
    });
    socket.on('end', () => end(null));
    socket.on('error', end);
  });
}

/** OpenSSL's messages have numbers and places in its sources around the reason. */
function plainly(error: Error): Error {
  const reason: unknown = Reflect.get(error, 'reason');
  const code = String(Reflect.get(error, 'code'));
  if (!code.startsWith('ERR_SSL_') || typeof reason !== 'string') return error;
  const isOther = code === 'ERR_SSL_WRONG_VERSION_NUMBER';
  return new Error(isOther ? `it does not speak TLS (${reason})` : reason, { cause: error });
}
