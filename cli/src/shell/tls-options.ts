/**
 * The options by which commands connect by TLS. They load nothing: the table of commands names
 * them before it is known which command runs. `client-proofs.ts` reads what they say.
 */

/** Each of them says that connections are by TLS. */
export const TLS_OPTIONS = [
  { flags: '--tls', description: 'connect with TLS (or ROOKERY_TLS=1)' },
  { flags: '--tls-ca <file>', description: 'trusted authorities, in PEM (or ROOKERY_TLS_CA)' },
  { flags: '--tls-cert <file>', description: 'client certificate, in PEM (or ROOKERY_TLS_CERT)' },
  { flags: '--tls-key <file>', description: 'its key, in PEM (or ROOKERY_TLS_KEY)' },
] as const;
