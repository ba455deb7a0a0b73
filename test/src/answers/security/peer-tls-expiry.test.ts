/**
 * Goal: a member whose certificate has expired is refused by the others, whichever side dials, both
 * sides log it, and a renewed file lets it in without a restart. Method: member 2 has such a
 * certificate from its start on, so that nothing waits for the time; it dials member 1, and member
 * 3 dials it. The ensemble is a new one, and all members have to meet in order to found it.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useEnsemble } from '../../harness/ensemble.js';
import { configurePeerAuth } from '../../harness/peer-auth.js';
import { productUnderTest } from '../../harness/product.js';
import { TestAuthority } from '../../simulated.js';

const DEADLINE_MS = 30_000;
const TEST_MS = 90_000;
const EXTENSIONS = 'subjectAltName=IP:127.0.0.1';

it.skipIf(productUnderTest().name === 'apache')(
  'members refuse one whose certificate has expired, say why, and let it in with a new file',
  async () => {
    const ensemble = await useEnsemble();
    const directory = join(ensemble.directory, 'authority');
    mkdirSync(directory);
    const authority = new TestAuthority(directory);
    const good = authority.sign('good', { extensions: EXTENSIONS });
    const ended = authority.sign('ended', { extensions: EXTENSIONS, days: 0 });
    for (const member of ensemble.members) {
      const { certFile, keyFile } = member.id === 2 ? ended : good;
      const tls = { certFile, keyFile, caFile: authority.caFile };
      configurePeerAuth(ensemble, member, { tls });
    }
    const [first, second, third] = [1, 2, 3].map((id) => ensemble.member(id));
    if (first === undefined || second === undefined || third === undefined) {
      throw new Error('there are three members');
    }
    ensemble.start();
    await Promise.all([
      first.waitForLog(/bad_certificate.*CERT_HAS_EXPIRED.*tls\.refused/, DEADLINE_MS),
      second.waitForLog(/tls\.certificate_expired/, DEADLINE_MS),
      second.waitForLog(/"peer":1,.*tls\.refused.*peer\.unreachable/, DEADLINE_MS),
      second.waitForLog(/"kind":"closed".*tls\.refused/, DEADLINE_MS),
      third.waitForLog(/"peer":2,.*certificate has expired.*peer\.unreachable/, DEADLINE_MS),
    ]);
    expect(await second.status()).toBeUndefined();

    copyFileSync(good.certFile, ended.certFile);
    copyFileSync(good.keyFile, ended.keyFile);
    await ensemble.serving([1, 2, 3]);
    expect(second.log()).toMatch(/certificate of peerAuth.*files\.reloaded/);
  },
  TEST_MS,
);
