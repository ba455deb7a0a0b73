/**
 * Caches: follows a tree, and hears of each difference.
 *
 *   node caches.ts 127.0.0.1:2181
 */
import { connect, createRecursive, deleteRecursive, TreeCache } from '@rookery/client';

const [servers = '127.0.0.1:2181'] = process.argv.slice(2);
const PATH = `/examples/tree-${process.pid}`;
await using zk = await connect(servers);
await createRecursive(zk, `${PATH}/colour`, 'red');

await using cache = new TreeCache(zk, PATH);
await cache.ready();
console.log('colour is', String(cache.get(`${PATH}/colour`)?.data));
const isBlue = new Promise<void>((resolve) => {
  cache.listen((event) => {
    if (event.type === 'nodeChanged' && String(event.node.data) === 'blue') resolve();
  });
});
await zk.setData(`${PATH}/colour`, 'blue');
await isBlue;
console.log('colour is', String(cache.get(`${PATH}/colour`)?.data));
await cache.close();
await deleteRecursive(zk, PATH);
