/**
 * Answers at the admin port: `/console/`, `/commands/*`, `/api/v1`, and what the metrics port has.
 * Access is checked for everything except the files of the console, which are public, and the
 * probes, `/commands/ruok` among them. A probe tells anyone whether the member serves; only users
 * with access learn why not.
 */
import type { Acl, Zxid } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { Config, ServerAddress } from '../config/config.js';
import type { EventRing } from '../measures/event-ring.js';
import { encodedBackup, type StreamedBackup } from '../offline/backup-stream.js';
import type { PasswordHashes } from '../security/password-hashes.js';
import type { AdminAccess, Admitted } from './admin-access.js';
import type { AdminAudit } from './admin-audit.js';
import type { ApiRoutes } from './api/api-call.js';
import type { ApiMember } from './api/api-member.js';
import { API, Api } from './api/api-router.js';
import { Callers } from './api/caller.js';
import { memberRoutes } from './api/member-api.js';
import { othersFor } from './api/other-members.js';
import { problemAnswer } from './api/problem.js';
import { CHANGING, COMMAND_NAMES, commandAnswer, commandNamed, errorAnswer } from './commands.js';
import { ConsoleFiles } from './console-files.js';
import { EventAnswers } from './events-answer.js';
import { healthAnswer, probeOf } from './health.js';
import type { HttpLogins } from './http-logins.js';
import { type HttpAnswer, HttpError, type HttpRequest, type Router } from './http-port.js';
import { jsonPieces, type Lines } from './json-text.js';
import { requireReading } from './metrics-router.js';

/** A member as the admin port shows it. */
export interface Administered {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly events: EventRing;
  /** The ACL of a new znode whose creator gives none: `rootAcl`, or null where it is not set. */
  readonly defaultAcl: readonly Acl[] | null;
  readonly passwords: PasswordHashes;
  readonly logger: Logger;
}

/** What guards the admin port, and what answers beside it. */
interface AdminServices {
  readonly access: AdminAccess;
  readonly audit: AdminAudit;
  readonly logins: HttpLogins;
  readonly metrics: Router;
  readonly console: ConsoleFiles;
}

type AdminMember = ApiMember & BackupMember;

const MAY_READ = 'This user may only read.';
const READ_ONLY = 'This port is for reading only (adminReadOnly).';
const OF_PAGES =
  'A browser may change something by POST only, because any page can make it send GET.';
/** Browsers send these, or begin their name with `Mozilla/`; programs such as curl do neither. */
const OF_BROWSERS = ['origin', 'referer', 'sec-fetch-site', 'upgrade-insecure-requests'];
/** Commands of ZooKeeper 3.9 that a member has no answer to, by all their names. */
const REFUSED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    snapshot:
      'A member does not send its state in the format of ZooKeeper, for which it would need a ' +
      'second copy of it in memory. "rookery backup save" makes such a file from /api/v1/backup, ' +
      'and the setting backupDirectory has members save backups by themselves.',
    restore:
      'A running ensemble is not restored: stop it, and restore a backup into empty directories.',
  }).flatMap(([name, why]) => [
    [name, why],
    [name.slice(0, 4), why],
  ]),
);

const COMMAND = /^\/commands\/([\w.-]+)\/?$/;
/** The probe of ZooKeeper's users, which asks for no password there. */
const RUOK = /^\/commands\/ruok\/?$/;
const ANYONE: Admitted = { user: null, mayChange: false };

export function adminRouter(
  member: AdminMember,
  at: Administered,
  services: AdminServices,
): Router {
  const { access, metrics, console: files } = services;
  const api = newApi(member, at, services);
  const commands = (request: HttpRequest, admitted: Admitted) =>
    answerToCommand(member, at, services.audit, request, admitted);
  const answer = (request: HttpRequest): HttpAnswer | Promise<HttpAnswer> => {
    const { method, path } = request;
    if (probeOf(path) !== null) {
      requireReading(method);
      const { health } = member.context().view;
      return healthAnswer(request, { health }, { mayTell: isLetIn(access, request) });
    }
    if (ConsoleFiles.has(path)) return files.answer(request);
    if (RUOK.test(path)) return commands(request, ANYONE);
    if (path === API || path.startsWith(`${API}/`)) {
      try {
        return api.answer(request, access.require(request));
      } catch (error) {
        if (error instanceof HttpError) return problemAnswer(error);
        throw error;
      }
    }
    const admitted = access.require(request);
    if (path === '/metrics') return metrics(request);
    if (path === '/') return linksAnswer(request, [`<a href="console/">console</a>`]);
    if (path === '/commands' || path === '/commands/') return linksAnswer(request, []);
    return commands(request, admitted);
  };
  return (request) => {
    if (ConsoleFiles.has(request.path) || RUOK.test(request.path)) return answer(request);
    const prepared = access.prepare(request);
    return prepared === null ? answer(request) : prepared.then(() => answer(request));
  };
}

