/**
 * Service discovery: two instances register, a client chooses among them, and one goes.
 *
 *   node discovery.ts 127.0.0.1:2181
 *
 * Here all three are in one process; they need not be. The instances are registered for as long as
 * their client has a session: kill a process, and its instances go when the session has expired.
 */
import { connect, ServiceDiscovery } from '@rookery/client';

interface Payload {
  readonly weight: number;
}

const [servers = '127.0.0.1:2181'] = process.argv.slice(2);
await using zk = await connect(servers);
await using services = new ServiceDiscovery<Payload>(zk, '/examples/services');
const first = { name: 'web', id: 'ann', address: '10.0.0.7', port: 80, payload: { weight: 1 } };
await services.register(first);
await services.register({ ...first, id: 'bob', address: '10.0.0.8' });

await using cache = services.cache('web');
await cache.ready();
console.log('found', cache.instances.map(({ id }) => id).join(' '));
const isAlone = new Promise<void>((resolve) => {
  cache.listen((instances) => {
    if (instances.length === 1) resolve();
  });
});
await services.unregister(first);
await isAlone;

await using provider = services.provider('web');
await provider.ready();
const chosen = provider.next();
console.log('calls', chosen?.id, 'at', `${chosen?.address}:${chosen?.port}`);
