/**
 * The certificate of an ensemble that speaks TLS: one for all members, signed by itself, for the
 * address on which they listen. The program `openssl` makes it; a bench without TLS needs none.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** A file with the key and the certificate. */
  readonly bothFile: string;
  /** What clients trust, in PEM. */
  readonly ca: string;
}

/** Writes it into the directory, unless it is there already. */
export function certificateIn(directory: string, address: string): Certificate {
  const file = (name: string) => join(directory, name);
  const [certFile, keyFile, bothFile] = [file('tls.pem'), file('tls.key'), file('tls-both.pem')];
  if (!existsSync(bothFile)) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const names = ['-subj', '/CN=bench', '-addext', `subjectAltName=IP:${address}`];
    const files = ['-keyout', keyFile, '-out', certFile];
    execFileSync('openssl', ['req', '-x509', ...key, ...names, '-days', '30', ...files], {
      stdio: 'pipe',
    });
    chmodSync(keyFile, 0o600);
    const both = Buffer.concat([readFileSync(keyFile), readFileSync(certFile)]);
    writeFileSync(bothFile, both, { mode: 0o600 });
  }
  return { certFile, keyFile, bothFile, ca: readFileSync(certFile, 'utf8') };
}
