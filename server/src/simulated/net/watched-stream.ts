/**
 * For tests: a stream's events, each of which can be waited for. What is read is copied, so lent
 * chunks may be written over.
 */
import type { ByteStream, StreamHandlers } from '../../net/transport.js';

export interface WatchedStream {
  readonly stream: ByteStream;
  readonly ended: Promise<void>;
  readonly drained: Promise<void>;
  readonly closed: Promise<Error | undefined>;
  /** All that was read, one character a byte. */
  text(): string;
  /** Resolves when so many were read in all. */
  bytes(count: number): Promise<void>;
}

export function watchedStream(stream: ByteStream): WatchedStream {
  const data: Buffer[] = [];
  const waiters: { readonly bytes: number; readonly resolve: () => void }[] = [];
  const received = (): number => data.reduce((sum, chunk) => sum + chunk.length, 0);
  let onEnd = (): void => {};
  let onDrain = (): void => {};
  let onClose = (_error: Error | undefined): void => {};
  const handlers: StreamHandlers = {
    onData: (chunk) => {
      data.push(Buffer.from(chunk));
      for (const waiter of waiters) if (received() >= waiter.bytes) waiter.resolve();
    },
    onEnd: () => onEnd(),
    onDrain: () => onDrain(),
    onClose: (error) => onClose(error),
  };
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const drained = new Promise<void>((resolve) => {
    onDrain = resolve;
  });
  const closed = new Promise<Error | undefined>((resolve) => {
    onClose = resolve;
  });
  stream.handle(handlers);
  const text = (): string => Buffer.concat(data).toString('latin1');
  const bytes = (count: number): Promise<void> =>
    new Promise((resolve) => {
      if (received() >= count) resolve();
      else waiters.push({ bytes: count, resolve });
    });
  return { stream, ended, drained, closed, text, bytes };
}
