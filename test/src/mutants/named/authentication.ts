/**
 * Bugs in how members and clients prove who they are: each fails a unit test of its own.
 *
 * The simulator's members all have the right secret, so no seed shows whom they let in.
 */
import type { NamedMutant } from './named-mutant.js';

const EXCHANGE = 'server/src/net/peer-authentication.test.ts';
const ADMISSION = 'server/src/net/peer-admission.test.ts';
const CERTIFICATE = 'server/src/net/peer-certificate.test.ts';
const ACCEPTOR = 'server/src/net/tls-acceptor.test.ts';
const IDENTITIES = 'server/src/pipeline/identities.test.ts';
const SASL = 'server/src/pipeline/sasl.test.ts';
const DIGEST_MD5 = 'server/src/security/digest-md5.test.ts';
const SECRET_FILE = 'server/src/security/secret-file.test.ts';

const ofMembers: readonly NamedMutant[] = [
  {
    name: 'acceptor-does-not-check-the-proof',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: "const secret = matchingSecret(secrets, codes, 'dialler', exchange);",
    replace:
      "const secret = matchingSecret(secrets, codes, 'dialler', exchange) ?? secrets[0] ?? null;",
    breaks: 'who does not know the secret is no member',
    scenario: { file: EXCHANGE, name: 'by another secret is refused by both sides' },
  },
  {
    name: 'dialler-does-not-check-the-proof',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: 'if (matching === null) return',
    replace: 'if (matching === null && codes.length === 0) return',
    breaks: 'a member speaks to nobody who does not know the secret',
    scenario: { file: EXCHANGE, name: 'by another secret is refused by both sides' },
  },
  {
    name: 'proof-does-not-cover-the-direction',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: `authentication 1 \${role} \${dialler}`,
    replace: `authentication 1 \${role.length > 0} \${dialler}`,
    breaks: 'a proof that is sent back to its sender proves nothing',
    scenario: {
      file: EXCHANGE,
      name: 'of a member without an ensemble is refused by that member, to which it is reflected',
    },
  },
  {
    name: 'proof-does-not-cover-the-challenge',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: '.update(acceptorNonce);',
    replace: '.update(acceptorNonce.subarray(0, 0));',
    breaks: 'a recorded proof is worth nothing on another link',
    scenario: { file: EXCHANGE, name: 'that was recorded is refused after another challenge' },
  },
  {
    name: 'proof-does-not-cover-the-id',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: `\${role} \${dialler} \${acceptor} \``,
    replace: `\${role} \${dialler < 0} \${acceptor} \``,
    breaks: 'a member proves that it is the one that it claims to be',
    scenario: { file: EXCHANGE, name: 'by another member is refused after the same challenge' },
  },
  {
    name: 'proof-does-not-cover-whom-it-is-for',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: `\${dialler} \${acceptor} \``,
    replace: `\${dialler} \${acceptor < 0} \``,
    breaks: 'a proof for one member is worth nothing at another',
    scenario: { file: EXCHANGE, name: 'for another member is refused after the same challenge' },
  },
  {
    name: 'hello-needs-no-proof',
    area: 'named',
    file: 'net/peer-admission.ts',
    find: "if (message.kind === 'hello' && !this.needsProof) {",
    replace: "if (message.kind === 'hello') {",
    breaks: 'where proofs are required nobody is judged by a hello alone',
    scenario: {
      file: ADMISSION,
      name: 'that sends a hello gets one sentence at most, and no event is told',
    },
  },
  {
    name: 'hello-may-differ-from-its-proof',
    area: 'named',
    file: 'net/peer-authentication.ts',
    find: 'return proven.id === id && ',
    replace: 'return id > 0 && ',
    breaks: 'a member that has proved its id speaks as no other one',
    scenario: { file: ADMISSION, name: 'that has been proved cannot speak as another member' },
  },
  {
    name: 'strangers-are-not-bounded',
    area: 'named',
    file: 'net/peer-admission.ts',
    find: 'new FairSlots(parts.unprovenMax)',
    replace: 'new FairSlots(parts.unprovenMax * 1_000)',
    breaks: 'connections that have proved nothing have a bound',
    scenario: {
      file: ADMISSION,
      name: 'cannot make a member hold more than a few connections, however it is answered',
    },
  },
  {
    name: 'any-certificate-is-every-member',
    area: 'named',
    file: 'net/peer-certificate.ts',
    find: 'if (isNamed(certificate, host)) return null;',
    replace: "if (isNamed(certificate, host) || host !== '') return null;",
    breaks: 'a certificate is that of the member whose host it names',
    scenario: {
      file: CERTIFICATE,
      name: 'a certificate with the host of another member is not',
    },
  },
  {
    name: 'wildcard-is-every-member',
    area: 'named',
    file: 'net/peer-certificate.ts',
    find: 'wildcards: false',
    replace: 'wildcards: true',
    breaks: 'a certificate for a whole domain is that of no member',
    scenario: {
      file: CERTIFICATE,
      name: 'a certificate with a wildcard for all members is not',
    },
  },
  {
    name: 'uri-of-another-ensemble-is-passed-over',
    area: 'named',
    file: 'net/peer-certificate.ts',
    find: `    return \`its certificate is not that of member \${id} of this ensemble\`;\n`,
    replace: '',
    breaks: 'two ensembles under one authority stay apart',
    scenario: {
      file: CERTIFICATE,
      name: 'a certificate with the URI of another ensemble, and the host is not',
    },
  },
];

