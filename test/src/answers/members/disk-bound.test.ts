/**
 * Writes without end need a bounded amount of disk.
 *
 * The test takes a third of a minute by default, with limits of the log that are so small that the
 * bound is exceeded several times over if nothing is given back; `ROOKERY_DISK_BOUND_MINUTES=10`
 * runs for ten minutes with the real limits. The size of the data directories is checked all the
 * time, not only at the end.
 */
import { expect, it } from 'vitest';
import { bulk, fillTree } from '../../harness/bulk.js';
import { bytesOnDisk } from '../../harness/disk.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { sendSetData } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { Random } from '../../harness/random.js';
import { connectTo } from '../../harness/use-client.js';
import { ConnectionLost } from '../../harness/wire-client.js';

const MEGABYTE = 1_048_576;
const minutes = Number(process.env['ROOKERY_DISK_BOUND_MINUTES'] ?? 1 / 3);
const isShort = minutes <= 1;
/** The tree itself takes about 5 MB. */
const TREE = { parent: '/disk', count: 2_000, bytes: 1_000 };
/**
 * For each member: what the log keeps and one segment being written, the tree twice, and LevelDB.
 */
const BOUND_BYTES = (isShort ? 96 : 384) * MEGABYTE;
const CHUNK = 256;

it.skipIf(productUnderTest().name === 'apache')(
  `${Math.round(minutes * 60)} s of writes leave every member's disk under ${BOUND_BYTES / MEGABYTE} MB`,
  async () => {
    const random = Random.forTest('disk-bound');
    const small = { ROOKERY_LOG_KEEP_BYTES: '4194304', ROOKERY_LOG_SEGMENT_BYTES: '2097152' };
    const ensemble = await useServingEnsemble(isShort ? { environment: small } : {});
    const filler = await connectTo(ensemble.member(1));
    await fillTree(filler, TREE);
    await filler.close();

    const end = performance.now() + minutes * 60_000;
    const data = Buffer.from(random.bytes(TREE.bytes / 2)).toString('hex');
    let writes = 0;
    let largest = 0;
    // What a slow machine writes in this time may prove nothing; it then takes longer.
    const goesOn = () => performance.now() < end || writes * TREE.bytes <= 2 * BOUND_BYTES;
    const writeOn = async (member: Member): Promise<void> => {
      const client = await connectTo(member, { recording: false });
      while (goesOn() && client.open) {
        const salt = random.below(2 ** 32).toString(36);
        await bulk(CHUNK, client, () => {
          const path = `${TREE.parent}/${random.below(TREE.count)}`;
          return sendSetData(client, path, salt + data);
        });
        writes += CHUNK;
        const sizes = ensemble.members.map(({ dataDir }) => bytesOnDisk(dataDir));
        largest = Math.max(largest, ...sizes);
      }
      await client.close();
    };
    await Promise.all(
      ensemble.members.map(async (member) => {
        // A change of the leader under load costs only the connection and does not fail the test.
        while (goesOn()) await writeOn(member).catch(ignoreConnectionLost);
      }),
    );

    const written = writes * TREE.bytes;
    const megabytes = (bytes: number) => `${(bytes / MEGABYTE).toFixed(0)} MB`;
    console.log(
      `disk-bound: ${writes} writes, ${megabytes(written)}; at most ${megabytes(largest)}`,
    );
    expect(written, 'with fewer writes the test proves nothing').toBeGreaterThan(2 * BOUND_BYTES);
    expect(largest).toBeLessThan(BOUND_BYTES);
    await ensemble.sameState();
  },
  minutes * 60_000 + 120_000,
);

function ignoreConnectionLost(error: unknown): void {
  if (!(error instanceof ConnectionLost)) throw error;
}
