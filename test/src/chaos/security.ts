/**
 * How the members of a run, and its clients, prove who they are: by the run's seed.
 *
 * Half of the runs have clients by TLS with certificates of their own, on the same port; members
 * have nothing, a secret, or certificates with their own names. Seed 1, which CI runs, has
 * certificates of both kinds. Makes the files and says what goes into the members' config and the
 * clients' options; they are used by Members and the run.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectOptions } from '@rookery/client';
import { TestAuthority } from '../simulated.js';
import type { Random } from '../simulation/random.js';

export interface SecurityPlan {
  readonly members: 'nothing' | 'secret' | 'certificates';
  readonly clientsByTls: boolean;
}

export interface Security {
  /** Keys of the member's config file. */
  settingsOf(id: number): Readonly<Record<string, unknown>>;
  readonly connectOptions: Pick<ConnectOptions, 'tls'>;
}

const ENSEMBLE = 'chaos';

export function planSecurity(random: Random): SecurityPlan {
  return {
    members: random
      .fork('security of members')
      .pick(['nothing', 'secret', 'certificates', 'certificates']),
    clientsByTls: random.fork('clients by TLS').chance(0.5),
  };
}

export function describeSecurity({ members, clientsByTls }: SecurityPlan): string {
  const way = clientsByTls ? 'by TLS' : 'in plain text';
  return `members prove themselves by ${members}, clients come ${way}`;
}

/** Writes the files of the plan into a folder of the directory. */
export function makeSecurity(
  plan: SecurityPlan,
  { directory, addressOf }: { directory: string; addressOf: (id: number) => string },
): Security {
  const folder = join(directory, 'security');
  mkdirSync(folder);
  const peerAuthOf = peerAuth(plan, folder);
  if (!plan.clientsByTls) {
    return { settingsOf: (id) => ({ peerAuth: peerAuthOf(id) }), connectOptions: {} };
  }
  const authority = new TestAuthority(folder, 'clients');
  const { cert, key } = authority.client();
  return {
    settingsOf: (id) => {
      const extensions = `subjectAltName=IP:${addressOf(id)}`;
      const { certFile, keyFile } = authority.sign(`server-${id}`, { extensions });
      const tls = { certFile, keyFile, caFile: authority.caFile, clientAuth: 'need' };
      return { peerAuth: peerAuthOf(id), tls: { ...tls, required: true } };
    },
    connectOptions: { tls: { ca: authority.ca, cert, key } },
  };
}

function peerAuth({ members }: SecurityPlan, folder: string): (id: number) => unknown {
  if (members === 'nothing') return () => 'none';
  if (members === 'secret') {
    const secretFile = join(folder, 'peer.secret');
    writeFileSync(secretFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    return () => ({ secretFile });
  }
  const authority = new TestAuthority(folder, 'members');
  return (id) => {
    const extensions = `subjectAltName=URI:rookery://${ENSEMBLE}/${id}`;
    const { certFile, keyFile } = authority.sign(`member-${id}`, { extensions });
    return { tls: { certFile, keyFile, caFile: authority.caFile, ensemble: ENSEMBLE } };
  };
}
