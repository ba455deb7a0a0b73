/**
 * What becomes of each key of zoo.cfg: it is taken over into a setting, it has no effect here, or
 * it is refused because leaving it out would change what the operator relies on.
 *
 * Keys are those of ZooKeeper 3.4 to 3.9, in lower case, without the prefix `zookeeper.` that a
 * system property has. `server.N` and `dynamicConfigFile` are read by `convert.ts`.
 */
import { isEveryAddress } from './servers.js';

/** Settings for the config file, and for each entry of `servers`. */
export interface Taken {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly eachServer?: Readonly<Record<string, unknown>>;
  /** What the operator must know about it. */
  readonly note?: string;
}

export type Outcome =
  | ({ readonly kind: 'taken' } & Taken)
  | { readonly kind: 'noEffect'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

type Rule = (value: string) => Outcome;

/** Null for a key that no release of ZooKeeper is known to have. */
export function outcomeOf(key: string, value: string): Outcome | null {
  const name = key.toLowerCase().replace(/^zookeeper\./, '');
  const rule = RULES.get(name) ?? PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
  return rule?.(value) ?? null;
}

const taken = (settings: Taken['settings'], note?: string): Outcome => ({
  kind: 'taken',
  ...(settings === undefined ? {} : { settings }),
  ...(note === undefined ? {} : { note }),
});
const refused = (why: string): Outcome => ({ kind: 'refused', why });
const noEffect =
  (why: string): Rule =>
  () => ({ kind: 'noEffect', why });
const always =
  (why: string): Rule =>
  () =>
    refused(why);

/**
 * Parses numbers as Java's Integer.decode does, as far as files use it: decimal, or hex with 0x.
 */
function numberOf(value: string): number | null {
  return /^-?(\d+|0x[0-9a-f]+)$/i.test(value) ? Number(value) : null;
}

function number(setting: string, note?: string): Rule {
  return (value) => {
    const number = numberOf(value);
    if (number === null) return refused(`${value} is not a whole number`);
    return taken({ [setting]: number }, note);
  };
}

/** ZooKeeper's -1 means its default, which is the same as ours. */
function sessionTimeout(setting: string): Rule {
  return (value) =>
    value === '-1' ? { kind: 'noEffect', why: 'it is the default' } : number(setting)(value);
}

function isYes(value: string): boolean {
  return ['yes', 'true', 'on'].includes(value.toLowerCase());
}

function flag(setting: string): Rule {
  return (value) => taken({ [setting]: isYes(value) });
}

/** For a key that is harmful only when it is switched on. */
function refusedIfOn(why: string): Rule {
  return (value) => (isYes(value) ? refused(why) : { kind: 'noEffect', why: 'it is switched off' });
}

function text(setting: string): Rule {
  return (value) => taken({ [setting]: value });
}

function ofEachServer(setting: string): Rule {
  return (value) => {
    const number = numberOf(value);
    if (number === null) return refused(`${value} is not a whole number`);
    return number <= 0
      ? { kind: 'noEffect', why: 'it is switched off' }
      : { kind: 'taken', eachServer: { [setting]: number } };
  };
}

const OWN_DISK = 'Rookery decides by itself when it writes checkpoints and removes old files';
const OWN_PACE = 'Rookery bounds this by itself: see docs/limits.md';
const NO_TLS =
  'Rookery has no TLS: keep its ports on a trusted network, or put a proxy before them';
const NO_SASL =
  'Rookery has no SASL but DIGEST-MD5 for clients: see the settings sasl and peerAuth';

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['ticktime', number('tickTimeMs')],
  ['initlimit', number('initLimit')],
  ['synclimit', number('syncLimit')],
  ['connecttolearnermasterlimit', noEffect('initLimit bounds how long a member joins')],
  ['datadir', text('dataDir')],
  ['datalogdir', text('dataLogDir')],
  ['clientport', ofEachServer('clientPort')],
  ['clientportaddress', (value) => clientPortAddress(value)],
  ['clientportlistenbacklog', noEffect('the backlog is that of Node.js')],
  ['secureclientport', always(NO_TLS)],
  ['secureclientportaddress', always(NO_TLS)],
  ['client.portunification', refusedIfOn(NO_TLS)],
  ['minsessiontimeout', sessionTimeout('minSessionTimeoutMs')],
  ['maxsessiontimeout', sessionTimeout('maxSessionTimeoutMs')],
  ['maxclientcnxns', number('maxClientCnxns')],
  ['maxcnxns', noEffect('the limit of open files bounds connections: see docs/limits.md')],
  ['snapcount', noEffect(OWN_DISK)],
  ['snapsizelimitinkb', noEffect(OWN_DISK)],
  ['txnlogsizelimitinkb', noEffect(OWN_DISK)],
  ['preallocsize', noEffect(OWN_DISK)],
  ['commitlogcount', noEffect(OWN_DISK)],
  ['serializelastprocessedzxid.enabled', noEffect(OWN_DISK)],
  ['version', noEffect('the list of servers has no version')],
  ['standaloneenabled', noEffect('one server in the file makes a standalone member')],
  ['reconfigenabled', flag('reconfigEnabled')],
  ['electionalg', noEffect('there is one way to elect a leader')],
  ['cnxtimeout', noEffect('peerTimeoutMs bounds how long a member waits for another')],
  ['leaderserves', (value) => leaderServes(value)],
  ['quorumlistenonallips', (value) => quorumListenOnAll(value)],
  ['peertype', (value) => peerType(value)],
  ['observermasterport', always('Rookery has no observers')],
  ['observer.reconnectdelayms', noEffect('Rookery has no observers')],
  ['observer.election.delayms', noEffect('Rookery has no observers')],
  ['syncenabled', noEffect('Rookery has no observers')],
  ['multiaddress.enabled', refusedIfOn('a member has one address')],
  ['multiaddress.reachabilitychecktimeoutms', noEffect('a member has one address')],
  ['multiaddress.reachabilitycheckenabled', noEffect('a member has one address')],
  ['oraclepath', always('Rookery asks no oracle: a majority decides')],
  ['globaloutstandinglimit', number('globalOutstandingLimit')],
  ['requestthrottlelimit', noEffect(OWN_PACE)],
  ['requestthrottlestalltime', noEffect(OWN_PACE)],
  ['requestthrottledropstale', noEffect(OWN_PACE)],
  ['requeststalelatencycheck', noEffect(OWN_PACE)],
  ['requeststaleconnectioncheck', noEffect(OWN_PACE)],
  ['throttledopwaittime', noEffect(OWN_PACE)],
  ['largerequestthreshold', noEffect(OWN_PACE)],
  ['largerequestmaxbytes', noEffect(OWN_PACE)],
  ['jute.maxbuffer', number('frameBytesMax')],
  ['jute.maxbuffer.extrasize', noEffect('what ZooKeeper adds for its own messages is not needed')],
  ['connectionmaxtokens', number('connectionTokensMax')],
  ['localsessionsenabled', flag('localSessions')],
  [
    'localsessionsupgradingenabled',
    refusedIfOn('a local session is not upgraded: it cannot own ephemeral znodes'),
  ],
  ['readonlymode.enabled', flag('readOnlyMode')],
  ['4lw.commands.whitelist', text('fourLetterWords')],
  ['admin.enableserver', (value) => adminServer(value)],
  ['admin.serverport', ofEachServer('adminPort')],
  ['admin.serveraddress', (value) => adminAddress(value)],
  ['digest.enabled', noEffect('the digest of the tree is always kept and compared')],
  ['forcesync', (value) => forceSync(value)],
  ['fsync.warningthresholdms', noEffect('a sync of a second or more is always logged')],
  ['flushdelay', noEffect('writes of one turn are synced together')],
  ['maxbatchsize', noEffect('writes of one turn are synced together')],
  ['maxwritequeuepolltime', noEffect('writes of one turn are synced together')],
  ['skipacl', flag('skipACL')],
  ['enableeageraclcheck', noEffect('the leader decides on ACLs')],
  ['enforcequota', flag('enforceQuota')],
  ['digestauthenticationprovider.superdigest', text('superDigest')],
  ['digestauthenticationprovider.enabled', (value) => digestEnabled(value)],
  ['digestauthenticationprovider.digestalg', (value) => digestAlgorithm(value)],
  ['superuser', always(NO_SASL)],
  ['x509authenticationprovider.superuser', always(NO_TLS)],
  ['extendedtypesenabled', flag('extendedTypes')],
  ['emulate353ttlnodes', refusedIfOn('TTL znodes of 3.5.3 are not emulated')],
  ['metricsprovider.classname', noEffect('a metricsPort turns the metrics on')],
  ['metricsprovider.httpport', ofEachServer('metricsPort')],
  ['metricsprovider.httphost', text('metricsHost')],
  ['metricsprovider.exportjvminfo', noEffect('there is no JVM')],
  ['audit.enable', refusedIfOn('Rookery writes no audit log')],
  ['sslquorum', refusedIfOn(NO_TLS)],
  ['sslquorumreloadcertfiles', noEffect(NO_TLS)],
  ['client.certreload', noEffect(NO_TLS)],
  ['portunification', refusedIfOn(NO_TLS)],
  ['sessionrequireclientsaslauth', refusedIfOn(NO_SASL)],
  ['enforce.auth.enabled', refusedIfOn('Rookery does not require that clients authenticate')],
  ['enforce.auth.schemes', noEffect('enforce.auth.enabled decides')],
  ['maxresponsecachesize', noEffect(OWN_PACE)],
  ['maxgetchildrenresponsecachesize', noEffect(OWN_PACE)],
  ['snapshot.compression.method', noEffect(OWN_DISK)],
  ['snapshot.trust.empty', noEffect(OWN_DISK)],
  ['tcpkeepalive', noEffect('members and clients notice a dead connection by themselves')],
  ['datadir.autocreate', noEffect('a missing directory is created')],
  ['db.autocreate', noEffect('a new ensemble waits until all members have met')],
  ['clientportsaslauth', always(NO_SASL)],
  ['saslauthenticationprovider.superpassword', always(NO_SASL)],
  ['sasl.serverconfig', always(NO_SASL)],
  ['security.auth_to_local', always(NO_SASL)],
  ['letanysasluserdox', always(NO_SASL)],
  ['allowsaslfailedclients', refusedIfOn(NO_SASL)],
  ['requirekerberosconfig', refusedIfOn(NO_SASL)],
  ['kinit', noEffect(NO_SASL)],
  ['server.realm', noEffect(NO_SASL)],
  ['ensembleauthname', always('Rookery does not ask clients which ensemble they expect')],
  ['ipauthenticationprovider.usexforwardedfor', refusedIfOn('such headers are never believed')],
  ['audit.impl.class', noEffect('audit.enable decides')],
  ['fips-mode', noEffect(NO_TLS)],
  ['logdir', text('dataLogDir')],
  ['snapdir', text('dataDir')],
  ['configuration', noEffect('the file is named by --config')],
  ['controllerport', noEffect('it is for tests of ZooKeeper')],
  ['testingonly.initialzxid', noEffect('it is for tests of ZooKeeper')],
  ['servercnxnfactory', noEffect('there is one kind of connections')],
  ['clienttcpkeepalive', noEffect('clients are noticed dead by their sessions')],
  ['electionportbindretry', noEffect('one port serves all traffic of members')],
  ['quorumcnxntimeoutms', noEffect('peerTimeoutMs bounds how long a member waits for another')],
  ['leaderconnectdelayduringretryms', noEffect('members dial each other with a back-off')],
  ['leader.maxtimetowaitforepoch', noEffect('initLimit bounds how long a member joins')],
  ['bithashcachesize', noEffect(OWN_PACE)],
  ['intbufferstartingsizebytes', noEffect(OWN_PACE)],
  ['maxinprocessingdeadwatchers', noEffect(OWN_PACE)],
  ['watchmanagername', noEffect('watches are held in one compact form')],
  ['forcesnapshotsync', noEffect('a learner gets a snapshot only where the log does not reach')],
  ['snapshotsizefactor', noEffect(OWN_DISK)],
  ['closesessiontxn.enabled', noEffect('a session ends with the paths that it deletes')],
]);

