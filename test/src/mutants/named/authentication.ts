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
    in: 'AcceptorAuthentication.#onProof',
    find: "const secret = matchingSecret(secrets, codes, 'dialler', exchange);",
    replace:
      "const secret = matchingSecret(secrets, codes, 'dialler', exchange) ?? secrets[0] ?? null;",
    breaks: 'who does not know the secret is no member',
    scenario: { file: EXCHANGE, name: 'by another secret is refused by both sides' },
  },
  {
    name: 'dialler-does-not-check-the-proof',
    area: 'named',
    in: 'DiallerAuthentication.#onProof',
    find: "if (matching === null) return { kind: 'refused', reason: WRONG_SECRET };",
    replace:
      "if (matching === null && codes.length === 0) return { kind: 'refused', reason: WRONG_SECRET };",
    breaks: 'a member speaks to nobody who does not know the secret',
    scenario: { file: EXCHANGE, name: 'by another secret is refused by both sides' },
  },
  {
    name: 'proof-does-not-cover-the-direction',
    area: 'named',
    in: 'codeOf',
    find: `hmac.update(\`rookery peer authentication 1 \${role} \${dialler} \${acceptor} \`);`,
    replace: `hmac.update(\`rookery peer authentication 1 \${role.length > 0} \${dialler} \${acceptor} \`);`,
    breaks: 'a proof that is sent back to its sender proves nothing',
    scenario: {
      file: EXCHANGE,
      name: 'of a member without an ensemble is refused by that member, to which it is reflected',
    },
  },
  {
    name: 'proof-does-not-cover-the-challenge',
    area: 'named',
    in: 'codeOf',
    find: 'hmac.update(diallerNonce).update(acceptorNonce);',
    replace: 'hmac.update(diallerNonce).update(acceptorNonce.subarray(0, 0));',
    breaks: 'a recorded proof is worth nothing on another link',
    scenario: { file: EXCHANGE, name: 'that was recorded is refused after another challenge' },
  },
  {
    name: 'proof-does-not-cover-the-id',
    area: 'named',
    in: 'codeOf',
    find: `hmac.update(\`rookery peer authentication 1 \${role} \${dialler} \${acceptor} \`);`,
    replace: `hmac.update(\`rookery peer authentication 1 \${role} \${dialler < 0} \${acceptor} \`);`,
    breaks: 'a member proves that it is the one that it claims to be',
    scenario: { file: EXCHANGE, name: 'by another member is refused after the same challenge' },
  },
  {
    name: 'proof-does-not-cover-whom-it-is-for',
    area: 'named',
    in: 'codeOf',
    find: `hmac.update(\`rookery peer authentication 1 \${role} \${dialler} \${acceptor} \`);`,
    replace: `hmac.update(\`rookery peer authentication 1 \${role} \${dialler} \${acceptor < 0} \`);`,
    breaks: 'a proof for one member is worth nothing at another',
    scenario: { file: EXCHANGE, name: 'for another member is refused after the same challenge' },
  },
  {
    name: 'hello-needs-no-proof',
    area: 'named',
    in: 'PeerAdmission.onMessage',
    find: "if (message.kind === 'hello' && !this.needsProof) $BODY",
    replace: "if (message.kind === 'hello') $BODY",
    breaks: 'where proofs are required nobody is judged by a hello alone',
    scenario: {
      file: ADMISSION,
      name: 'that sends a hello gets one sentence at most, and no event is told',
    },
  },
  {
    name: 'hello-may-differ-from-its-proof',
    area: 'named',
    in: 'isProvenBy',
    find: 'return proven.id === id && (proven.ensembleId ?? ensembleId) === ensembleId;',
    replace: 'return id > 0 && (proven.ensembleId ?? ensembleId) === ensembleId;',
    breaks: 'a member that has proved its id speaks as no other one',
    scenario: { file: ADMISSION, name: 'that has been proved cannot speak as another member' },
  },
  {
    name: 'strangers-are-not-bounded',
    area: 'named',
    in: 'PeerAdmission.constructor',
    find: 'this.#unproven = new FairSlots(member.unprovenMax);',
    replace: 'this.#unproven = new FairSlots(member.unprovenMax * 1_000);',
    breaks: 'connections that have proved nothing have a bound',
    scenario: {
      file: ADMISSION,
      name: 'cannot make a member hold more than a few connections, however it is answered',
    },
  },
  {
    name: 'any-certificate-is-every-member',
    area: 'named',
    in: 'certificateProblem',
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
    in: 'isNamed',
    find: "return certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;",
    replace:
      "return certificate.checkHost(name, { subject: 'never', wildcards: true }) !== undefined;",
    breaks: 'a certificate for a whole domain is that of no member',
    scenario: {
      file: CERTIFICATE,
      name: 'a certificate with a wildcard for all members is not',
    },
  },
  {
    name: 'uri-of-another-ensemble-is-passed-over',
    area: 'named',
    in: 'certificateProblem',
    find: `{
        if (ensemble !== null && uris.includes(\`rookery://\${ensemble}/\${id}\`)) return null;
        return \`its certificate is not that of member \${id} of this ensemble\`;
      }`,
    replace: `{
        if (ensemble !== null && uris.includes(\`rookery://\${ensemble}/\${id}\`)) return null;
      }`,
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
    in: 'TlsAcceptor.#onSecured',
    find: 'if (certificate !== undefined && !this.#isTrusted(socket)) $BODY',
    replace:
      "if (certificate !== undefined && clientAuth === 'need' && !this.#isTrusted(socket)) $BODY",
    breaks: 'the identity of a certificate is believed after an authority has been found for it',
    scenario: {
      file: ACCEPTOR,
      name: 'with want: takes a client without a certificate and with a good one, and no bad one',
    },
  },
  {
    name: 'pkcs12-authorities-are-trusted',
    area: 'named',
    in: 'TlsAcceptor.#isTrusted',
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
    in: 'TlsAcceptor.accept',
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
    in: 'Requests.#run',
    find: '!connection.isAdmitted && opcode !== OpCode.auth',
    replace: '!connection.isAdmitted && opcode !== OpCode.auth && opcode !== OpCode.getData',
    breaks: 'who must authenticate and has not gets nothing',
    scenario: {
      file: SASL,
      name: 'answers -124 to opcode 4 of who has proved nothing where that is asked, and ends',
    },
  },
  {
    name: 'any-scheme-is-enough',
    area: 'named',
    in: 'Connection.becomes',
    find: 'this.isAdmitted ||= identities.some(({ scheme }) => this.#admission.has(scheme));',
    replace:
      "this.isAdmitted ||= identities.some(({ scheme }) => scheme !== 'ip' && this.#admission.size > 0);",
    breaks: 'only the schemes of enforceAuth let a client in',
    scenario: { file: SASL, name: 'asks for one of the schemes, and for no other' },
  },
  {
    name: 'super-user-by-name',
    area: 'named',
    in: 'Authenticator.#isSuper',
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
    in: 'DigestMd5Server.begin',
    find: 'const nonce = this.#newNonce();',
    replace: `const nonce = REALM;
      if (this.#newNonce().length === 0) throw new Error();`,
    breaks: 'a response is worth nothing on another connection (ZOOKEEPER-4839)',
    scenario: { file: DIGEST_MD5, name: 'takes one response for each nonce, right or wrong' },
  },
  {
    name: 'sasl-response-may-be-tried-again',
    area: 'named',
    in: 'DigestMd5Server.begin',
    find: "step = 'over';",
    replace: '',
    breaks: 'one response is judged for each challenge',
    scenario: { file: DIGEST_MD5, name: 'takes one response for each nonce, right or wrong' },
  },
  {
    name: 'sasl-takes-an-unknown-user',
    area: 'named',
    in: 'DigestMd5Server.#judge',
    find: 'if (!isRight || known === undefined) return refused($TEXT);',
    replace: 'if (!isRight && known !== undefined) return refused($TEXT);',
    breaks: 'nobody is a user who is not in the file',
    scenario: { file: DIGEST_MD5, name: 'refuses an unknown user' },
  },
  {
    name: 'secret-may-be-open-to-others',
    area: 'named',
    in: 'accessProblem',
    find: 'if ((mode & forbidden) !== 0) $BODY',
    replace: 'if ((mode & forbidden) === 0o777) $BODY',
    breaks: 'a file that other users can read is no secret',
    scenario: {
      file: SECRET_FILE,
      name: 'refuses a secret of mode 420 with what mends it, and reads it where it is none',
    },
  },
];

export const authenticationMutants: readonly NamedMutant[] = [...ofMembers, ...ofClients];
