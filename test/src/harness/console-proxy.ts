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
import { onTestFinished } from 'vitest';
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

/** For the running test alone. */
export async function useConsoleProxy(adminPort: number, prefix = ''): Promise<ConsoleProxy> {
  const asked: ProxiedRequest[] = [];
  const server = createServer((incoming, answer) => {
    const url = incoming.url ?? '';
    if (url.startsWith(`${prefix}/api/`)) {
      asked.push({ method: incoming.method ?? '', url: url.slice(prefix.length) });
      forward(incoming, answer, { port: adminPort, path: url.slice(prefix.length) });
    } else if (url.startsWith(`${prefix}/console/`)) {
      sendFile(answer, url.slice(`${prefix}/console/`.length)).catch(() => answer.destroy());
    } else {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}${prefix}/console/`, asked };
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