const PREFIXES: readonly (readonly [string, Rule])[] = [
  ['autopurge.', noEffect(OWN_DISK)],
  ['znode.container.', noEffect('containers are removed within about a minute')],
  ['connection_throttle_', noEffect('connectionMaxTokens and connectionTokensPerSecond decide')],
  ['connectiontoken', noEffect('connectionMaxTokens and connectionTokensPerSecond decide')],
  ['group.', always('Rookery has no hierarchical quorums: a majority decides')],
  ['weight.', always('Rookery has no hierarchical quorums: a majority decides')],
  ['ssl.', always(NO_TLS)],
  ['quorum.auth.', (value) => quorumAuth(value)],
  ['quorum.cnxn.', noEffect('links between members need no threads')],
  ['authprovider.', always('Rookery has no pluggable authentication: digest, ip, world and auth')],
  ['metricsprovider.', noEffect('a metricsPort turns the metrics on')],
  ['admin.', noEffect('the admin port needs no such setting')],
  ['netty.', noEffect('Rookery does not use Netty')],
  ['nio.', noEffect('Rookery does not use Java NIO')],
  ['learner.', noEffect(OWN_PACE)],
  ['leader.', noEffect(OWN_PACE)],
  ['follower.', noEffect(OWN_PACE)],
  ['forward_learner_requests', noEffect(OWN_PACE)],
  ['commitprocessor.', noEffect('requests are processed in one thread')],
  ['fastleader.', noEffect('an election waits for no such interval')],
  ['kerberos.', always(NO_SASL)],
  ['messagetracker.', noEffect('the events of the admin port tell of members')],
  ['observer.', noEffect('Rookery has no observers')],
  ['observermaster.', noEffect('Rookery has no observers')],
  ['pathstats.', noEffect('no figure is kept by path')],
  ['request_', noEffect(OWN_PACE)],
  ['throttled_op_', noEffect(OWN_PACE)],
  ['watcherclean', noEffect('a watch is removed with its connection')],
  ['jvm.', noEffect('there is no JVM')],
];

