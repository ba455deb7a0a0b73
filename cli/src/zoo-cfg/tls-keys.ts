/**
 * Converts ZooKeeper's keys for TLS: of clients (`ssl.*`), and of members (`ssl.quorum.*`).
 *
 * Certificates and keys stay where they are if they are PEM or PKCS#12. Java's own keystores have
 * to be converted, and so do trust stores that are not PEM: the setting then names the file that
 * the given command makes, beside the former one.
 */
import {
  always,
  incomplete,
  isYes,
  noEffect,
  type Outcome,
  refused,
  refusedIfOn,
  SWITCHED_OFF,
  taken,
  withNumber,
  without,
  type ZooFile,
} from './outcome.js';

const CLIENTS_ARE_PLAIN =
  'neither secureClientPort nor client.portUnification turns TLS on for clients';
const MEMBERS_ARE_PLAIN = 'neither sslQuorum nor portUnification turns TLS on for members';
const NAMES = 'the certificate of each member must name its host as a subject alternative name';

/** One of the two uses of TLS. */
interface Side {
  readonly prefix: 'ssl.' | 'ssl.quorum.';
  readonly isForMembers: boolean;
  /** The name of the file for a passphrase. */
  readonly passphrase: string;
  /** The settings of this side, as they stand in the config. */
  placed(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

const CLIENTS: Side = {
  prefix: 'ssl.',
  isForMembers: false,
  passphrase: 'tls.passphrase',
  placed: (tls) => ({ tls }),
};
const MEMBERS: Side = {
  prefix: 'ssl.quorum.',
  isForMembers: true,
  passphrase: 'peer-tls.passphrase',
  placed: (tls) => ({ peerAuth: { tls } }),
};

type SideRule = (value: string, file: ZooFile, side: Side) => Outcome;

function clientsUseTls(file: ZooFile): boolean {
  return file.textOf('secureclientport') !== '' || file.isOn('client.portunification');
}

function membersUseTls(file: ZooFile): boolean {
  return file.isOn('sslquorum') || file.isOn('portunification');
}

/** For every key that begins with `ssl.`. */
export function ofSsl(value: string, file: ZooFile, name: string): Outcome {
  const side = name.startsWith(MEMBERS.prefix) ? MEMBERS : CLIENTS;
  const isOn = side.isForMembers ? membersUseTls(file) : clientsUseTls(file);
  if (!isOn) return without(side.isForMembers ? MEMBERS_ARE_PLAIN : CLIENTS_ARE_PLAIN);
  const rule = RULES.get(name.slice(side.prefix.length));
  return rule?.(value, file, side) ?? refused('no setting of TLS here corresponds to it');
}

export function secureClientPort(value: string, file: ZooFile): Outcome {
  const settings = { tls: { onClientPort: file.isOn('client.portunification') } };
  return withNumber(value, (secureClientPort) => {
    return { kind: 'taken', settings, eachServer: { secureClientPort } };
  });
}

export function clientPortUnification(value: string): Outcome {
  return isYes(value) ? taken({ tls: { onClientPort: true } }) : SWITCHED_OFF;
}

export function sslQuorum(value: string): Outcome {
  return isYes(value) ? taken({ peerAuth: { tls: {} } }, NAMES) : SWITCHED_OFF;
}

export function portUnification(value: string): Outcome {
  if (!isYes(value)) return SWITCHED_OFF;
  const note = 'members without it are let in, too, until you remove "required": false';
  return taken({ peerAuth: { tls: {} } }, note);
}

/** What ZooKeeper does by default and the config has to say. */
export function tlsDefaults(file: ZooFile): Readonly<Record<string, unknown>> {
  if (!clientsUseTls(file) || file.textOf('ssl.clientauth') !== '') return {};
  return { tls: { clientAuth: 'need' } };
}

function keyStore(path: string, file: ZooFile, side: Side): Outcome {
  const type = typeOf(path, file.textOf(`${side.prefix}keystore.type`));
  // ZooKeeper has the key and the certificates in one PEM file.
  if (type === 'pem') return taken(side.placed({ certFile: path, keyFile: path }));
  if (type === 'pkcs12') return taken(side.placed({ pkcs12File: path }));
  if (type !== 'jks') return refused('a keystore must be PEM, PKCS#12 or one of Java');
  return incomplete(
    side.placed({ pkcs12File: `${path}.p12` }),
    'make the file that pkcs12File names: keytool -importkeystore -srckeystore FILE ' +
      '-destkeystore FILE.p12 -deststoretype PKCS12',
  );
}

function keyStorePassword(password: string, file: ZooFile, side: Side): Outcome {
  const path = file.secretPath(side.passphrase);
  if (path === null) {
    return incomplete(
      side.placed({ passphraseFile: side.passphrase }),
      `write it as the only line of the file ${side.passphrase} beside the config file, with ` +
        'mode 0600, or name a directory for such files with --secrets',
    );
  }
  const settings = side.placed({ passphraseFile: path });
  return { kind: 'taken', settings, secrets: { [path]: `${password}\n` } };
}

function trustStore(path: string, file: ZooFile, side: Side): Outcome {
  if (typeOf(path, file.textOf(`${side.prefix}truststore.type`)) === 'pem') {
    return taken(side.placed({ caFile: path }));
  }
  return incomplete(
    side.placed({ caFile: `${path}.pem` }),
    'make the file that caFile names: keytool -list -rfc -keystore FILE > FILE.pem',
  );
}

/** ZooKeeper knows the type of a store by the end of its name, unless a key names it. */
function typeOf(path: string, named: string): string {
  if (named !== '') return named.toLowerCase();
  const [, end = ''] = /\.([^./]+)$/.exec(path.toLowerCase()) ?? [];
  return end === 'p12' ? 'pkcs12' : end;
}

function clientAuth(value: string, _: ZooFile, side: Side): Outcome {
  const wanted = value.toLowerCase();
  if (side.isForMembers) return without('both members always present a certificate');
  if (!['none', 'want', 'need'].includes(wanted)) return refused('expected none, want or need');
  return taken({ tls: { clientAuth: wanted } });
}

function hostnames(value: string, _: ZooFile, side: Side): Outcome {
  if (!side.isForMembers) return without('each client decides whether it checks the name');
  return isYes(value) ? without(`it is always so: ${NAMES}`) : refused(NAMES);
}

function clientHostnames(value: string, _: ZooFile, side: Side): Outcome {
  if (side.isForMembers) return without(NAMES);
  if (!isYes(value)) return SWITCHED_OFF;
  return refused('the addresses of clients are not compared with their certificates');
}

function protocols(value: string): Outcome {
  const named = value.split(',').map((each) => each.trim());
  const isEnough = named.every((each) => ['TLS', 'TLSv1.2', 'TLSv1.3'].includes(each));
  const why = 'TLS 1.2 and 1.3 are spoken, and nothing else';
  return isEnough && value !== 'TLSv1.3' ? without(why) : refused(why);
}

function handshakeTimeout(value: string, _: ZooFile, side: Side): Outcome {
  if (side.isForMembers) return without('a handshake of members has two seconds');
  return withNumber(value, (handshakeTimeoutMs) => taken({ tls: { handshakeTimeoutMs } }));
}

function authProvider(value: string): Outcome {
  if (value.toLowerCase() === 'x509') return without('it is the default');
  return refused('a client with a certificate is the identity x509 and nothing else');
}

const ofStore = noEffect('it says how to read the file of that store');
const opensslDoes = noEffect('TLS is done by OpenSSL, as Node.js has it');
const noPassword = noEffect('a file of authorities needs no password');

const RULES: ReadonlyMap<string, SideRule> = new Map<string, SideRule>([
  ['keystore.location', keyStore],
  ['keystore.type', ofStore],
  ['keystore.password', keyStorePassword],
  [
    'keystore.passwordpath',
    (path, _, side) =>
      taken(side.placed({ passphraseFile: path }), 'it must have mode 0600 and one line'),
  ],
  ['truststore.location', trustStore],
  ['truststore.type', ofStore],
  ['truststore.password', noPassword],
  ['truststore.passwordpath', noPassword],
  ['clientauth', clientAuth],
  ['crl', refusedIfOn('lists of revoked certificates are files: name them in crlFiles')],
  ['ocsp', refusedIfOn('OCSP is not spoken: name lists of revoked certificates in crlFiles')],
  ['hostnameverification', hostnames],
  ['clienthostnameverification', clientHostnames],
  ['protocol', protocols],
  ['enabledprotocols', protocols],
  ['ciphersuites', always('the cipher suites are those with GCM or ChaCha20-Poly1305')],
  ['context.supplier.class', always('there are no classes to name')],
  ['handshakedetectiontimeoutmillis', handshakeTimeout],
  ['authprovider', authProvider],
  ['sslprovider', opensslDoes],
  ['tcnative.ocsp', opensslDoes],
]);