const ofClients: readonly NamedMutant[] = [
  {
    name: 'certificate-is-believed-unverified',
    area: 'named',
    file: 'net/tls-acceptor.ts',
    find: 'if (certificate !== undefined && !this.#isTrusted(socket)) {',
    replace:
      "if (certificate !== undefined && options.clientAuth === 'need' && " +
      '!this.#isTrusted(socket)) {',
    breaks: 'the identity of a certificate is believed after an authority has been found for it',
    scenario: {
      file: ACCEPTOR,
      name: 'with want: takes a client without a certificate and with a good one, and no bad one',
    },
  },
  {
    name: 'pkcs12-authorities-are-trusted',
    area: 'named',
    file: 'net/tls-acceptor.ts',
    find: 'if (!this.#material.isPkcs12) return true;',
    replace: 'if (socket.authorized) return true;',
    breaks: 'only the authorities of caFile sign certificates of clients',
    scenario: {
      file: ACCEPTOR,
      name: 'trusts the authorities of caFile alone, whatever else a PKCS#12 file contains',
    },
  },
  {
    name: 'handshakes-are-not-bounded',
    area: 'named',
    file: 'net/tls-acceptor.ts',
    find: 'slots.add(pending)?.evict();',
    replace: 'slots.add(pending);',
    breaks: 'the handshakes under way have a bound',
    scenario: {
      file: ACCEPTOR,
      name: 'ends a handshake that does not come to an end, and bounds how many are under way',
    },
  },
  {
    name: 'enforced-authentication-forgets-an-opcode',
    area: 'named',
    file: 'pipeline/requests.ts',
    find: 'opcode !== OpCode.auth && classOf',
    replace: 'opcode !== OpCode.auth && opcode !== OpCode.getData && classOf',
    breaks: 'who must authenticate and has not gets nothing',
    scenario: {
      file: SASL,
      name: 'answers -124 to opcode 4 of who has proved nothing where that is asked, and ends',
    },
  },
  {
    name: 'any-scheme-is-enough',
    area: 'named',
    file: 'pipeline/connection.ts',
    find: 'identities.some(({ scheme }) => this.#admission.has(scheme))',
    replace: "identities.some(({ scheme }) => scheme !== 'ip' && this.#admission.size > 0)",
    breaks: 'only the schemes of enforceAuth let a client in',
    scenario: { file: SASL, name: 'asks for one of the schemes, and for no other' },
  },
  {
    name: 'super-user-by-name',
    area: 'named',
    file: 'pipeline/identities.ts',
    find: "if (scheme === 'digest' && id === superDigest) return true;",
    replace:
      "if (scheme === 'digest' && id.split(':')[0] === superDigest?.split(':')[0]) return true;",
    breaks: 'the super user is who knows the password',
    scenario: {
      file: IDENTITIES,
      name: 'is the super user with the password that the operator chose, and only then',
    },
  },
  {
    name: 'sasl-exchange-is-shared',
    area: 'named',
    file: 'security/digest-md5.ts',
    find: '    const nonce = this.#newNonce();\n',
    replace:
      '    const nonce = REALM;\n    if (this.#newNonce().length === 0) throw new Error();\n',
    breaks: 'a response is worth nothing on another connection (ZOOKEEPER-4839)',
    scenario: { file: DIGEST_MD5, name: 'takes one response for each nonce, right or wrong' },
  },
  {
    name: 'sasl-response-may-be-tried-again',
    area: 'named',
    file: 'security/digest-md5.ts',
    find: "            step = 'over';\n",
    replace: '',
    breaks: 'one response is judged for each challenge',
    scenario: { file: DIGEST_MD5, name: 'takes one response for each nonce, right or wrong' },
  },
  {
    name: 'sasl-takes-an-unknown-user',
    area: 'named',
    file: 'security/digest-md5.ts',
    find: 'if (!isRight || known === undefined) return',
    replace: 'if (!isRight && known !== undefined) return',
    breaks: 'nobody is a user who is not in the file',
    scenario: { file: DIGEST_MD5, name: 'refuses an unknown user' },
  },
  {
    name: 'secret-may-be-open-to-others',
    area: 'named',
    file: 'security/secret-file.ts',
    find: 'if ((mode & forbidden) !== 0) {',
    replace: 'if ((mode & forbidden) === 0o777) {',
    breaks: 'a file that other users can read is no secret',
    scenario: {
      file: SECRET_FILE,
      name: 'refuses a secret of mode 420 with what mends it, and reads it where it is none',
    },
  },
];

export const authenticationMutants: readonly NamedMutant[] = [...ofMembers, ...ofClients];
