/**
 * Reads the `server.N` lines of a zoo.cfg: `host:quorumPort:electionPort[:role][;clientPort]`.
 *
 * IPv6 addresses are in brackets, several addresses are separated by `|`, and the client's port may
 * have an address before it, as `;0.0.0.0:2181`.
 */

export interface ZooServer {
  readonly id: number;
  readonly host: string;
  readonly peerPort: number;
  /** Null if the line has no client port: `clientPort` of the file applies then. */
  readonly clientPort: number | null;
  /** Present only where the line says where to listen for clients. */
  readonly listen?: string;
  readonly peerListen?: string;
}

interface ReadServer {
  readonly server: ZooServer | null;
  /** Why the line cannot be taken over as it is. */
  readonly problems: readonly string[];
  /** What becomes of the parts of the line that are not taken over. */
  readonly notes: readonly string[];
}

/** Matches the key of a server. */
export const SERVER_KEY = /^server\.(\d+)$/i;

const ADDRESS = /^(\[[^\]]+\]|[^:|;]+):(\d+)(?::(\d+))?(?::(participant|observer))?$/i;
const CLIENT = /^(?:(\[[^\]]+\]|[^:]+):)?(\d+)$/;

export function readServer(id: number, line: string): ReadServer {
  const [addresses = '', client] = line.split(';').map((part) => part.trim());
  const [first = '', ...others] = addresses.split('|').map((part) => part.trim());
  const match = ADDRESS.exec(first);
  if (match === null) {
    return { server: null, problems: [`it is not host:port:port, but ${line}`], notes: [] };
  }
  const [, host = '', peerPort, electionPort, role] = match;
  // An observer as an entry would be a voter, and the majority a larger one.
  if (role?.toLowerCase() === 'observer') {
    const why = `Rookery has no observers: ${host} is left out, and only participants are members`;
    return { server: null, problems: [why], notes: [] };
  }
  const problems: string[] = [];
  const notes: string[] = [];
  if (others.length > 0) notes.push(`a member has one address: ${host} is taken`);
  if (electionPort !== undefined) notes.push(`members use one port: ${electionPort} is not needed`);
  const plainHost = plain(host);
  const clients = readClient(client, problems);
  const listening = listeningOf(clients.address, plainHost);
  const server = { id, host: plainHost, peerPort: Number(peerPort), clientPort: clients.port };
  return { server: { ...server, ...listening }, problems, notes };
}

/** ZooKeeper listens for clients on this address, and for members on the host. */
function listeningOf(
  address: string | null,
  host: string,
): Pick<ZooServer, 'listen' | 'peerListen'> {
  if (address === null || address === host) return {};
  return { listen: isEveryAddress(address) ? '*' : address, peerListen: host };
}

export function isEveryAddress(address: string): boolean {
  return ['0.0.0.0', '::', '0:0:0:0:0:0:0:0'].includes(plain(address));
}

function readClient(
  client: string | undefined,
  problems: string[],
): { readonly port: number | null; readonly address: string | null } {
  if (client === undefined || client === '') return { port: null, address: null };
  const match = CLIENT.exec(client);
  if (match === null) {
    problems.push(`the client's port is not a port, but ${client}`);
    return { port: null, address: null };
  }
  const [, address, port] = match;
  return { port: Number(port), address: address === undefined ? null : plain(address) };
}

/** Removes the brackets of an IPv6 address. */
function plain(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
