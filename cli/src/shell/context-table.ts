/** The commands that keep connect strings and credentials under a name: a part of the table. */
import type { ArgumentSpec, CommandSpec } from '../command/command.js';
import { TLS_OPTIONS } from './tls-options.js';

const NAME: ArgumentSpec = { usage: '<name>', kind: 'context' };

export const CONTEXTS: readonly CommandSpec[] = [
  {
    name: 'context ls',
    summary: 'List the saved contexts; * marks the selected one.',
    args: [],
    connects: false,
    run: async (call) => (await import('./commands/saved-contexts.js')).listContexts(call),
  },
  {
    name: 'context save',
    summary: 'Save a connect string, with its credentials and the files of its certificates.',
    args: [NAME],
    options: [
      { flags: '--connect <hosts>', description: 'host:port,host:port/chroot' },
      { flags: '--auth-file <file>', description: 'credentials (or ROOKERY_AUTH); - for stdin' },
      ...TLS_OPTIONS,
    ],
    connects: false,
    run: async (call) => (await import('./commands/saved-contexts.js')).saveContext(call),
  },
  {
    name: 'context select',
    summary: 'Select the context that commands use by default.',
    args: [NAME],
    connects: false,
    run: async (call) => (await import('./commands/saved-contexts.js')).selectContext(call),
  },
  {
    name: 'context rm',
    summary: 'Remove a context, with its credentials.',
    args: [NAME],
    connects: false,
    run: async (call) => (await import('./commands/saved-contexts.js')).removeContext(call),
  },
];