/** One file serves all members, and only a wildcard address means the same on each of them. */
function clientPortAddress(value: string): Outcome {
  if (!isEveryAddress(value)) return refused('set it as listen in the entry of this member alone');
  return { kind: 'taken', eachServer: { listen: '*' }, note: 'members, too, reach it there' };
}

function quorumListenOnAll(value: string): Outcome {
  if (isYes(value)) return { kind: 'taken', eachServer: { peerListen: '*' } };
  return { kind: 'noEffect', why: 'it is the default' };
}

function leaderServes(value: string): Outcome {
  if (isYes(value)) return { kind: 'noEffect', why: 'the leader serves clients' };
  return refused('the leader always serves clients');
}

function peerType(value: string): Outcome {
  if (value === 'participant') return { kind: 'noEffect', why: 'every member takes part' };
  return refused('Rookery has no observers');
}

function adminServer(value: string): Outcome {
  const why = 'an adminPort turns the admin server on';
  return isYes(value) ? { kind: 'noEffect', why } : { kind: 'noEffect', why: 'it is the default' };
}

/**
 * ZooKeeper's default is every address; on any address but loopback, the admin port here needs
 * users.
 */
function adminAddress(value: string): Outcome {
  return taken({ adminHost: value }, 'off loopback the admin port needs adminUsers');
}

function forceSync(value: string): Outcome {
  if (isYes(value)) return { kind: 'noEffect', why: 'a write is always synced before its answer' };
  const why = 'a write is always synced before its answer: writes will be slower and safer';
  return { kind: 'noEffect', why };
}

function digestEnabled(value: string): Outcome {
  if (isYes(value)) return { kind: 'noEffect', why: 'it is the default' };
  return refused('the digest scheme cannot be switched off');
}

function digestAlgorithm(value: string): Outcome {
  if (value.toUpperCase() === 'SHA1') return { kind: 'noEffect', why: 'it is the default' };
  return refused('digests are SHA-1: ACLs written with another algorithm would match nobody');
}

function quorumAuth(value: string): Outcome {
  if (value.toLowerCase() === 'false') return { kind: 'noEffect', why: 'it is switched off' };
  return refused(NO_SASL);
}
