/**
 * `rookery export zookeeper` writes the state of a stopped member as a data directory on which a
 * ZooKeeper can start.
 *
 * Sessions and their ephemerals are included; ZooKeeper ends them when their timeouts have passed.
 * Exit code 0: written; 2: a mistake of the caller.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import {
  makeDirectory,
  OperatorError,
  openDirectoryProblem,
  writeSnapshot,
  zxidName,
} from '@rookery/server';
import { countText } from '../command/values.js';
import { type MemberOfFile, readMember } from './stopped-member.js';

/** Resolves with the exit code. */
export async function runExport(from: MemberOfFile, into: string): Promise<number> {
  const folder = join(into, 'version-2');
  if ((await namesIn(folder)).length > 0) {
    throw new OperatorError(`${folder} is not empty: name a new directory for the export`);
  }
  await makeTarget(into);
  const member = await readMember(from);
  const file = join(folder, `snapshot.${zxidName(member)}`);
  const { path, znodes } = await writeSnapshot(member, file, { withChecksum: false });
  const facts = `${countText(znodes, 'znode')} at zxid 0x${zxidName(member)}`;
  process.stdout.write(`written: ${path}, ${facts}\n`);
  const problem = await openDirectoryProblem(path);
  if (problem !== null) process.stderr.write(`rookery: ${problem}\n`);
  return 0;
}

async function makeTarget(into: string): Promise<void> {
  try {
    await makeDirectory(into);
  } catch (error) {
    const reason = errorMessage(error);
    throw new OperatorError(`${into} cannot be created: ${reason}`, { cause: error });
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    const reason = errorMessage(error);
    throw new OperatorError(`${folder} cannot be read: ${reason}`, { cause: error });
  }
}