function newApi(member: AdminMember, at: Administered, { logins, audit }: AdminServices): Api {
  const { config, self, events, passwords, logger } = at;
  const backups = new BackupAnswers(member);
  const { digestAlgs, superDigest, skipACL: skipAcl, adminReadOnly: isReadOnly } = config;
  const superIdentities = new Set(config.superIdentities);
  const superPassword = passwords.judgeOf(superDigest);
  const rules = { digestAlgs, superDigest, superIdentities, skipAcl, superPassword };
  const callers = new Callers(rules, logins);
  const ids = config.servers.map(({ id }) => id).filter((id) => id !== self.id);
  const others = othersFor(ids, (id, asked) => member.askMember(id, asked));
  const routes: ApiRoutes = {
    ...memberRoutes(member, others, audit, at),
    '/events': { GET: new EventAnswers({ id: self.id, ring: events }, others).answer },
    '/backup': {
      GET: async ({ request, caller }) => {
        if (request.method !== 'GET') throw new HttpError(405, 'Expected GET.', { allow: 'GET' });
        const { user, remoteAddress: remote } = caller;
        const { answer, zxid } = await backups.answer();
        logger.info({ user, remote }, 'admin.backup');
        audit.done(caller, { operation: 'backup', zxid });
        return answer;
      },
    },
  };
  const readOnly = isReadOnly ? READ_ONLY : null;
  return new Api(
    () => routes,
    callers,
    { readOnly, digestAlgs },
    (caller, asked) => audit.refused(caller, asked),
  );
}

function answerToCommand(
  member: AdminMember,
  { config, self, logger }: Administered,
  audit: AdminAudit,
  request: HttpRequest,
  { user, mayChange }: Admitted,
): HttpAnswer {
  const { path, query, remoteAddress: remote } = request;
  const [, asked] = COMMAND.exec(path) ?? [];
  if (asked === undefined) throw new HttpError(404, `There is no ${path}.`);
  const why = REFUSED.get(asked);
  if (why !== undefined) return jsonAnswer(501, errorAnswer(asked, why));
  const name = commandNamed(asked);
  if (name === null) return jsonAnswer(404, errorAnswer(asked, `Unknown command: ${asked}`));
  if (!CHANGING.has(name)) requireReading(request.method);
  else {
    const asker = { user, remoteAddress: remote };
    const refusal = config.adminReadOnly ? READ_ONLY : mayChange ? null : MAY_READ;
    if (refusal !== null) {
      audit.refused(asker, `/commands/${name}`);
      throw new HttpError(403, refusal);
    }
    requireDeliberate(request);
    audit.done(asker, { operation: 'adminCommand', request: name });
    logger.info({ command: name, user, remote }, 'admin.command');
  }
  return jsonAnswer(200, commandAnswer(name, { ...member.context(), config, self }, query));
}

function jsonAnswer(status: number, answer: Lines): HttpAnswer {
  return { status, type: 'application/json', body: jsonPieces(answer) };
}

/**
 * ZooKeeper's scripts change by GET, with curl or the like. A browser must use POST, with which it
 * names the page that asks: it would send a GET, with the password that it keeps, for a link or an
 * image on any page, and over HTTP nothing in that request has to say so.
 */
function requireDeliberate({ method, headers }: HttpRequest): void {
  if (method === 'POST') return;
  if (method !== 'GET') {
    throw new HttpError(405, `Expected POST or GET, got ${method}.`, { allow: 'GET, POST' });
  }
  const isBrowser =
    OF_BROWSERS.some((name) => headers[name] !== undefined) ||
    headers['user-agent']?.startsWith('Mozilla/') === true;
  if (isBrowser) throw new HttpError(405, OF_PAGES, { allow: 'POST' });
}

function isLetIn(access: AdminAccess, request: HttpRequest): boolean {
  try {
    access.require(request);
    return true;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

function linksAnswer({ method }: HttpRequest, more: readonly string[]): HttpAnswer {
  requireReading(method);
  const commands = COMMAND_NAMES.map((name) => `<a href="/commands/${name}">${name}</a>`);
  const links = [...more, ...commands].map((link) => `${link}\n<br/>\n`);
  return { status: 200, type: 'text/html;charset=utf-8', body: links.join('') };
}

export interface BackupMember {
  openBackup(): Promise<StreamedBackup & { close(): Promise<void> }>;
}

/**
 * `/api/v1/backup`: the state of the member for `rookery backup save`, as it is on its disk.
 *
 * It has the data of every znode, whatever its ACL says, so the router leaves it to users of the
 * admin port who may do more than read. One at a time.
 */
class BackupAnswers {
  readonly #member: BackupMember;
  #isUnderWay = false;

  constructor(member: BackupMember) {
    this.#member = member;
  }

  /** Throws HttpError while another one is being taken. */
  async answer(): Promise<{ readonly answer: HttpAnswer; readonly zxid: Zxid }> {
    if (this.#isUnderWay) throw new HttpError(429, 'Another backup is being taken.');
    this.#isUnderWay = true;
    try {
      const source = await this.#member.openBackup();
      const headers = { 'x-rookery-zxid': `0x${source.zxid.toString(16)}` };
      const close = async (): Promise<void> => {
        this.#isUnderWay = false;
        await source.close();
      };
      const body = encodedBackup(source);
      const type = 'application/octet-stream';
      return { answer: { status: 200, type, body, close, headers }, zxid: source.zxid };
    } catch (error) {
      this.#isUnderWay = false;
      throw error;
    }
  }
}
