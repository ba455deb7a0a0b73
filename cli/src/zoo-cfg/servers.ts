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
  /** Null when the line does not say it: `clientPort` of the file holds then. */
  readonly clientPort: number | null;
}

export interface ReadServer {
  readonly server: ZooServer | null;
  /** Why the line cannot be taken over as it is. */
  readonly problems: readonly string[];
  /** What becomes of parts of it that are not taken over. */
  readonly notes: readonly string[];
}

/** What `key` begins with for a server. */
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
  const problems: string[] = [];
  const notes: string[] = [];
  if (role?.toLowerCase() === 'observer') problems.push('Rookery has no observers');
  if (others.length > 0) notes.push(`a member has one address: ${host} is taken`);
  if (electionPort !== undefined) notes.push(`members use one port: ${electionPort} is not needed`);
  const clientPort = readClient(client, host, { problems, notes });
  const server = { id, host: host.replace(/^\[|\]$/g, ''), peerPort: Number(peerPort), clientPort };
  return { server, problems, notes };
}

function readClient(
  client: string | undefined,
  host: string,
  to: { readonly problems: string[]; readonly notes: string[] },
): number | null {
  if (client === undefined || client === '') return null;
  const match = CLIENT.exec(client);
  if (match === null) {
    to.problems.push(`the client's port is not a port, but ${client}`);
    return null;
  }
  const [, address, port] = match;
  if (address !== undefined && address !== host) {
    to.notes.push(`a member listens on its host: clients use ${host}, not ${address}`);
  }
  return Number(port);
}
