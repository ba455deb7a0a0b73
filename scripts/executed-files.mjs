/**
 * Counts the files and functions of `server` and `protocol` that one request executes.
 *
 * Three members run in this process with heartbeats a minute apart, the client in a thread of its
 * own, so V8's precise coverage of this thread contains the members only. Each request is sent nine
 * times through a follower, each time between two readings of the coverage, and the reading with
 * the fewest files counts: timers that fire meanwhile can only add files. The start of a member is
 * one reading, from before its construction until it serves, without what modules execute while
 * they are loaded. The harness that holds the members, `server/src/testing`, is left out.
 *
 *   npm run executed-files -- [--files]
 */
import { Session } from 'node:inspector/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const COUNTED = ['server', 'protocol'].map((name) => `${pathToFileURL(join(ROOT, name, 'dist'))}/`);
const HARNESS = `${COUNTED[0]}testing/`;
const RUNS = 9;
/** Every part of a request has been executed by then: acknowledgements, delivery, buffers. */
const SETTLED_MS = 300;
const REQUESTS = {
  setData: (client) => client.setData('/counted', Buffer.from('value')),
  getData: (client) => client.getData('/counted'),
};

if (isMainThread) await count();
else await serveRequests();

async function count() {
  const { startEnsemble } = await import('../server/dist/testing/index.js');
  const ensemble = await startEnsemble({
    settings: { peerHeartbeatMs: 60_000, peerTimeoutMs: 600_000 },
  });
  try {
    const leader = await ensemble.leader();
    const follower = ensemble.members.find((member) => member !== leader);
    const coverage = await preciseCoverage();
    for (const kind of Object.keys(REQUESTS)) {
      report(`${kind} through a follower`, await smallest(kind, follower, coverage));
    }
    await coverage.executed();
    await ensemble.restart(follower.id);
    report('start of a follower', await coverage.executed());
  } finally {
    await ensemble.stop();
  }
}

/** The reading with the fewest files of nine. */
async function smallest(kind, member, coverage) {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { address: member.clientAddress },
  });
  try {
    await answer(worker);
    const readings = [];
    for (let run = 0; run < RUNS; run += 1) {
      await settled();
      await coverage.executed();
      worker.postMessage(kind);
      await answer(worker);
      await settled();
      readings.push(await coverage.executed());
    }
    return readings.reduce((best, one) => (one.size < best.size ? one : best));
  } finally {
    await worker.terminate();
  }
}

function answer(worker) {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

function settled() {
  return new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
}

async function preciseCoverage() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    /** The functions executed since the last call, by file. */
    async executed() {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const files = new Map();
      for (const { url, functions } of result) {
        if (!COUNTED.some((prefix) => url.startsWith(prefix)) || url.startsWith(HARNESS)) continue;
        const called = functions.filter(({ ranges }) => ranges[0].count > 0);
        if (called.length > 0) files.set(url, called.length);
      }
      return files;
    },
  };
}

function report(what, files) {
  const functions = [...files.values()].reduce((sum, one) => sum + one, 0);
  console.log(`${what}: ${files.size} files, ${functions} functions`);
  if (!process.argv.includes('--files')) return;
  const prefix = `${pathToFileURL(ROOT)}/`;
  for (const [url, calls] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(
      `  ${url.slice(prefix.length).replace('/dist/', '/src/').replace(/js$/, 'ts')} ${calls}`,
    );
  }
}

async function serveRequests() {
  const { connect } = await import('../client/dist/index.js');
  // A timeout that needs no ping while requests are counted.
  const client = await connect(workerData.address, { sessionTimeoutMs: 40_000 });
  if ((await client.exists('/counted')) === null) await client.create('/counted', Buffer.alloc(0));
  parentPort.on('message', async (kind) => {
    await REQUESTS[kind](client);
    parentPort.postMessage('done');
  });
  parentPort.postMessage('ready');
}
