/**
 * Decides the outcome of each key of zoo.cfg: it is taken over into a setting, it has no effect
 * here, or it is refused because leaving it out would change what the operator relies on.
 *
 * Keys are those of ZooKeeper 3.4 to 3.9, in lower case, without the prefix `zookeeper.` that a
 * system property has. `server.N` and `dynamicConfigFile` are read by `convert.ts`.
 */
import {
  authProvider,
  enforceAuth,
  NO_KERBEROS,
  ofQuorumAuth,
  quorumSasl,
  saslRequired,
  superIdentity,
} from './authentication-keys.js';
import {
  always,
  isYes,
  nameOf,
  noEffect,
  type Outcome,
  type Rule,
  refused,
  refusedIfOn,
  SWITCHED_OFF,
  taken,
  withNumber,
  without,
  type ZooFile,
} from './outcome.js';
import { isEveryAddress } from './servers.js';
import {
  connectionDetail,
  connectionFill,
  connectionFreeze,
  connectionTokens,
  connectionWeights,
} from './throttle-keys.js';
import {
  clientPortUnification,
  ofSsl,
  portUnification,
  secureClientPort,
  sslQuorum,
} from './tls-keys.js';

/** Null for a key that no release of ZooKeeper is known to have. */
export function outcomeOf(key: string, value: string, file: ZooFile): Outcome | null {
  const name = nameOf(key);
  const rule = RULES.get(name) ?? PREFIXES.find(([prefix]) => name.startsWith(prefix))?.[1];
  return rule?.(value, file, name) ?? null;
}

function number(setting: string, note?: string): Rule {
  return (value) => withNumber(value, (number) => taken({ [setting]: number }, note));
}

/** ZooKeeper's -1 means its default, which is the same as ours. */
function sessionTimeout(setting: string): Rule {
  const rule = number(setting);
  return (value, ...at) => (value === '-1' ? DEFAULT : rule(value, ...at));
}

function flag(setting: string): Rule {
  return (value) => taken({ [setting]: isYes(value) });
}

function text(setting: string): Rule {
  return (value) => taken({ [setting]: value });
}

/** For a limit that ZooKeeper does not have at 0 or below. */
function refusedAboveZero(why: string): Rule {
  return (value) => withNumber(value, (number) => (number > 0 ? refused(why) : SWITCHED_OFF));
}

function ofEachServer(setting: string, note?: string): Rule {
  return (value) =>
    withNumber(value, (number) => {
      if (number <= 0) return SWITCHED_OFF;
      const noted = note === undefined ? {} : { note };
      return { kind: 'taken', eachServer: { [setting]: number }, ...noted };
    });
}

const DEFAULT = without('it is the default');
const OWN_DISK = 'Rookery decides by itself when it writes checkpoints and removes old files';
const OWN_PACE = 'Rookery bounds this by itself: see docs/limits.md';
const NO_SNAPSHOTS =
  '/commands/snapshot and restore are answered 501: back up with "rookery backup save" or ' +
  'backupDirectory';
const OF_ADMIN_PORT =
  'once there are adminUsers, every command but ruok needs a password; unknown commands are ' +
  'answered 404, and snapshot and restore 501: back up with "rookery backup save"';
const NO_ADMIN_TLS = 'the admin port has no TLS: put a proxy before it';
const SUPER_PASSWORD =
  'add a line super:PASSWORD to the file of users, and sasl:super to superIdentities';
