/**
 * `rookery_setting_info`: settings that should be equal at all members although members do not
 * refuse each other over them, so that `rookery check` can compare them.
 *
 * Members themselves compare settings on which leases or transactions depend. Paths, addresses and
 * ports are each member's own, `logLevel` is raised at one member to look at it, and whatever is or
 * names a secret is left out: every client that reaches the metrics port reads this.
 */
import type { Config } from '../config/config.js';
import { gauges, type Metric } from './metric.js';

/** A longer value, such as of a long list, is cut: it has to differ, not to be read. */
const VALUE_CHARACTERS_MAX = 200;

export function settingMetrics(config: Config): Metric {
  const series = Object.entries(comparedSettings(config)).map(
    ([setting, value]) => [{ setting, value: valueText(value) }, 1] as const,
  );
  const help = 'Settings that all members should have in common, with their values in labels.';
  return gauges('rookery_setting_info', help, series);
}

type Value = string | number | boolean | null | readonly string[];

function comparedSettings(config: Config): Readonly<Record<string, Value>> {
  const { fourLetterWords: words, tls, peerAuth } = config;
  const proves = typeof peerAuth === 'object' ? peerAuth : null;
  return {
    ensembleName: config.ensembleName,
    initLimit: config.initLimit,
    syncLimit: config.syncLimit,
    peerHeartbeatMs: config.peerHeartbeatMs,
    maxClientCnxns: config.maxClientCnxns,
    connectionTokensMax: config.connectionTokensMax,
    connectionTokensPerSecond: config.connectionTokensPerSecond,
    globalOutstandingLimit: config.globalOutstandingLimit,
    requestsPerSecondMax: config.requestsPerSecondMax,
    inputBytesMax: config.inputBytesMax,
    outputBytesMax: config.outputBytesMax,
    fourLetterWords: typeof words === 'string' ? words : [...words].sort(),
    'peerAuth.secretFile': proves?.secretFile !== undefined,
    'peerAuth.tls': proves?.tls !== undefined,
    'peerAuth.required': proves?.required ?? null,
    tls: tls !== null,
    'tls.clientAuth': tls?.clientAuth ?? null,
    'tls.identity': tls?.identity ?? null,
    'tls.required': tls?.required ?? null,
    sasl: config.sasl !== null,
    superDigest: config.superDigest !== null,
    superIdentities: config.superIdentities.length,
    digestAlgs: config.digestAlgs,
    enforceAuth: config.enforceAuth,
    rootAcl: config.rootAcl !== null,
    diskReserveBytes: config.diskReserveBytes,
    readOnlyMode: config.readOnlyMode,
    localSessions: config.localSessions,
    reconfigEnabled: config.reconfigEnabled,
    holdLevel: config.holdLevel,
    adminUsers: config.adminUsers.length,
    adminReaders: config.adminReaders.length,
    adminReadOnly: config.adminReadOnly,
    backups: config.backupDirectory !== null,
    backupEveryMinutes: config.backupEveryMinutes,
    backupsKept: config.backupsKept,
    backupDaysKept: config.backupDaysKept,
    auditFile: config.auditFile !== null,
    auditBytesMax: config.auditBytesMax,
    auditFilesKept: config.auditFilesKept,
    auditRequired: config.auditRequired,
  };
}

function valueText(value: Value): string {
  const text = typeof value === 'object' && value !== null ? value.join(',') : String(value);
  return text.slice(0, VALUE_CHARACTERS_MAX);
}
