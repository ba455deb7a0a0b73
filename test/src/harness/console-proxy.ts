/**
 * Serves the built console in front of a member's API below any prefix, as a reverse proxy would:
 * `PREFIX/console/` from console/dist/web, `PREFIX/api/` from the member.
 *
 * It sends the policy that members send with the console, so tests meet it here, too.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { Ensemble, type EnsembleOptions } from './ensemble.js';
import { REPOSITORY } from './product.js';

const WEB = join(REPOSITORY, 'console/dist/web');
const POLICY = [
  "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; base-uri 'none'",
  "frame-ancestors 'none'; form-action 'self'",
].join('; ');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface ProxiedRequest {
  readonly method: string;
  /** Without the prefix. */
  readonly url: string;
}

export interface ConsoleProxy {
  /** The address of the console, with a slash at its end. */
  readonly address: string;
  /** What was asked of the API, in its order. */
  readonly asked: readonly ProxiedRequest[];
}

export interface ConsoleServer {
  readonly ensemble: Ensemble;
  readonly proxy: ConsoleProxy;
}

/** An ensemble and its console for all tests of a file; call it at the top of the file. */
export function useConsoleServer(
  options: EnsembleOptions & { readonly prefix?: string } = {},
): () => ConsoleServer {
  let server: ConsoleServer | undefined;
  let close = async (): Promise<void> => undefined;
  beforeAll(async () => {
    const ensemble = await Ensemble.create({ size: 1, operated: true, ...options });
    close = () => ensemble.close();
    ensemble.start();
    await ensemble.serving();
    const [first] = ensemble.members;
    const { proxy, stop } = await startProxy(first?.adminPort ?? 0, options.prefix ?? '');
    close = async () => {
      stop();
      await ensemble.close();
    };
    server = { ensemble, proxy };
  });
  afterAll(() => close());
  return () => {
    if (server === undefined) throw new Error('the ensemble did not come up');
    return server;
  };
}

interface Started {
  readonly proxy: ConsoleProxy;
  stop(): void;
}

/** Serves the console in front of the API at this port of 127.0.0.1. */
export async function startProxy(apiPort: number, prefix: string): Promise<Started> {
  const asked: ProxiedRequest[] = [];
  const server = createServer((incoming, answer) => {
    const url = incoming.url ?? '';
    if (url.startsWith(`${prefix}/api/`)) {
      asked.push({ method: incoming.method ?? '', url: url.slice(prefix.length) });
      forward(incoming, answer, { port: apiPort, path: url.slice(prefix.length) });
    } else if (url.startsWith(`${prefix}/console/`)) {
      sendFile(answer, url.slice(`${prefix}/console/`.length)).catch(() => answer.destroy());
    } else {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const proxy = { address: `http://127.0.0.1:${port}${prefix}/console/`, asked };
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { proxy, stop };
}

function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  { port, path }: { readonly port: number; readonly path: string },
): void {
  // The member asks for its own name, and knows nothing of the one that the browser has for us.
  const { host: _host, origin: _origin, ...headers } = incoming.headers;
  const { method } = incoming;
  const onward = request({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  incoming.pipe(onward);
}

async function sendFile(answer: ServerResponse, path: string): Promise<void> {
  const name = normalize(path.replace(/[?#].*$/, '') || 'index.html');
  const file = name.startsWith('..') ? null : await readFile(join(WEB, name)).catch(() => null);
  if (file === null) {
    answer.writeHead(404).end();
    return;
  }
  answer.writeHead(200, {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
  });
  answer.end(file);
}
