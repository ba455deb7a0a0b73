/**
 * `envi`: the environment of the process. kazoo's `server_version()` parses `zookeeper.version`
 * here.
 */
import os from 'node:os';
import v8 from 'node:v8';
import type { MemberView } from '../member-view.js';

export function environmentReply(view: MemberView): string {
  const facts = [['zookeeper.version', view.version], ...view.environment()];
  return `Environment:\n${facts.map(([name, value]) => `${name}=${value}\n`).join('')}`;
}

/**
 * The facts about this process; names that scripts know are used where Node has a corresponding
 * fact.
 */
export function readEnvironment(): readonly (readonly [name: string, value: string])[] {
  const heap = v8.getHeapStatistics();
  const user = userFacts();
  return [
    ['host.name', os.hostname()],
    ['node.version', process.version],
    ['java.version', '<NA>'],
    ['os.name', os.type()],
    ['os.arch', os.arch()],
    ['os.version', os.release()],
    ['user.name', user.name],
    ['user.home', user.home],
    ['user.dir', process.cwd()],
    ['os.memory.free', megabytes(heap.heap_size_limit - heap.used_heap_size)],
    ['os.memory.max', megabytes(heap.heap_size_limit)],
    ['os.memory.total', megabytes(heap.total_heap_size)],
  ];
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / (1 << 20))}MB`;
}

/** A container may run under a user id that has no entry. */
function userFacts(): { readonly name: string; readonly home: string } {
  try {
    const { username, homedir } = os.userInfo();
    return { name: username, home: homedir };
  } catch {
    return { name: '<NA>', home: '<NA>' };
  }
}
