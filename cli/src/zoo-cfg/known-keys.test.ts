/**
 * Goal: no key that a release of ZooKeeper reads is taken for a misspelt one. Method: the keys are
 * those that the classes of ZooKeeper 3.8.0 and 3.9.5 name, and those of the guide of 3.9.
 */
import { expect, it } from 'vitest';
import { outcomeOf } from './keys.js';
import type { ZooFile } from './outcome.js';

const KEYS = [
  ...['4lw.commands.whitelist', 'admin.commandURL', 'admin.enableServer'],
  ...['admin.forceHttps', 'admin.httpVersion', 'admin.idleTimeout', 'admin.needClientAuth'],
  ...['admin.portUnification', 'admin.rateLimiterIntervalInMS', 'admin.restore.enabled'],
  ...['admin.serverAddress', 'admin.serverPort', 'admin.snapshot.enabled'],
  ...['admin.snapshot.intervalInMS', 'allowSaslFailedClients', 'audit.enable'],
  ...['audit.impl.class', 'authProvider.1', 'authProvider.x', 'authProvider.x509'],
  ...['autopurge.purgeInterval', 'autopurge.snapRetainCount', 'bitHashCacheSize'],
  ...['client.certReload', 'client.portUnification', 'clientPort', 'clientPortAddress'],
  ...['clientPortListenBacklog', 'clientTcpKeepAlive', 'closeSessionTxn.enabled'],
  ...['cnxTimeout', 'commitLogCount', 'commitProcessor.maxCommitBatchSize'],
  ...['commitProcessor.maxReadBatchSize', 'commitProcessor.numWorkerThreads'],
  ...['commitProcessor.shutdownTimeout', 'configuration'],
  ...['connection_throttle_decrease_ratio', 'connection_throttle_drop_decrease'],
  ...['connection_throttle_drop_increase', 'connection_throttle_fill_count'],
  ...['connection_throttle_fill_time', 'connection_throttle_freeze_time'],
  ...['connection_throttle_global_session_weight'],
  ...['connection_throttle_local_session_weight'],
  ...['connection_throttle_renew_session_weight', 'connection_throttle_tokens'],
  ...['connection_throttle_weight_enabled', 'connectionMaxTokens'],
  ...['connectionTokenFillTime', 'connectToLearnerMasterLimit', 'controllerPort'],
  ...['dataDir', 'datadir.autocreate', 'dataLogDir', 'db.autocreate', 'digest.enabled'],
  ...['DigestAuthenticationProvider.digestAlg', 'DigestAuthenticationProvider.enabled'],
  ...['DigestAuthenticationProvider.superDigest', 'electionAlg', 'electionPortBindRetry'],
  ...['emulate353TTLNodes', 'enableEagerACLCheck', 'enforce.auth.enabled'],
  ...['enforce.auth.schemes', 'enforceQuota', 'ensembleAuthName', 'extendedTypesEnabled'],
  ...['fastleader.maxNotificationInterval', 'fastleader.minNotificationInterval'],
  ...['fips-mode', 'flushDelay', 'follower.skipLearnerRequestToNextProcessor'],
  ...['forceSnapshotSync', 'forceSync'],
  ...['forward_learner_requests_to_commit_processor_disabled', 'fsync.warningthresholdms'],
  ...['globalOutstandingLimit', 'group.1', 'initLimit', 'intBufferStartingSizeBytes'],
  ...['IPAuthenticationProvider.usexforwardedfor', 'jute.maxbuffer'],
  ...['jute.maxbuffer.extrasize', 'jvm.pause.info-threshold.ms', 'jvm.pause.monitor'],
  ...['jvm.pause.sleep.time.ms', 'jvm.pause.warn-threshold.ms'],
  ...['kerberos.canonicalizeHostNames', 'kerberos.removeHostFromPrincipal'],
  ...['kerberos.removeRealmFromPrincipal', 'kinit', 'largeRequestMaxBytes'],
  ...['largeRequestThreshold', 'leader.ackLoggingFrequency', 'leader.closeSocketAsync'],
  ...['leader.maxConcurrentDiffSyncs', 'leader.maxConcurrentSnapSyncs'],
  ...['leader.maxTimeToWaitForEpoch', 'leaderConnectDelayDuringRetryMs', 'leaderServes'],
  ...['learner.asyncSending', 'learner.closeSocketAsync', 'letAnySaslUserDoX'],
  ...['localSessionsEnabled', 'localSessionsUpgradingEnabled', 'logDir', 'maxBatchSize'],
  ...['maxClientCnxns', 'maxCnxns', 'maxGetChildrenResponseCacheSize'],
  ...[
    'maxInProcessingDeadWatchers',
    'maxResponseCacheSize',
    'maxSessionTimeout',
    'maxTimeToWaitForEpoch',
  ],
  ...['maxWriteQueuePollTime', 'messageTracker.BufferSize', 'messageTracker.Enabled'],
  ...['metricsProvider.className', 'metricsProvider.exportJvmInfo'],
  ...['metricsProvider.httpHost', 'metricsProvider.httpPort'],
  ...['metricsProvider.numWorkerThreads', 'minSessionTimeout', 'multiAddress.enabled'],
  ...['multiAddress.reachabilityCheckEnabled', 'multiAddress.reachabilityCheckTimeoutMs'],
  ...['netty.advancedFlowControl.enabled'],
  ...['netty.server.earlyDropSecureConnectionHandshakes'],
  ...['netty.server.outstandingHandshake.limit', 'nio.directBufferBytes'],
  ...['nio.numSelectorThreads', 'nio.numWorkerThreads', 'nio.sessionlessCnxnTimeout'],
  ...['nio.shutdownTimeout', 'observer.election.DelayMs', 'observer.reconnectDelayMs'],
  ...['observer.syncEnabled', 'observerMaster.sizeLimit', 'observerMasterPort'],
  ...['oraclePath', 'pathStats.delay', 'pathStats.enabled', 'pathStats.initialDelay'],
  ...['pathStats.maxDepth', 'pathStats.sampleRate', 'pathStats.slotCapacity'],
  ...['pathStats.slotDuration', 'pathStats.topPathMax', 'peerType', 'portUnification'],
  ...['preAllocSize', 'quorum.auth.enableSasl', 'quorum.auth.kerberos.servicePrincipal'],
  ...['quorum.auth.learner.saslLoginContext', 'quorum.auth.learnerRequireSasl'],
  ...['quorum.auth.server.saslLoginContext', 'quorum.auth.serverRequireSasl'],
  ...['quorum.cnxn.threads.size', 'quorumCnxnTimeoutMs', 'quorumListenOnAllIPs'],
  ...['reconfigEnabled', 'request_stale_connection_check', 'request_stale_latency_check'],
  ...['request_throttle_drop_stale', 'request_throttle_max_requests'],
  ...['request_throttle_stall_time', 'request_throttler.shutdownTimeout'],
  ...['requireKerberosConfig', 'sasl.serverconfig'],
  ...['SASLAuthenticationProvider.superPassword', 'secureClientPort'],
  ...['secureClientPortAddress', 'security.auth_to_local'],
  ...['serializeLastProcessedZxid.enabled', 'server.realm', 'serverCnxnFactory'],
  ...['sessionRequireClientSASLAuth', 'skipACL', 'snapCount', 'snapDir'],
  ...['snapshot.compression.method', 'snapshot.trust.empty', 'snapshotSizeFactor'],
  ...['snapSizeLimitInKb', 'ssl.clientAuth', 'ssl.keyStore.location'],
  ...['ssl.quorum.trustStore.password', 'ssl.quorum.x', 'ssl.x', 'sslQuorum'],
  ...['sslQuorumReloadCertFiles', 'standaloneEnabled', 'superUser', 'syncEnabled'],
  ...['syncLimit', 'tcpKeepAlive', 'testingonly.initialZxid', 'throttled_op_wait_time'],
  ...['tickTime', 'txnLogSizeLimitInKb', 'version', 'watcherCleanIntervalInSeconds'],
  ...['watcherCleanThreadsNum', 'watcherCleanThreshold', 'watchManagerName', 'weight.1'],
  ...['X509AuthenticationProvider.superUser', 'znode.container.checkIntervalMs'],
  ...['znode.container.maxNeverUsedIntervalMs', 'znode.container.maxPerMinute'],
  ...['client.secure', 'clientCnxnSocket', 'disableAutoWatchReset', 'follower.nodelay'],
  ...['jmx.log4j.disable', 'jmx.log4j.mbean', 'kerberos.minReLoginTimeMs', 'leader.nodelay'],
  ...['readonlymode.enabled', 'request.timeout', 'sasl.client', 'sasl.client.username'],
  ...['sasl.client.canonicalize.hostname', 'sasl.clientconfig', 'server.principal'],
  ...['test.allowDiscontinuousProposals'],
];

const file: ZooFile = {
  textOf: () => 'true',
  isOn: () => true,
  secretPath: () => null,
  hasJaas: false,
};

it('every key of ZooKeeper is taken, without effect, or refused with a reason', () => {
  expect(KEYS.length).toBeGreaterThan(200);
  for (const key of KEYS) {
    for (const value of ['5', 'true', 'false']) {
      const outcome = outcomeOf(key, value, file);
      expect(outcome, key).not.toBe(null);
      if (outcome !== null && 'why' in outcome) expect(outcome.why, key).not.toBe('');
      if (outcome?.kind === 'incomplete') expect(outcome.todo, key).not.toBe('');
    }
  }
  expect(outcomeOf('tikTime', '5', file)).toBe(null);
});
