/**
 * The table of commands: what `rookery <command>`, `rookery sh`, the completion and the documents
 * know about each. The code of a command is loaded when it runs, so that a member loads none of it.
 */
import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command/command.js';
import { CONTEXTS } from './context-table.js';

const INT_MAX = 2 ** 31 - 1;
const RECURSIVE: OptionSpec = { flags: '-r, --recursive', description: 'include everything below' };
const YES: OptionSpec = { flags: '-y, --yes', description: 'do not ask' };
const TTL: OptionSpec = {
  flags: '--ttl <ms>',
  description: 'a TTL znode: deleted once childless and unchanged for this long',
  range: [1, 2 ** 40 - 1],
};
const VERSION: OptionSpec = {
  flags: '--version <n>',
  description: 'only if its data have this version',
  range: [-1, INT_MAX],
};
const DEPTH: OptionSpec = {
  flags: '--depth <n>',
  description: 'how many levels below the path',
  range: [0, INT_MAX],
};
const TO: OptionSpec = {
  flags: '--to <hosts>',
  description: 'the second path is at this other ensemble',
};

function path(usage: string): ArgumentSpec {
  return { usage, kind: 'path' };
}
function text(usage: string): ArgumentSpec {
  return { usage, kind: 'text' };
}

const READING: readonly CommandSpec[] = [
  {
    name: 'ls',
    summary: 'List the children of a znode by name.',
    args: [path('[path]')],
    options: [{ flags: '-l, --long', description: 'show kind, size, version, children and time' }],
    run: async (call) => (await import('./commands/listing.js')).ls(call),
  },
  {
    name: 'tree',
    summary: 'Draw a subtree.',
    args: [path('[path]')],
    options: [
      DEPTH,
      {
        flags: '--limit <n>',
        description: 'stop after this many znodes (default: 10000)',
        range: [1, INT_MAX],
      },
    ],
    run: async (call) => (await import('./commands/listing.js')).tree(call),
  },
  {
    name: 'get',
    summary: 'Print the data of a znode byte for byte; -o table or json adds its Stat.',
    args: [path('<path>')],
    format: 'raw',
    run: async (call) => (await import('./commands/reading.js')).get(call),
  },
  {
    name: 'stat',
    summary: 'Show the Stat of a znode.',
    args: [path('<path>')],
    run: async (call) => (await import('./commands/reading.js')).stat(call),
  },
  {
    name: 'exists',
    summary: 'Print whether a znode exists; exit code 0 if it does, 3 if not.',
    args: [path('<path>')],
    run: async (call) => (await import('./commands/reading.js')).exists(call),
  },
  {
    name: 'find',
    summary: 'Find the paths below a path that meet all conditions.',
    args: [path('[path]')],
    options: [
      {
        flags: '--name <glob>',
        description: 'the name of the znode, with the wildcards * and ?',
      },
      { flags: '--regex <pattern>', description: 'a regular expression that matches in the path' },
      {
        flags: '--kind <kind>',
        description: 'persistent or ephemeral',
      },
      { flags: '--session <hex>', description: 'ephemerals of this session' },
      {
        flags: '--min-bytes <n>',
        description: 'at least this much data',
        range: [0, INT_MAX],
      },
      {
        flags: '--children-over <n>',
        description: 'more children than this',
        range: [0, INT_MAX],
      },
      {
        flags: '--unchanged-s <seconds>',
        description: 'data unchanged for this long',
        range: [0, INT_MAX],
      },
      DEPTH,
    ],
    run: async (call) => (await import('./commands/searching.js')).find(call),
  },
  {
    name: 'grep',
    summary: 'Search the data below a path for lines that match a regular expression.',
    args: [text('<pattern>'), path('[path]')],
    options: [
      { flags: '-i, --ignore-case', description: 'ignore case' },
      { flags: '-F, --fixed', description: 'the pattern is plain text' },
      { flags: '-l, --paths', description: 'only the paths' },
    ],
    run: async (call) => (await import('./commands/searching.js')).grep(call),
  },
  {
    name: 'du',
    summary: 'Count the znodes and bytes of data below each child of a path.',
    args: [path('[path]')],
    options: [
      {
        flags: '--depth <n>',
        description: 'levels of subtrees to show (default: 1)',
        range: [0, INT_MAX],
      },
    ],
    run: async (call) => (await import('./commands/searching.js')).du(call),
  },
  {
    name: 'diff',
    summary: 'Compare the data and kinds of two subtrees; exit code 3 if they differ.',
    args: [path('<a>'), path('<b>')],
    options: [TO],
    run: async (call) => (await import('./commands/comparing.js')).diff(call),
  },
  {
    name: 'locks',
    summary: 'List holders, leaders and waiters below a path; exit code 3 if there are none.',
    args: [path('[path]')],
    run: async (call) => (await import('./commands/locks.js')).locks(call),
  },
];

