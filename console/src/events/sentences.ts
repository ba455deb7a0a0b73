/** What a person calls the events of a member, by their facts. Pure. */
type Facts = Readonly<Record<string, unknown>>;

/** The member is the subject of each. */
export const SENTENCES: Readonly<Record<string, (facts: Facts) => string>> = {
  'role.looking': ({ reason }) => `looks for a leader${because(reason)}`,
  'role.leading': ({ reason }) =>
    `has been elected and brings the others up to date${because(reason)}`,
  'role.following': ({ leader }) => `has found its leader, member ${text(leader)}`,
  'role.serving': ({ role, leader, epoch }) =>
    role === 'leading'
      ? `leads and serves, in epoch ${text(epoch)}`
      : `serves as a follower of member ${text(leader)}, in epoch ${text(epoch)}`,
  'role.ended': ({ was, clients }) => {
    const ended = clients === 0 ? '' : `, which ended ${plural(clients, 'connection')}`;
    return `is no longer ${was === 'leading' ? 'the leader' : 'a follower'}${ended}`;
  },
  'role.read_only': () => 'serves reads without a quorum',
  'role.read_only_ended': () => 'no longer serves reads without a quorum',
  'election.decided': ({ leader }) => `knows that member ${text(leader)} is elected`,
  'election.waiting': ({ reason }) => `waits for a majority${because(reason)}`,
  'log.slow_sync': ({ ms }) => `needed ${text(ms)} ms to sync a write to its disk`,
  'sessions.expired': ({ count, sessions }) => {
    const asked = numberEndedByOperator(sessions);
    if (asked === 0) return `expired ${plural(count, 'session')}`;
    const some = asked === count ? '' : ', some of them';
    return `ended ${plural(count, 'session')}${some} for an operator`;
  },
  'peer.connected': ({ peer }) => `is connected to member ${text(peer)}`,
  'peer.disconnected': ({ peer, reason }) =>
    `lost its connection to member ${text(peer)}${because(reason)}`,
  'peer.unreachable': ({ peer }) => `cannot reach member ${text(peer)}`,
  'sync.diff': ({ learner, peer }) => `sends member ${text(learner ?? peer)} what it lacks`,
  'sync.snap': ({ learner, peer, reason }) =>
    `sends member ${text(learner ?? peer)} a snapshot${because(reason)}`,
  'snapshot.installed': () => 'has installed a snapshot from the leader',
  'disk.full': () => 'has a full disk',
  'disk.stepped_out': ({ leader }) =>
    `serves no clients while its disk is full; leader ${text(leader)} goes on without it`,
  'disk.hands_over': () => 'no longer leads, because its disk is full and others have room',
  'disk.spared': ({ members }) => {
    const which = Array.isArray(members) ? members.join(', ') : UNTOLD;
    return `goes on without members with a full disk: ${which}`;
  },
  'disk.spared_none': () => 'needs, or has again, every member that it went on without',
  'disk.member_has_room': ({ member }) =>
    `knows that the disk of member ${text(member)} has room again`,
  'disk.nearly_full': () => 'has a disk that is nearly full',
  'disk.has_room': () => 'has room on its disk again',
  'disk.damaged': ({ reason }) =>
    `has found damage on its disk and repairs it from memory${because(reason)}`,
  'disk.repair_failed': ({ reason }) => `begins a repair of its disk again${because(reason)}`,
  'disk.checkpoint_given_up': ({ reason }) =>
    `has given up a checkpoint because its disk is full${because(reason)}`,
  'disk.checkpoint_failed': ({ reason }) => `begins a checkpoint again${because(reason)}`,
  'disk.checkpoint_caught_up': () => 'has written the checkpoint that met a full disk',
  'disk.repaired': () => 'has repaired the damage of its disk',
  'clock.jumped': ({ byMs }) =>
    `held its answers until its role was confirmed: its clocks moved apart by ${text(byMs)} ms`,
  'clock.transactions_stepped': ({ from, to }) =>
    `gives new writes dates that have jumped from ${text(from)} to ${text(to)}`,
  'memory.budget': () => 'has divided its memory among its parts',
  'files.budget': () => 'has divided its open files among data, members and clients',
  'server.recovered': () => 'has read its data from the disk',
  'level.raised': ({ ensembleLevel }) =>
    `uses what level ${text(ensembleLevel)} of the ensemble allows`,
  'peer.refused': ({ peer, reason }) => `refuses member ${text(peer)}${because(reason)}`,
  'peer.refused_by': ({ peer, reason }) => `is refused by member ${text(peer)}${because(reason)}`,
  'peer.implausible': ({ peer }) =>
    `received what cannot be true from member ${text(peer)}, and dropped the link`,
  'directory.went_back': () => 'runs on an old copy of its data, and waits for a snapshot',
  'peer.went_back': ({ peer }) => `sees that member ${text(peer)} runs on an old copy of its data`,
  'history.discarded': ({ file }) =>
    `gave up transactions that the ensemble did not commit, which are in ${text(file)}`,
  'tree.discarded': ({ file }) => `gave up its tree, which is in ${text(file)}`,
  'digest.mismatch': ({ zxid }) => `knows of members with different states at ${text(zxid)}`,
  'server.founded_anew': () => 'starts over after a first start that was interrupted',
  'server.damaged': ({ damage }) => `does not vote and waits for a snapshot${because(damage)}`,
  'server.list_changed': () => 'waits for a majority with the new list of members',
  'list.settled': () => 'uses the new list of members alone',
  'server.stopping': ({ reason }) => `is being stopped${because(reason)}`,
  'log.unreadable': ({ reason }) => `cannot read old segments of its log${because(reason)}`,
  'clock.contradicted': ({ own, majority }) =>
    `has a clock that shows ${text(own)}, and most members have ${text(majority)}`,
  'clock.no_majority': () => 'finds no majority of members whose clocks agree',
  'disk.member_full': ({ peer }) => `knows that the disk of member ${text(peer)} is full`,
  'tree.has_room': () => 'has room for data in its tree again',
  'files.not_reloaded': ({ files, problem }) =>
    `goes on with what it has read of ${text(files)} before${because(problem)}`,
  'files.reloaded': ({ files }) => `uses the new content of ${text(files)}`,
  'backup.saved': ({ path }) => `saved a backup, ${text(path)}`,
  'backup.failed': ({ reason }) => `could not take a backup${because(reason)}`,
  'backup.prune_failed': ({ path, reason }) =>
    `could not remove old backups such as ${text(path)}${because(reason)}`,
  'backup.passed_over': ({ path }) =>
    `counts ${text(path)} as no backup, because it is a link or a directory`,
  'client.refused': ({ remote, reason }) =>
    `refused a client from ${text(remote)}${because(reason)}`,
  'tls.refused': ({ remote, reason }) =>
    `refused a TLS handshake from ${text(remote)}${because(reason)}`,
  'metrics.listening': ({ port }) => `listens for monitoring at port ${text(port)}`,
  'client.listening': ({ port }) => `listens for clients at port ${text(port)}`,
  'peer.listening': ({ port }) => `listens for members at port ${text(port)}`,
  'admin.listening': ({ port }) => `listens for operators at port ${text(port)}`,
  'admin.write': ({ user, operation, path }) => {
    const by = typeof user === 'string' ? ` by ${user}` : '';
    return `took a write at its admin port${by}: ${text(operation)} ${text(path)}`;
  },
  'admin.session_ended': ({ session, user }) => `ended session ${text(session)} for ${text(user)}`,
};

function because(reason: unknown): string {
  return typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
}

/** How many of the sessions that the line names, the first ten, were ended by an operator. */
function numberEndedByOperator(sessions: unknown): number {
  if (!Array.isArray(sessions)) return 0;
  return sessions.filter((one) => one?.endedByOperator === true).length;
}

/** Stands for a fact that is missing, as in another release, and leads back to the event's name. */
export const UNTOLD = '\u0000';

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : UNTOLD;
}

function plural(count: unknown, what: string): string {
  return count === 1 ? `one ${what}` : `${text(count)} ${what}s`;
}
