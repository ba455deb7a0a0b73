/**
 * The clients of a pulse, in a thread of their own; `pulse.ts` starts it and asks it questions.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ErrorCode } from '@rookery/protocol';
import { ensure, sendGetData, sendSetData } from '../harness/operations.js';
import { deferred } from '../harness/wait.js';
import { type Reply, SessionExpired, WireClient } from '../harness/wire-client.js';
import { nowMs, type PulseWindow } from './pulse.js';

const PARENT = '/pulse';
const SESSION_TIMEOUT_MS = 10_000;
const RETRY_MS = 10;
/** A member that does not even answer a handshake is given up for the next one. */
const HANDSHAKE_MS = 1_000;
/** The record is a ring: older entries give way. It has minutes of reads and writes. */
const ENTRIES_MAX = 1 << 22;

const KINDS = { written: 0, read: 1, refused: 2, lost: 3 } as const;
type Kind = keyof typeof KINDS;

/** The last `ENTRIES_MAX` events: when, of which kind, after how long, with which error. */
class Record {
  readonly #at = new Float64Array(ENTRIES_MAX);
  readonly #tookMs = new Float64Array(ENTRIES_MAX);
  readonly #kind = new Uint8Array(ENTRIES_MAX);
  readonly #error = new Int32Array(ENTRIES_MAX);
  #count = 0;

  note(kind: Kind, tookMs: number, error = 0): void {
    const index = this.#count % ENTRIES_MAX;
    this.#at[index] = nowMs();
    this.#tookMs[index] = tookMs;
    this.#kind[index] = KINDS[kind];
    this.#error[index] = error;
    this.#count += 1;
  }

  window(fromMs: number, toMs: number): PulseWindow {
    let [written, gap, wait, lost, previous] = [0, 0, 0, 0, fromMs];
    const errors = new Map<number, number>();
    for (let at = Math.max(0, this.#count - ENTRIES_MAX); at < this.#count; at += 1) {
      const index = at % ENTRIES_MAX;
      const when = this.#at[index] ?? 0;
      if (when < fromMs || when > toMs) continue;
      wait = Math.max(wait, this.#tookMs[index] ?? 0);
      const kind = this.#kind[index];
      const error = this.#error[index] ?? 0;
      if (error !== 0) errors.set(error, (errors.get(error) ?? 0) + 1);
      if (kind === KINDS.lost) lost += 1;
      if (kind !== KINDS.written) continue;
      written += 1;
      gap = Math.max(gap, when - previous);
      previous = when;
    }
    return {
      acknowledgedWrites: written,
      longestWriteGapMs: Math.max(gap, toMs - previous),
      longestWaitMs: wait,
      connectionsLost: lost,
      errors: Object.fromEntries(errors),
    };
  }
}

const { ports }: { readonly ports: readonly number[] } = workerData;
const record = new Record();
const started = deferred<void>();
let running = 0;

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, RETRY_MS);
  });
}

/** One client: asks for ever, at the next port after each loss. */
async function runClient(index: number, isWriter: boolean): Promise<never> {
  const path = `${PARENT}/${index}`;
  let previous: WireClient | undefined;
  let hasRun = false;
  let askedAt = nowMs();
  for (let at = index; ; at += 1) {
    const port = ports[at % ports.length] ?? 0;
    const client = await reconnect(port, previous).catch((error: unknown) => {
      if (error instanceof SessionExpired) previous = undefined;
      return undefined;
    });
    if (client === undefined) {
      await pause();
      continue;
    }
    previous = client;
    while (client.open) {
      const reply = await ask(client, path, isWriter).catch(() => undefined);
      // A request that was lost with its connection is asked again, and its wait goes on.
      if (reply === undefined) break;
      noteReply(reply, isWriter, nowMs() - askedAt);
      askedAt = nowMs();
      if (!hasRun && reply.error === 0) {
        hasRun = true;
        running += 1;
        if (running === 2 * ports.length) started.resolve();
      }
      if (reply.error !== 0) await pause();
    }
    record.note('lost', 0);
    await client.drop();
  }
}

function reconnect(port: number, previous: WireClient | undefined): Promise<WireClient> {
  const options = {
    port,
    timeoutMs: SESSION_TIMEOUT_MS,
    handshakeMs: HANDSHAKE_MS,
    recording: false,
  };
  if (previous === undefined) return WireClient.connect(options);
  const { session, lastZxid } = previous;
  return WireClient.connect({ ...options, session, lastZxidSeen: lastZxid });
}

async function ask(client: WireClient, path: string, isWriter: boolean): Promise<Reply> {
  const reply = isWriter
    ? await sendSetData(client, path, String(nowMs()))
    : await sendGetData(client, path);
  if (reply.error !== ErrorCode.noNode) return reply;
  await ensure(client, PARENT);
  await ensure(client, path);
  return ask(client, path, isWriter);
}

function noteReply(reply: Reply, isWriter: boolean, tookMs: number): void {
  if (reply.error !== 0) record.note('refused', tookMs, reply.error);
  else record.note(isWriter ? 'written' : 'read', tookMs);
}

for (let index = 0; index < ports.length; index += 1) {
  void runClient(index, true);
  void runClient(index, false);
}

type Question = { kind: 'started' } | { kind: 'window'; fromMs: number; toMs: number };
parentPort?.on('message', (question: Question) => {
  if (question.kind === 'started') {
    void started.promise.then(() => parentPort?.postMessage({ kind: 'started', value: null }));
  } else {
    const value = record.window(question.fromMs, question.toMs);
    parentPort?.postMessage({ kind: 'window', value });
  }
});