const WRITING: readonly CommandSpec[] = [
  {
    name: 'set',
    summary: 'Replace the data of a znode; data: text, @file, or - for standard input.',
    args: [path('<path>'), text('<data>')],
    options: [
      VERSION,
      { flags: '-p, --create', description: 'create it, and its parents, if it is missing' },
    ],
    writes: true,
    run: async (call) => (await import('./commands/writing.js')).set(call),
  },
  {
    name: 'create',
    summary: 'Create a znode; data: text, @file, or - for standard input.',
    args: [path('<path>'), text('[data]')],
    options: [
      { flags: '-p, --parents', description: 'create missing parents, too' },
      { flags: '-e, --ephemeral', description: 'delete it with the session of this command' },
      { flags: '-s, --sequential', description: 'append a number to the name' },
      { flags: '-c, --container', description: 'delete it some time after its last child' },
      TTL,
      { flags: '--acl <acl>', description: 'scheme:id:perms,... (default: world:anyone:cdrwa)' },
    ],
    writes: true,
    run: async (call) => (await import('./commands/writing.js')).create(call),
  },
  {
    name: 'rm',
    summary: 'Delete a znode.',
    args: [path('<path>')],
    options: [RECURSIVE, VERSION, YES],
    writes: true,
    run: async (call) => (await import('./commands/removing.js')).rm(call),
  },
  {
    name: 'cp',
    summary: 'Copy a znode; -r copies a subtree. Ephemeral znodes are left out.',
    args: [path('<source>'), path('<target>')],
    options: [
      RECURSIVE,
      {
        flags: '--overwrite',
        description:
          'replace the data, with --acls also the ACLs, of znodes that are there already',
      },
      { flags: '--acls', description: 'copy their ACLs (default: open)' },
      TO,
    ],
    writes: true,
    run: async (call) => (await import('./commands/copying.js')).cp(call),
  },
  {
    name: 'mv',
    summary: 'Move a subtree in one transaction.',
    args: [path('<source>'), path('<target>')],
    writes: true,
    run: async (call) => (await import('./commands/copying.js')).mv(call),
  },
];

const LIMIT = [0, Number.MAX_SAFE_INTEGER] as const;

