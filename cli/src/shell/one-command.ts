/**
 * Runs one command of the shell as `rookery <command>`: connects when it needs to, prints, and ends
 * the session. Resolves with the exit code; a failure is one sentence on standard error.
 */
import { createInterface } from 'node:readline/promises';
import type { Client } from '@rookery/client';
import { tlsOfOptions } from '../command/client-proofs.js';
import { Call, type CommandSpec, EXIT } from '../command/command.js';
import { type Connected, failureOf, missingChroot } from '../command/failures.js';
import { FORMATS, type Format, Output, type Write } from '../command/output.js';
import { openClient, type Target, targetOf } from '../command/target.js';
import { INPUT_BYTES_MAX, readStreamWithin } from '../machine/bounded-input.js';
import { isBrokenPipe, unwritable } from '../terminal/standard-output.js';

/** The streams and variables of the process; tests pass their own. */
export interface ProcessParts {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly environment: NodeJS.ProcessEnv;
  /** Calls the listener at Ctrl-C; returns a function that removes it. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

type OptionValues = Readonly<Record<string, unknown>>;

export async function runOne(
  spec: CommandSpec,
  args: readonly unknown[],
  options: OptionValues,
  parts: ProcessParts = processParts(),
): Promise<number> {
  const stopping = new AbortController();
  const stopListening = parts.onInterrupt(() => stopping.abort());
  const output = outputOf(formatOf(options), parts);
  const clients: Opening[] = [];
  let target: Target | null = null;
  let own: Promise<Client> | null = null;
  const targetNow = (): Target => {
    target ??= targetOf(targetOptions(options), parts.environment);
    return target;
  };
  const open = (to: Target): Promise<Client> => {
    const opening = openClient(to, { signal: stopping.signal });
    clients.push({ opening, connect: to.connect });
    return opening;
  };
  const call = new Call(
    {
      output,
      client: () => {
        own ??= open(targetNow());
        return own;
      },
      other: (connect) => open({ ...targetNow(), connect, source: 'the other ensemble' }),
      connect: () => targetNow().connect,
      tls: () => targetNow().tls,
      directory: '/',
      signal: stopping.signal,
      isInteractive: parts.stdin.isTTY === true && parts.stderr.isTTY === true,
      confirm: (question) => confirm(question, parts, stopping.signal),
      handOver: (run) => run(),
      readInput: () => {
        const what = 'Standard input';
        const { signal } = stopping;
        return readStreamWithin(parts.stdin, { what, bytesMax: INPUT_BYTES_MAX, signal });
      },
      isShell: false,
      environment: parts.environment,
    },
    args,
    options,
  );
  try {
    const code = (await spec.run(call)) ?? EXIT.done;
    if (code === EXIT.no) await reportMissingChroots(clients, output);
    return code;
  } catch (error) {
    const { code, sentence } = failureOf(error);
    // Below such a chroot every path is missing, so the sentence about the path says nothing.
    const hasReason = code === EXIT.no && (await reportMissingChroots(clients, output));
    if (sentence !== null && !hasReason) await output.talk(`rookery: ${sentence}`);
    return code;
  } finally {
    stopListening();
    for (const { client } of await openedOf(clients)) await client.close();
  }
}

/** A client that is being opened, and the connect string from which it has its chroot. */
interface Opening {
  readonly opening: Promise<Client>;
  readonly connect: string;
}

/** Waits for all of them, and leaves out those that could not be opened. */
async function openedOf(clients: readonly Opening[]): Promise<Connected[]> {
  const opened = clients.map(async ({ opening, connect }) => ({ client: await opening, connect }));
  const settled = await Promise.allSettled(opened);
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** Names each chroot that does not exist; resolves with whether there is one. */
async function reportMissingChroots(clients: readonly Opening[], output: Output): Promise<boolean> {
  let isMissing = false;
  for (const connected of await openedOf(clients)) {
    const sentence = await missingChroot(connected);
    if (sentence === null) continue;
    await output.talk(`rookery: ${sentence}`);
    isMissing = true;
  }
  return isMissing;
}

export function processParts(): ProcessParts {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    onInterrupt: (listener) => {
      process.on('SIGINT', listener);
      process.on('SIGTERM', listener);
      return () => {
        process.off('SIGINT', listener);
        process.off('SIGTERM', listener);
      };
    },
  };
}

export function outputOf(format: Format, { stdout, stderr }: ProcessParts): Output {
  const isTerminal = stdout.isTTY === true;
  return new Output({ format, isTerminal, out: outputTo(stdout), error: messagesTo(stderr) });
}

export function formatOf(options: OptionValues): Format {
  return FORMATS.find((format) => format === options['output']) ?? 'table';
}

export function targetOptions(options: OptionValues) {
  const text = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const { timeout } = options;
  return {
    connect: text('connect'),
    context: text('context'),
    authFile: text('authFile'),
    tls: tlsOfOptions(options),
    timeoutMs: 1000 * (typeof timeout === 'number' ? timeout : 10),
    readOnly: options['readOnly'] === true,
  };
}

function ignoreError(): void {}

/**
 * Keeps an error of the stream from ending the process: the callback of the write that failed
 * reports it. The shell makes writers for each line, and a stream needs the listener once.
 */
function expectErrors(stream: NodeJS.WritableStream): void {
  if (!stream.listeners('error').includes(ignoreError)) stream.on('error', ignoreError);
}

/**
 * Writes to standard output: resolves once the stream has accepted the data, rejects with EPIPE if
 * the reader has gone, and with a sentence if they cannot be written for another reason.
 */
function outputTo(stdout: NodeJS.WritableStream): Write {
  expectErrors(stdout);
  return (data) =>
    new Promise((resolve, reject) => {
      stdout.write(data, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(isBrokenPipe(error) ? error : new Error(unwritable(error), { cause: error }));
      });
    });
}

/** Writes to standard error: resolves in any case, because a failure cannot be reported. */
function messagesTo(stderr: NodeJS.WritableStream): Write {
  expectErrors(stderr);
  return (data) => new Promise((resolve) => stderr.write(data, () => resolve()));
}

async function confirm(
  question: string,
  { stdin, stderr }: ProcessParts,
  signal: AbortSignal,
): Promise<boolean> {
  const asking = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `, { signal })).trim());
  } catch {
    // Ctrl-C and the end of the input count as no.
    return false;
  } finally {
    asking.close();
  }
}
