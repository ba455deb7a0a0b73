/**
 * Sends four-letter words to a member and reads the answers.
 *
 * Each word has a connection of its own; an answer ends with the end of the stream. `srvr` shows
 * whether a member serves: no connection, another text or no `Mode:` line all mean that it does
 * not.
 */
import { connect } from 'node:net';

const ANSWER_TIMEOUT_MS = 2_000;

export interface MemberStatus {
  readonly mode: string;
  readonly zxid: bigint;
  readonly nodeCount: number;
  readonly connections: number;
  readonly outstanding: number;
}

export interface TreeDigest {
  readonly zxid: bigint;
  readonly digest: string;
}

const LOOPBACK = '127.0.0.1';

/** Returns the raw answer; rejects if the connection fails or the answer is late. */
export function fourLetterWord(port: number, word: string, host = LOOPBACK): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host, port });
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => {
      socket.destroy(new Error(`no answer to ${word} on port ${port} in ${ANSWER_TIMEOUT_MS} ms`));
    });
    socket.on('connect', () => socket.write(word));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

/** Returns what `srvr` reports, or undefined if the member is down or not serving. */
export async function statusOf(port: number, host = LOOPBACK): Promise<MemberStatus | undefined> {
  const text = await fourLetterWord(port, 'srvr', host).catch(() => '');
  const mode = field(text, 'Mode');
  const zxid = field(text, 'Zxid');
  if (mode === undefined || zxid === undefined) return undefined;
  return {
    mode,
    zxid: BigInt(zxid),
    nodeCount: Number(field(text, 'Node count')),
    connections: Number(field(text, 'Connections')),
    outstanding: Number(field(text, 'Outstanding')),
  };
}

export async function metricsOf(port: number): Promise<ReadonlyMap<string, string>> {
  const text = await fourLetterWord(port, 'mntr');
  const pairs = text.split('\n').map((line): [string, string] => {
    const tab = line.indexOf('\t');
    return [line.slice(0, tab), line.slice(tab + 1)];
  });
  return new Map(pairs.filter(([name]) => name !== ''));
}

/** Returns the last line of `hash`: the digest of the current tree. */
export async function digestOf(port: number, host = LOOPBACK): Promise<TreeDigest> {
  const text = await fourLetterWord(port, 'hash', host);
  const last = text.trimEnd().split('\n').at(-1) ?? '';
  const match = /^(?:0x)?([0-9a-f]+): *(-?[0-9a-f]+)$/.exec(last);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw new Error(`port ${port} answered hash with ${JSON.stringify(text)}`);
  }
  return { zxid: BigInt(`0x${match[1]}`), digest: match[2] };
}

function field(text: string, name: string): string | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name}: `));
  return line?.slice(name.length + 2).trim();
}