const MORE: readonly CommandSpec[] = [
  {
    name: 'watch',
    summary: 'Print the changes of a znode until Ctrl-C.',
    args: [path('<path>')],
    options: [
      { flags: '-r, --recursive', description: 'include everything below it' },
      { flags: '--count <n>', description: 'stop after this many events', range: [1, INT_MAX] },
    ],
    run: async (call) => (await import('./commands/watching.js')).watch(call),
  },
  {
    name: 'multi',
    summary: 'Run several operations, all or none; one per argument or line of input.',
    args: [text('[operations...]')],
    writes: true,
    run: async (call) => (await import('./commands/transactions.js')).multi(call),
  },
  {
    name: 'edit',
    summary: 'Edit the data of a znode in $EDITOR; saved only if unchanged meanwhile.',
    args: [path('<path>')],
    isPlain: true,
    run: async (call) => (await import('./commands/editing.js')).edit(call),
  },
  {
    name: 'acl get',
    summary: 'Show the ACL of a znode.',
    args: [path('<path>')],
    run: async (call) => (await import('./commands/permissions.js')).getAcl(call),
  },
  {
    name: 'acl set',
    summary: 'Replace the ACL of a znode: scheme:id:perms,...',
    args: [path('<path>'), text('<acl>')],
    options: [
      RECURSIVE,
      {
        flags: '--version <n>',
        description: 'only if the ACL has this version',
        range: [-1, INT_MAX],
      },
    ],
    writes: true,
    run: async (call) => (await import('./commands/permissions.js')).setAcl(call),
  },
  {
    name: 'acl audit',
    summary: 'List the znodes below a path that any client may change; exit code 3 if any.',
    args: [path('[path]')],
    options: [{ flags: '--sha1', description: 'list ACLs with SHA-1 digests instead' }],
    run: async (call) => (await import('./commands/acl-audit.js')).auditAcls(call),
  },
  {
    name: 'quota ls',
    summary: 'List all quotas and how much of each is used.',
    args: [],
    run: async (call) => (await import('./commands/quotas.js')).listQuotas(call),
  },
  {
    name: 'quota get',
    summary: 'Show the quota of a subtree.',
    args: [path('<path>')],
    run: async (call) => (await import('./commands/quotas.js')).getQuota(call),
  },
  {
    name: 'quota set',
    summary: 'Set or change the quota of a subtree.',
    args: [path('<path>')],
    options: [
      { flags: '--nodes <n>', description: 'znodes after which servers warn', range: LIMIT },
      { flags: '--bytes <n>', description: 'bytes after which servers warn', range: LIMIT },
      { flags: '--hard-nodes <n>', description: 'znodes that servers refuse', range: LIMIT },
      { flags: '--hard-bytes <n>', description: 'bytes that servers refuse', range: LIMIT },
    ],
    writes: true,
    run: async (call) => (await import('./commands/quotas.js')).setQuota(call),
  },
  {
    name: 'quota rm',
    summary: 'Remove the quota of a subtree.',
    args: [path('<path>')],
    writes: true,
    run: async (call) => (await import('./commands/quotas.js')).removeQuota(call),
  },
];

const SERVERS: readonly OptionSpec[] = [
  {
    flags: '--connect <hosts>',
    description: 'host:port,host:port (or ROOKERY_CONNECT); a chroot is ignored',
  },
  { flags: '--context <name>', description: 'a saved context (or ROOKERY_CONTEXT)' },
  { flags: '--config <file>', description: 'or the config file of the members' },
];
const ADMIN_URL: OptionSpec = {
  flags: '--url <url>',
  description: 'the admin port of a member: http://host:port (user: ROOKERY_ADMIN_USER)',
};

const LIVE: readonly CommandSpec[] = [
  {
    name: 'sessions ls',
    summary: 'List the sessions with their clients and what they own.',
    args: [],
    options: [...SERVERS, ADMIN_URL],
    connects: false,
    isDefault: true,
    run: async (call) => (await import('./commands/sessions.js')).listSessions(call),
  },
  {
    name: 'sessions get',
    summary: 'Show one session with the paths that it owns and watches.',
    args: [text('<session>')],
    options: [...SERVERS, ADMIN_URL],
    connects: false,
    run: async (call) => (await import('./commands/sessions.js')).getSession(call),
  },
  {
    name: 'sessions end',
    summary: 'End a session as if it had expired; needs the admin port of a member.',
    args: [text('<session>')],
    options: [ADMIN_URL, YES],
    connects: false,
    writes: true,
    run: async (call) => (await import('./commands/sessions.js')).endSession(call),
  },
  {
    name: 'check',
    summary:
      'What is wrong with the members of an ensemble, and what to do; nothing if all is well.',
    args: [],
    options: SERVERS,
    connects: false,
    run: async (call) => (await import('./commands/checking.js')).check(call),
  },
  {
    name: 'top',
    summary: 'Watch an ensemble live: its members, its hottest paths and clients.',
    args: [],
    options: [
      ...SERVERS,
      ADMIN_URL,
      { flags: '--page <page>', description: 'members, or with --url paths or clients' },
      {
        flags: '--interval <seconds>',
        description: 'seconds between updates (default: 2)',
        range: [1, 3600],
      },
      { flags: '--sort <column>', description: 'the column to sort by, such as lag' },
      { flags: '--once', description: 'ask twice, an interval apart, and print one table' },
    ],
    connects: false,
    run: async (call) => (await import('../top/top-command.js')).top(call),
  },
];

export const COMMANDS: readonly CommandSpec[] = [
  ...[...READING, ...WRITING, ...MORE, ...CONTEXTS, ...LIVE],
];
