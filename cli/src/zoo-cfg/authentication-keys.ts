/**
 * Converts ZooKeeper's keys for the authentication of clients and members, apart from TLS: SASL,
 * schemes that every client must have proved, super users, SASL between members.
 */
import { randomBytes } from 'node:crypto';
import {
  incomplete,
  isYes,
  type Outcome,
  type Rule,
  refused,
  SWITCHED_OFF,
  taken,
  without,
  type ZooFile,
} from './outcome.js';

export const NO_KERBEROS = 'Rookery has no Kerberos: SASL supports only DIGEST-MD5';
const NEEDS_JAAS =
  "name the JAAS file of ZooKeeper's servers with --jaas, and a new file for its users with --users";
const SCHEMES: readonly string[] = ['digest', 'x509', 'sasl'];

/** The values of `authProvider.*` for which nothing has to be set. */
const BUILT_IN = new Map([
  ['DigestAuthenticationProvider', 'the scheme digest is always there'],
  ['IPAuthenticationProvider', 'the scheme ip is always there'],
  ['X509AuthenticationProvider', 'the scheme x509 is there with the certificates of clients'],
  ['EnsembleAuthenticationProvider', 'ensembleAuthName decides'],
]);

export function authProvider(value: string, file: ZooFile): Outcome {
  const name = value.slice(value.lastIndexOf('.') + 1);
  const why = BUILT_IN.get(name);
  if (why !== undefined) return without(why);
  if (name !== 'SASLAuthenticationProvider') {
    return refused('no class can be plugged in: the schemes are digest, ip, sasl, world and x509');
  }
  return file.hasJaas ? without('the setting sasl turns it on') : incomplete({}, NEEDS_JAAS);
}

export function enforceAuth(value: string, file: ZooFile): Outcome {
  if (!isYes(value)) return SWITCHED_OFF;
  const asked = file.textOf('enforce.auth.schemes').split(',');
  const schemes = asked.map((scheme) => scheme.trim().toLowerCase()).filter(Boolean);
  const unknown = schemes.find((scheme) => !SCHEMES.includes(scheme));
  if (unknown !== undefined) return refused(`no client proves anything by the scheme ${unknown}`);
  if (schemes.length === 0) return refused('enforce.auth.schemes names no scheme');
  return taken({ enforceAuth: schemes });
}

export function saslRequired(value: string): Outcome {
  return isYes(value) ? taken({ enforceAuth: ['sasl'] }) : SWITCHED_OFF;
}

export const superIdentity =
  (scheme: 'sasl' | 'x509'): Rule =>
  (value) =>
    taken({ superIdentities: [`${scheme}:${value}`] });

/** SASL between members: a secret takes its place, and certificates make it needless. */
export function quorumSasl(value: string, file: ZooFile): Outcome {
  if (!isYes(value)) return SWITCHED_OFF;
  if (file.isOn('sslquorum') && !file.isOn('portunification')) {
    return without('members authenticate each other by their certificates');
  }
  const path = file.secretPath('peer.secret');
  if (path === null) {
    return incomplete(
      { peerAuth: { secretFile: 'peer.secret' } },
      'members authenticate by a secret instead: make the file peer.secret beside the config ' +
        'file, for all members the same, with (umask 077; openssl rand -base64 32 > peer.secret), ' +
        'or name a directory for such files with --secrets',
    );
  }
  const settings = { peerAuth: { secretFile: path } };
  const note = 'members authenticate by a new secret instead: copy its file to every machine';
  const secrets = { [path]: `${randomBytes(32).toString('base64')}\n` };
  return { kind: 'taken', settings, secrets, note };
}

/** For every key that begins with `quorum.auth.`, beside the switch itself. */
export function ofQuorumAuth(value: string, file: ZooFile, name: string): Outcome {
  if (!file.isOn('quorum.auth.enablesasl')) return without('quorum.auth.enableSasl is off');
  if (name.includes('kerberos')) return refused(NO_KERBEROS);
  if (!name.endsWith('requiresasl')) return without('peerAuth needs no JAAS file');
  return without(isYes(value) ? 'peerAuth decides' : 'peerAuth has "required": false');
}

/** Whether members that prove nothing are refused. */
export function peersAreRequired(file: ZooFile): boolean {
  const isSasl =
    file.isOn('quorum.auth.enablesasl') &&
    file.isOn('quorum.auth.learnerrequiresasl') &&
    file.isOn('quorum.auth.serverrequiresasl');
  return isSasl || (file.isOn('sslquorum') && !file.isOn('portunification'));
}
