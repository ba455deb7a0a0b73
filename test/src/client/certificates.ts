/**
 * Certificates for a test, made by openssl: an authority, a server called `localhost`, a client.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificates {
  readonly ca: Buffer;
  readonly caFile: string;
  readonly server: { readonly cert: Buffer; readonly key: Buffer };
  readonly client: { readonly cert: Buffer; readonly key: Buffer };
}

/** Written to the directory, which is the caller's to remove. */
export function makeCertificates(directory: string): Certificates {
  const file = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-subj', '/CN=authority', '-days', '2'],
    ...['-keyout', file('ca.key'), '-out', file('ca.pem')],
  );
  const signed = (name: string, extension: string) => {
    openssl(
      ...['req', ...newKey, '-subj', `/CN=${name}`],
      ...['-keyout', file(`${name}.key`), '-out', file(`${name}.csr`)],
    );
    writeFileSync(file(`${name}.ext`), extension);
    openssl(
      ...['x509', '-req', '-in', file(`${name}.csr`), '-days', '2', '-CAcreateserial'],
      ...['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-extfile', file(`${name}.ext`)],
      ...['-out', file(`${name}.pem`)],
    );
    return { cert: readFileSync(file(`${name}.pem`)), key: readFileSync(file(`${name}.key`)) };
  };
  const server = signed('localhost', 'subjectAltName=DNS:localhost\n');
  const client = signed('client', 'extendedKeyUsage=clientAuth\n');
  return { ca: readFileSync(file('ca.pem')), caFile: file('ca.pem'), server, client };
}
