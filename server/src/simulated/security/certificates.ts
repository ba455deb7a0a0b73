/**
 * Certificates for tests, made by openssl in a directory of the test: an authority and what it
 * signs. Keys have mode 0600.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate and its key, as files and as bytes. */
export interface TestCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface SignOptions {
  /** As `openssl req -subj` takes it; default `/CN=` and the name. */
  readonly subject?: string;
  /** Lines of an extension section, such as `subjectAltName=DNS:localhost`. */
  readonly extensions?: string;
  /** Default 2. A certificate of less than a day has ended already. */
  readonly days?: number;
  /** When it ends, in place of `days`; fractions of a second do not count. */
  readonly endsWallMs?: number;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

export class TestAuthority {
  readonly #directory: string;
  readonly #name: string;

  /** Files are written to the directory, which is the caller's to remove. */
  constructor(directory: string, name = 'authority', days = 2) {
    this.#directory = directory;
    this.#name = name;
    openssl(
      ...['req', '-x509', ...NEW_KEY, '-subj', `/CN=${name}`, '-days', `${days}`, '-utf8'],
      ...['-keyout', this.#file('key'), '-out', this.caFile],
    );
  }

  get caFile(): string {
    return this.#file('pem');
  }

  get ca(): Buffer {
    return readFileSync(this.caFile);
  }

  /** A server's certificate for `localhost` and 127.0.0.1. */
  server(name = 'server'): TestCertificate {
    return this.sign(name, { extensions: 'subjectAltName=DNS:localhost,IP:127.0.0.1' });
  }

  /** A client's certificate. */
  client(name = 'client', subject = `/CN=${name}`): TestCertificate {
    return this.sign(name, { subject, extensions: 'extendedKeyUsage=clientAuth' });
  }

  sign(name: string, options: SignOptions = {}): TestCertificate {
    const { subject = `/CN=${name}`, extensions = 'basicConstraints=CA:FALSE', days = 2 } = options;
    const file = (suffix: string) => join(this.#directory, `${name}.${suffix}`);
    const shown = ['-subj', subject, '-utf8', '-multivalue-rdn'];
    openssl('req', ...NEW_KEY, ...shown, '-keyout', file('key'), '-out', file('csr'));
    writeFileSync(file('ext'), `${extensions}\n`);
    const signed = ['-in', file('csr'), '-extfile', file('ext'), '-out', file('pem')];
    if (options.endsWallMs === undefined) {
      const by = ['-CA', this.caFile, '-CAkey', this.#file('key'), '-CAcreateserial'];
      openssl('x509', '-req', '-days', `${days}`, ...by, ...signed);
    } else {
      const end = new Date(options.endsWallMs).toISOString().replace(/\.\d+|[-:T]/g, '');
      openssl('ca', ...this.#keeping(name), '-batch', '-notext', '-enddate', end, ...signed);
    }
    chmodSync(file('key'), 0o600);
    const [certFile, keyFile] = [file('pem'), file('key')];
    return { certFile, keyFile, cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }

  /** Writes a list in which these certificates are revoked, for two days, and returns its path. */
  revocationList(name: string, revoked: readonly TestCertificate[] = []): string {
    const file = (suffix: string) => join(this.#directory, `${name}.${suffix}`);
    const by = this.#keeping(name);
    for (const { certFile } of revoked) openssl('ca', ...by, '-revoke', certFile);
    openssl('ca', ...by, '-gencrl', '-out', file('crl'));
    return file('crl');
  }

  /** The options of `openssl ca` for this authority, with files of this name. */
  #keeping(name: string): readonly string[] {
    const file = (suffix: string) => join(this.#directory, `${name}.${suffix}`);
    writeFileSync(file('index'), '');
    writeFileSync(file('number'), '01\n');
    const config = [
      ...['[ca]', 'default_ca=own', '[own]'],
      ...[`database=${file('index')}`, `crlnumber=${file('number')}`, 'rand_serial=yes'],
      ...[`new_certs_dir=${this.#directory}`, 'unique_subject=no', 'policy=any'],
      ...['default_md=sha256', 'default_crl_days=2'],
      ...['[any]', 'commonName=supplied', 'organizationName=optional'],
    ];
    writeFileSync(file('cnf'), `${config.join('\n')}\n`);
    return ['-config', file('cnf'), '-cert', this.caFile, '-keyfile', this.#file('key')];
  }

  #file(suffix: string): string {
    return join(this.#directory, `${this.#name}.${suffix}`);
  }
}

/** Writes the certificate and its key as PKCS#12, and returns the path. */
export function writePkcs12(
  certificate: TestCertificate,
  passphrase: string,
  caFile?: string,
): string {
  const path = certificate.certFile.replace(/\.pem$/, '.p12');
  openssl(
    ...['pkcs12', '-export', '-in', certificate.certFile, '-inkey', certificate.keyFile],
    ...['-out', path, '-passout', `pass:${passphrase}`],
    ...(caFile === undefined ? [] : ['-certfile', caFile]),
  );
  chmodSync(path, 0o600);
  return path;
}
