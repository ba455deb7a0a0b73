/**
 * A web crawler's queue: every page is fetched by somebody and stored once, whoever dies.
 *
 *   node crawler.js 127.0.0.1:2181 work                              in two or more terminals
 *   node crawler.js 127.0.0.1:2181 add http://a.example/ http://b.example/        in one more
 *
 * A worker takes a URL, which locks it, prints "fetching", and "stored" when the page is stored and
 * the URL gone, both in one transaction. Kill a worker with -9 while it fetches: another takes the
 * URL when the session of the dead one has timed out, after 6 seconds. Ctrl-C lets it finish first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePath, LockingQueue } from '@rookery/client';
import { run } from './frame.js';

const PAGES = '/examples/pages';

await run(async (zk, signal, [command = 'work', ...urls]) => {
  const queue = new LockingQueue(zk, '/examples/crawl');
  if (command === 'add') {
    await queue.putAll(urls, { signal });
    console.log('added', urls.length);
    return;
  }
  await ensurePath(zk, PAGES);
  // A page that cannot be fetched goes to the end of the queue; more at once with `concurrency`.
  await queue.consume(crawl, { signal, onError: 'requeue' });
});

/** @param {import('@rookery/client').HeldEntry} entry */
async function crawl(entry) {
  const url = String(entry.data);
  console.log('fetching', url);
  const page = await fetchPage(url, entry.lease.signal);
  const data = JSON.stringify({ url, page });
  await entry.done([
    { kind: 'create', path: `${PAGES}/page-`, data, mode: 'persistentSequential' },
  ]);
  console.log('stored', url);
}

/**
 * Instead of the real thing: await fetch(url, { signal }).
 *
 * @param {string} url
 * @param {AbortSignal} signal that of the lease: somebody else may fetch the page once it is aborted
 */
async function fetchPage(url, signal) {
  await sleep(500, undefined, { signal });
  return `the page at ${url}`;
}