const OF_CLIENTS = noEffect('only clients read it');
/** ZooKeeper's defaults. */
const ADMIN_PORT = 8080;
const METRICS_PORT = 7000;
const REREAD = 'files are read again whenever they change';

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
  ['secureclientport', secureClientPort],
  ['secureclientportaddress', (value) => clientPortAddress(value)],
  ['client.portunification', clientPortUnification],
  ['minsessiontimeout', sessionTimeout('minSessionTimeoutMs')],
  ['maxsessiontimeout', sessionTimeout('maxSessionTimeoutMs')],
  ['maxclientcnxns', number('maxClientCnxns')],
  ['maxcnxns', refusedAboveZero('there is no limit of all connections, only maxClientCnxns')],
  ['snapcount', noEffect(OWN_DISK)],
  ['snapsizelimitinkb', noEffect(OWN_DISK)],
  ['txnlogsizelimitinkb', noEffect(OWN_DISK)],
  ['preallocsize', noEffect(OWN_DISK)],
  ['commitlogcount', noEffect(OWN_DISK)],
  ['serializelastprocessedzxid.enabled', noEffect(OWN_DISK)],
  ['version', noEffect('the list of servers has no version')],
  ['standaloneenabled', noEffect('one server in the file makes a standalone member')],
  [
    'reconfigenabled',
    refusedIfOn('clients cannot change the list of members: the config file has it'),
  ],
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
  ['connectionmaxtokens', connectionTokens],
  ['connection_throttle_tokens', connectionTokens],
  ['connection_throttle_fill_time', connectionFill],
  ['connection_throttle_fill_count', connectionFill],
  ['connection_throttle_freeze_time', connectionFreeze],
  ['connection_throttle_weight_enabled', connectionWeights],
  ['localsessionsenabled', flag('localSessions')],
  [
    'localsessionsupgradingenabled',
    refusedIfOn('a local session is not upgraded: it cannot own ephemeral znodes'),
  ],
  ['readonlymode.enabled', flag('readOnlyMode')],
  ['4lw.commands.whitelist', text('fourLetterWords')],
  ['admin.enableserver', adminServer],
  ['admin.forcehttps', refusedIfOn(NO_ADMIN_TLS)],
  ['admin.portunification', refusedIfOn(NO_ADMIN_TLS)],
  ['admin.needclientauth', refusedIfOn(NO_ADMIN_TLS)],
  ['quorum.auth.enablesasl', quorumSasl],
  ['admin.serverport', adminPort],
  ['admin.commandurl', (value) => commandUrl(value)],
  ['admin.snapshot.enabled', refusedIfOn(NO_SNAPSHOTS)],
  ['admin.restore.enabled', refusedIfOn(NO_SNAPSHOTS)],
  ['admin.snapshot.intervalinms', noEffect(NO_SNAPSHOTS)],
  ['admin.ratelimiterintervalinms', noEffect(NO_SNAPSHOTS)],
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
  ['x509authenticationprovider.superuser', superIdentity('x509')],
  ['extendedtypesenabled', flag('extendedTypes')],
  ['emulate353ttlnodes', refusedIfOn('TTL znodes of 3.5.3 are not emulated')],
  ['metricsprovider.classname', metricsProvider],
  ['metricsprovider.httpport', ofEachServer('metricsPort')],
  ['metricsprovider.httphost', text('metricsHost')],
  ['metricsprovider.exportjvminfo', noEffect('there is no JVM')],
  ['audit.enable', (value) => auditLog(value)],
  ['sslquorum', sslQuorum],
  ['sslquorumreloadcertfiles', noEffect(REREAD)],
  ['client.certreload', noEffect(REREAD)],
  ['portunification', portUnification],
  ['sessionrequireclientsaslauth', saslRequired],
  ['enforce.auth.enabled', enforceAuth],
  ['enforce.auth.schemes', noEffect('enforce.auth.enabled decides')],
  ['maxresponsecachesize', noEffect(OWN_PACE)],
  ['maxgetchildrenresponsecachesize', noEffect(OWN_PACE)],
  ['snapshot.compression.method', noEffect(OWN_DISK)],
  ['snapshot.trust.empty', noEffect(OWN_DISK)],
  ['tcpkeepalive', noEffect('members and clients notice a dead connection by themselves')],
  ['datadir.autocreate', noEffect('a missing directory is created')],
  ['db.autocreate', noEffect('a new ensemble waits until all members have met')],
  ['saslauthenticationprovider.superpassword', always(SUPER_PASSWORD)],
  ['sasl.serverconfig', noEffect('every section of the JAAS file for servers is read')],
  ['security.auth_to_local', always(NO_KERBEROS)],
  ['letanysasluserdox', always('no user of SASL is everybody')],
  ['allowsaslfailedclients', refusedIfOn('a client whose password is wrong is refused')],
  ['requirekerberosconfig', refusedIfOn(NO_KERBEROS)],
  ['kinit', noEffect(NO_KERBEROS)],
  ['server.realm', noEffect(NO_KERBEROS)],
  ['ensembleauthname', always('Rookery does not ask clients which ensemble they expect')],
  ['ipauthenticationprovider.usexforwardedfor', refusedIfOn('such headers are never believed')],
  ['audit.impl.class', auditLogger],
  ['fips-mode', noEffect('Node.js decides: see its option --force-fips')],
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
  ['maxtimetowaitforepoch', noEffect('initLimit bounds how long a member joins')],
  ['leader.maxtimetowaitforepoch', noEffect('initLimit bounds how long a member joins')],
  ['bithashcachesize', noEffect(OWN_PACE)],
  ['intbufferstartingsizebytes', noEffect(OWN_PACE)],
  ['maxinprocessingdeadwatchers', noEffect(OWN_PACE)],
  ['watchmanagername', noEffect('watches are held in one compact form')],
  ['forcesnapshotsync', noEffect('a learner gets a snapshot only where the log does not reach')],
  ['snapshotsizefactor', noEffect(OWN_DISK)],
  ['znode.container.maxneverusedintervalms', number('neverUsedContainersMs')],
  ['client.secure', OF_CLIENTS],
  ['clientcnxnsocket', OF_CLIENTS],
  ['disableautowatchreset', OF_CLIENTS],
  ['request.timeout', OF_CLIENTS],
  ['server.principal', OF_CLIENTS],
  ['sasl.client', OF_CLIENTS],
  ['sasl.clientconfig', OF_CLIENTS],
  ['jmx.log4j.disable', noEffect('there is no JVM')],
  ['jmx.log4j.mbean', noEffect('there is no JVM')],
  ['test.allowdiscontinuousproposals', noEffect('it is for tests of ZooKeeper')],
  ['closesessiontxn.enabled', noEffect('a session ends with the paths that it deletes')],
]);

