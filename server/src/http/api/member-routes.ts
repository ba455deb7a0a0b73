/**
 * The members of the ensemble: role, zxids, release, disk, clients, of each that answers.
 */
import type { ServerAddress } from '../../config/config.js';
import { statusOf } from '../../driver/member-answers.js';
import { HttpError } from '../http-error.js';
import type { HttpAnswer } from '../http-port.js';
import { type ApiCall, jsonAnswer } from './api-call.js';
import type { ApiMember } from './api-member.js';
import type { OtherMembers, OthersFor } from './other-members.js';

export class MemberRoutes {
  readonly #member: ApiMember;
  readonly #servers: readonly ServerAddress[];
  readonly #others: OthersFor;

  constructor(member: ApiMember, servers: readonly ServerAddress[], others: OthersFor) {
    this.#member = member;
    this.#servers = servers;
    this.#others = others;
  }

  readonly list = async ({ caller }: ApiCall): Promise<HttpAnswer> => {
    const others = this.#others(caller);
    const facts = this.#servers.map((server) => this.#factsOf(server, others));
    const members = await Promise.all(facts);
    const { memberId } = this.#member.context().view.details;
    return jsonAnswer({ self: memberId, members });
  };

  readonly one = async ({ names, caller }: ApiCall): Promise<HttpAnswer> => {
    const server = this.#servers.find(({ id }) => String(id) === names[0]);
    if (server === undefined) throw new HttpError(404, 'There is no such member.');
    return jsonAnswer(await this.#factsOf(server, this.#others(caller)));
  };

  async #factsOf(server: ServerAddress, others: OtherMembers) {
    const { id, host, clientHost = host, clientPort } = server;
    const context = this.#member.context();
    const isSelf = context.view.details.memberId === id;
    const status = isSelf ? statusOf(context) : await others.status(id);
    return {
      ...status,
      id,
      host,
      client: { host: clientHost, port: clientPort },
      answers: status !== null,
    };
  }
}
