/**
 * `edit` opens the data of a znode in the user's editor and writes it back only if the znode has
 * not changed since.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadVersionError } from '@rookery/client';
import { errorMessage } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { type Call, EXIT } from '../../command/command.js';
import { NoAnswerError } from '../../command/failures.js';
import { countText } from '../../command/values.js';
import { INPUT_BYTES_MAX, readFileWithin } from '../../machine/bounded-input.js';
import { environmentForChild } from '../../machine/lookup-limit.js';

export async function edit(call: Call): Promise<number> {
  const { output, signal, around } = call;
  const path = call.path(0);
  const editor = around.environment['VISUAL'] ?? around.environment['EDITOR'] ?? '';
  if (editor === '') throw new OperatorError('No editor is set: set EDITOR, such as EDITOR=vi.');
  const client = await call.client();
  const { data, stat } = await client.getData(path, { signal });
  const before = data ?? Buffer.alloc(0);
  // Only this user may read it: mkdtemp creates it with mode 0700.
  const folder = await mkdtemp(join(tmpdir(), 'rookery-edit-'));
  const file = join(folder, 'data');
  let keeps = false;
  try {
    await writeCopy(file, before);
    await around.handOver(() => runEditor(editor, file, around.environment));
    const after = await readFileWithin(file, { bytesMax: INPUT_BYTES_MAX, signal });
    if (after.equals(before)) {
      await output.talk(`${path} is as it was; nothing is written.`);
      return EXIT.done;
    }
    keeps = true;
    const written = await client.setData(path, after, { version: stat.version, signal });
    keeps = false;
    const size = countText(after.length, 'byte');
    await output.talk(`Wrote ${size} to ${path}: version ${written.version}.`);
    return EXIT.done;
  } catch (error) {
    if (!keeps) throw error;
    await output.talk(`What you wrote is in ${file}.`);
    if (!(error instanceof BadVersionError)) throw error;
    throw new NoAnswerError(`${path} was changed by another client meanwhile; it is not written.`);
  } finally {
    if (!keeps) await rm(folder, { recursive: true, force: true });
  }
}

async function writeCopy(file: string, data: Uint8Array): Promise<void> {
  try {
    await writeFile(file, data, { mode: 0o600 });
  } catch (cause) {
    const reason = errorMessage(cause);
    throw new OperatorError(`${file} cannot be written: ${reason}`, { cause });
  }
}

/** The variable may contain options, so a shell parses it. */
function runEditor(editor: string, file: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const env = environmentForChild(environment);
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit', env });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new OperatorError(`The editor ended with ${code}; nothing is written.`));
    });
  });
}