/** The rules for all names that begin so. */
const PREFIXES: readonly (readonly [string, Rule])[] = [
  ['autopurge.', noEffect(OWN_DISK)],
  ['sasl.client.', OF_CLIENTS],
  ['znode.container.', noEffect('containers are removed within about a minute')],
  ['connection_throttle_', connectionDetail],
  ['connectiontoken', connectionFill],
  ['group.', always('Rookery has no hierarchical quorums: a majority decides')],
  ['weight.', always('Rookery has no hierarchical quorums: a majority decides')],
  ['ssl.', ofSsl],
  ['quorum.auth.', ofQuorumAuth],
  // Suffixes make several super users.
  ['superuser', superIdentity('sasl')],
  ['quorum.cnxn.', noEffect('links between members need no threads')],
  ['authprovider.', authProvider],
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
  ['kerberos.', always(NO_KERBEROS)],
  ['messagetracker.', noEffect('the events of the admin port report members')],
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
  if (!isEveryAddress(value)) return refused('set it as listen in the entry of this member only');
  return { kind: 'taken', eachServer: { listen: '*' }, note: 'members, too, reach it there' };
}

function quorumListenOnAll(value: string): Outcome {
  if (isYes(value)) return { kind: 'taken', eachServer: { peerListen: '*' } };
  return DEFAULT;
}

function leaderServes(value: string): Outcome {
  if (isYes(value)) return without('the leader serves clients');
  return refused('the leader always serves clients');
}

function peerType(value: string): Outcome {
  if (value === 'participant') return without('every member takes part');
  return refused('Rookery has no observers');
}

function commandUrl(value: string): Outcome {
  return value === '/commands' ? DEFAULT : refused('commands are at /commands');
}

/** ZooKeeper's is on unless the file says otherwise. */
function adminServer(value: string, file: ZooFile): Outcome {
  if (!isYes(value)) return DEFAULT;
  if (file.textOf('admin.serverport') !== '') return without('the adminPort turns it on');
  return adminPort(String(ADMIN_PORT), file, '');
}

function adminPort(value: string, file: ZooFile, name: string): Outcome {
  const switched = file.textOf('admin.enableserver');
  if (switched !== '' && !isYes(switched)) return SWITCHED_OFF;
  return ofEachServer('adminPort', OF_ADMIN_PORT)(value, file, name);
}

function metricsProvider(value: string, file: ZooFile, name: string): Outcome {
  if (value.endsWith('.NullMetricsProvider')) return SWITCHED_OFF;
  if (value.endsWith('.DefaultMetricsProvider')) return DEFAULT;
  if (!value.endsWith('.PrometheusMetricsProvider')) {
    return refused('metrics are those of Prometheus, at metricsPort');
  }
  if (file.textOf('metricsprovider.httpport') !== '') return without('the metricsPort turns it on');
  return ofEachServer('metricsPort')(String(METRICS_PORT), file, name);
}

function auditLogger(value: string): Outcome {
  if (value.endsWith('.Slf4jAuditLogger')) return without('audit.enable decides');
  return refused('the audit log is a file with lines of JSON: see auditFile');
}

/**
 * ZooKeeper's default is every address; on any address but loopback, the admin port here needs
 * users.
 */
function adminAddress(value: string): Outcome {
  return taken({ adminHost: value }, 'off loopback the admin port needs adminUsers');
}

function forceSync(value: string): Outcome {
  if (isYes(value)) return without('a write is always synced before its answer');
  const why = 'a write is always synced before its answer: writes will be slower and safer';
  return without(why);
}

function digestEnabled(value: string): Outcome {
  if (isYes(value)) return DEFAULT;
  return refused('the digest scheme cannot be switched off');
}

function digestAlgorithm(value: string): Outcome {
  const algorithm = value.toUpperCase().replace('-', '');
  if (algorithm === 'SHA1') return DEFAULT;
  if (algorithm === 'SHA256' || algorithm === 'SHA512') return taken({ digestAlgs: [algorithm] });
  const known = 'SHA-1, SHA-256 or SHA-512';
  return refused(`digests are ${known}: ACLs written with another would match no client`);
}

function auditLog(value: string): Outcome {
  if (!isYes(value)) return SWITCHED_OFF;
  return taken({ auditFile: 'audit.jsonl' }, 'it has lines of JSON, beside the config file');
}
