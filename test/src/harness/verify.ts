/**
 * Compares the ledger of a write load with what every member really has.
 *
 * Each member is read after a sync of its own, so that a member that lags is not mistaken for one
 * that lost something. A write with an unknown outcome may exist or not, but must be the same
 * everywhere.
 */
import { expect } from 'vitest';
import type { Ensemble } from './ensemble.js';
import type { Member } from './member.js';
import { getChildren, sync } from './operations.js';
import { until } from './wait.js';
import { WireClient } from './wire-client.js';
import type { Ledger } from './write-load.js';

const READ_DEADLINE_MS = 20_000;

/** Checks that all digests are equal and that every ledger is right on every running member. */
export async function expectNothingLost(
  ensemble: Ensemble,
  ledgers: readonly Ledger[],
): Promise<void> {
  // All findings are collected first: which members lack a write says more than the first that
  // does.
  const findings: string[] = [];
  for (const member of ensemble.running) {
    for (const ledger of ledgers) {
      const found = findingsOf(ledger, await namesAt(member, ledger.parent));
      findings.push(...found.map((text) => `member ${member.id}, ${ledger.parent}: ${text}`));
    }
  }
  expect(findings).toEqual([]);
  await ensemble.sameState();
}

/** The read is repeated if the connection ends, as it does when the member changes its role. */
function namesAt(member: Member, parent: string): Promise<ReadonlySet<string>> {
  return until(`${parent} is read at member ${member.id}`, READ_DEADLINE_MS, async () => {
    const client = await WireClient.connect({ port: member.clientPort });
    try {
      await sync(client);
      return new Set(await getChildren(client, parent));
    } finally {
      await client.drop();
    }
  });
}

function findingsOf(ledger: Ledger, present: ReadonlySet<string>): string[] {
  const findings: string[] = [];
  const lost = [...ledger.acknowledged].filter(([name]) => !present.has(name));
  if (lost.length > 0) {
    const zxids = lost.map(([name, zxid]) => `${name}@${zxid.toString(16)}`);
    findings.push(`${lost.length} acknowledged but lost: ${summary(zxids)}`);
  }
  const unwanted = [...ledger.refused].filter((name) => present.has(name));
  if (unwanted.length > 0) {
    findings.push(`${unwanted.length} refused but present: ${summary(unwanted)}`);
  }
  const known = ledger.acknowledged.size + ledger.unknown.size;
  if (present.size > known) findings.push(`${present.size} present, but only ${known} requested`);
  return findings;
}

/** The first few and the last one, because a whole list would bury the rest of the report. */
function summary(names: readonly string[]): string {
  return names.length <= 6 ? names.join(' ') : `${names.slice(0, 5).join(' ')} ... ${names.at(-1)}`;
}
