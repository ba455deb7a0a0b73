/**
 * The config file that `rookery ensemble` keeps in its data directory, `<data>/ensemble.json`.
 *
 * The first run writes it and later ones read it; settings that somebody adds to it by hand stay.
 * It never changes the number of members: three data directories opened as a five-member ensemble
 * would need a majority that never agreed to anything.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import {
  loadEnsembleConfig,
  OperatorError,
  parseStrictJson,
  readFileUpTo,
  replaceOwnFile,
  type ServerAddress,
  SMALL_FILE_BYTES_MAX,
} from '@rookery/server';

const DEFAULT_SIZE = 3;
const DEFAULT_BASE_PORT = 2181;
const PEER_PORT_OFFSET = 700;
const ADMIN_PORT_OFFSET = 800;
/** The admin port of a development ensemble is for this machine only, so it needs no users. */
const ADMIN_HOST = '127.0.0.1';

export interface EnsemblePlan {
  /** The file with which each member is started. */
  readonly configPath: string;
  readonly servers: readonly ServerAddress[];
  /** Where the members' admin ports listen. */
  readonly adminHost: string;
  readonly metricsHost: string | null;
  /**
   * The servers that the file listed until now; a process that serves on their ports serves this
   * data.
   */
  readonly former?: readonly ServerAddress[];
  /** Writes the file if it must be written. It is called after everything else has been checked. */
  readonly write: () => void;
}

/** Reads the servers from a file that this command does not maintain. */
export function readEnsembleFile(configPath: string): EnsemblePlan {
  const { servers, adminHost, metricsHost } = loadEnsembleConfig(configPath);
  return { configPath, servers, adminHost, metricsHost, write: () => {} };
}

export function prepareEnsembleFile(options: {
  readonly data: string;
  readonly size: number | undefined;
  readonly basePort: number | undefined;
}): EnsemblePlan {
  const { data, size, basePort } = options;
  const configPath = join(data, 'ensemble.json');
  if (!existsSync(configPath)) {
    const servers = localServers(size ?? DEFAULT_SIZE, basePort ?? DEFAULT_BASE_PORT);
    const settings = { dataDir: '.', tickTimeMs: 2000, servers };
    const hosts = { adminHost: ADMIN_HOST, metricsHost: null };
    return planToWrite(configPath, { data, settings, servers, ...hosts });
  }
  const found = readEnsembleFile(configPath);
  const members = found.servers.length;
  if (size !== undefined && size !== members) {
    throw new OperatorError(
      `${configPath} has ${members} members, but --size is ${size}: ` +
        'omit --size, or choose another --data',
    );
  }
  if (basePort === undefined) return found;
  const servers = found.servers.map((server, index) => ({
    ...server,
    ...portsOf(basePort, index),
  }));
  const text = readFileUpTo(configPath, SMALL_FILE_BYTES_MAX).toString();
  const settings = Object(parseStrictJson(text));
  const { adminHost, metricsHost } = found;
  const hosts = { adminHost, metricsHost };
  const changed = { data, settings: { ...settings, servers }, servers, ...hosts };
  return { ...planToWrite(configPath, changed), former: found.servers };
}

function localServers(size: number, basePort: number): ServerAddress[] {
  return Array.from({ length: size }, (_, index) => ({
    id: index + 1,
    host: '127.0.0.1',
    ...portsOf(basePort, index),
  }));
}

function portsOf(basePort: number, index: number) {
  return {
    clientPort: basePort + index,
    peerPort: basePort + PEER_PORT_OFFSET + index,
    adminPort: basePort + ADMIN_PORT_OFFSET + index,
  };
}

function planToWrite(
  configPath: string,
  of: Pick<EnsemblePlan, 'servers' | 'adminHost' | 'metricsHost'> & {
    readonly data: string;
    readonly settings: object;
  },
): EnsemblePlan {
  const { data, settings, ...plan } = of;
  const write = () => {
    try {
      makeDirectory(resolve(data));
      replaceOwnFile(configPath, `${JSON.stringify(settings, null, 2)}\n`);
    } catch (error) {
      const reason = errorMessage(error);
      throw new OperatorError(`cannot write ${configPath}: ${reason}`, { cause: error });
    }
  };
  return { configPath, ...plan, write };
}

/** Node's recursive mkdir never returns where the kernel keeps answering ENOENT, as in /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path);
}
