/**
 * `set` and `create` write one znode, and create missing parents. Each reports on standard error
 * what it did, and writes the new Stat.
 */

import {
  type Acl,
  type CreateMode,
  createRecursive,
  NoNodeError,
  type Stat,
  upsert,
} from '@rookery/client';
import { errorMessage, validatePath } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import type { Call } from '../../command/command.js';
import { NoAnswerError } from '../../command/failures.js';
import { countText, parseAcl, statJson } from '../../command/values.js';
import { INPUT_BYTES_MAX, readFileWithin } from '../../machine/bounded-input.js';

export async function set(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const path = call.path(0);
  const data = await dataOf(call, call.arg(1) ?? '');
  const size = countText(data.length, 'byte');
  const client = await call.client();
  const version = call.number('version');
  const versioned = { signal, ...(version === undefined ? {} : { version }) };
  const makes = call.flag('create');
  if (makes && version !== undefined) {
    throw new OperatorError('A znode that may be missing has no --version: leave out --create.');
  }
  if (call.isDryRun) {
    const found = await client.exists(path, { signal });
    if (found === null && !makes) throw new NoNodeError(path);
    const had =
      found === null ? 'which does not exist' : `which has ${countText(found.dataLength, 'byte')}`;
    await output.talk(`Would write ${size} to ${path}, ${had}.`);
    return;
  }
  if (!makes) {
    const stat = await client.setData(path, data, versioned);
    await told(call, { path, stat, what: `Wrote ${size} to` });
    return;
  }
  const { stat } = await upsert(client, path, data, { parents: 'persistent', signal });
  await told(call, { path, stat, what: `Wrote ${size} to` });
}

export async function create(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const mode = modeOf(call);
  const path = pathToCreate(call, mode);
  const text = call.arg(1);
  const data = text === undefined ? null : await dataOf(call, text);
  const acl = aclOf(call.text('acl'));
  const ttlMs = call.number('ttl');
  const client = await call.client();
  if (call.isDryRun) {
    const size = data === null ? 'without data' : `with ${countText(data.length, 'byte')}`;
    await output.talk(`Would create ${path} (${mode}) ${size}.`);
    return;
  }
  const options = {
    mode,
    signal,
    ...(acl === undefined ? {} : { acl }),
    ...(ttlMs === undefined ? {} : { ttlMs }),
  };
  const made = call.flag('parents')
    ? await createRecursive(client, path, data, options)
    : await client.create(path, data, options).catch((error: unknown) => {
        if (!(error instanceof NoNodeError)) throw error;
        throw new NoAnswerError(missingFor(path), { cause: error });
      });
  await told(call, { path: made.path, stat: made.stat, what: 'Created' });
  if (!call.flag('ephemeral') || call.around.isShell) return;
  await output.talk('It is ephemeral and lives as long as this command: Ctrl-C ends both.');
  const session = client.session?.signal;
  await ended(session === undefined ? [signal] : [signal, session]);
  if (!signal.aborted) throw session?.reason;
}

/** The error of a server names the znode to be created, which is not the one that is missing. */
function missingFor(path: string): string {
  return `The parent of ${path} does not exist; --parents creates it, too.`;
}

/** The path is included because the server chooses the name of a sequential znode. */
async function told(
  call: Call,
  { path, stat, what }: { readonly path: string; readonly stat: Stat; readonly what: string },
): Promise<void> {
  await call.output.value({ path, stat: statJson(stat) }, () => path);
  if (call.format === 'table') await call.output.talk(`${what} it: version ${stat.version}.`);
}

function ended(signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  return new Promise((resolve) => {
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });
}

function modeOf(call: Call): CreateMode {
  const [ephemeral, sequential] = [call.flag('ephemeral'), call.flag('sequential')];
  const container = call.flag('container');
  const ttl = call.number('ttl') !== undefined;
  if (Number(ephemeral) + Number(container) + Number(ttl) > 1 || (container && sequential)) {
    throw new OperatorError(
      'A znode is ephemeral, a container, or has a --ttl; a container is never sequential.',
    );
  }
  if (container) return 'container';
  if (ephemeral) return sequential ? 'ephemeralSequential' : 'ephemeral';
  if (ttl) return sequential ? 'persistentSequentialWithTtl' : 'persistentWithTtl';
  return sequential ? 'persistentSequential' : 'persistent';
}

/** The name of a sequential znode may be only the number: `create -s /queue/`. */
function pathToCreate(call: Call, mode: CreateMode): string {
  const path = call.path(0);
  const sequential = mode.includes('equential');
  const given = call.arg(0) ?? '';
  const whole = sequential && given.endsWith('/') && path !== '/' ? `${path}/` : path;
  const problem = validatePath(whole, { sequential });
  if (problem !== null) throw new OperatorError(`${whole} cannot be created: ${problem}.`);
  return whole;
}

/** Throws OperatorError. */
export function aclOf(text: string | undefined): readonly Acl[] | undefined {
  if (text === undefined) return undefined;
  const acl = parseAcl(text);
  if (acl === null) {
    throw new OperatorError(
      `An ACL is scheme:id:perms, separated by commas, with perms of c, d, r, w, a; not ${text}.`,
    );
  }
  return acl;
}

/**
 * The data argument of a command: text as it is, `@file`, or `-` for standard input. `@@` stands
 * for text that begins with `@`.
 *
 * Rejects with OperatorError for a file that cannot be read, or is larger than any znode.
 */
async function dataOf(call: Call, text: string): Promise<Uint8Array> {
  if (text === '-') return await call.around.readInput();
  if (text.startsWith('@@')) return Buffer.from(text.slice(1));
  if (!text.startsWith('@')) return Buffer.from(text);
  try {
    return await readFileWithin(text.slice(1), {
      bytesMax: INPUT_BYTES_MAX,
      signal: call.around.signal,
    });
  } catch (cause) {
    if (cause instanceof OperatorError || call.around.signal.aborted) throw cause;
    const reason = errorMessage(cause);
    throw new OperatorError(`The data cannot be read: ${reason}.`, { cause });
  }
}
