/**
 * The table of operations: of each opcode its name and the codecs of request and response.
 *
 * Being in the table says nothing of being served, nor by whom. ConnectRequest has no opcode and
 * the notification no request, so they are not in it.
 */
import type { Codec } from '../jute/codec.js';
import {
  Create2Response,
  CreateRequest,
  CreateResponse,
  GetDataResponse,
  PathVersionRequest,
  PathWatchRequest,
  SetDataRequest,
  StatResponse,
} from './hot-records.js';
import { MultiReadRequest, MultiReadResponse, MultiRequest, MultiResponse } from './multi.js';
import { OpCode } from './opcodes.js';
import {
  AddWatchRequest,
  AuthPacket,
  CreateSessionRequest,
  CreateTtlRequest,
  Empty,
  ErrorResponse,
  GetAclResponse,
  GetAllChildrenNumberResponse,
  GetChildren2Response,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  GetChildrenResponse,
  GetEphemeralsRequest,
  GetEphemeralsResponse,
  PathRequest,
  ReconfigRequest,
  SaslRequest,
  SaslResponse,
  SetAclRequest,
  SetWatches2Request,
  SetWatchesRequest,
  SyncResponse,
  WatchesRequest,
  WhoAmIResponse,
} from './records.js';

export interface Operation<Request, Response> {
  readonly name: string;
  readonly request: Codec<Request>;
  readonly response: Codec<Response>;
}

function operation<Request, Response>(
  name: keyof typeof OpCode,
  request: Codec<Request>,
  response: Codec<Response>,
): Operation<Request, Response> {
  return { name, request, response };
}

/** By opcode, each with its own types: `OPERATIONS[OpCode.getData].response`. */
export const OPERATIONS = {
  [OpCode.create]: operation('create', CreateRequest, CreateResponse),
  [OpCode.delete]: operation('delete', PathVersionRequest, Empty),
  [OpCode.exists]: operation('exists', PathWatchRequest, StatResponse),
  [OpCode.getData]: operation('getData', PathWatchRequest, GetDataResponse),
  [OpCode.setData]: operation('setData', SetDataRequest, StatResponse),
  [OpCode.getAcl]: operation('getAcl', PathRequest, GetAclResponse),
  [OpCode.setAcl]: operation('setAcl', SetAclRequest, StatResponse),
  [OpCode.getChildren]: operation('getChildren', PathWatchRequest, GetChildrenResponse),
  [OpCode.sync]: operation('sync', PathRequest, SyncResponse),
  [OpCode.ping]: operation('ping', Empty, Empty),
  [OpCode.getChildren2]: operation('getChildren2', PathWatchRequest, GetChildren2Response),
  [OpCode.check]: operation('check', PathVersionRequest, Empty),
  [OpCode.multi]: operation('multi', MultiRequest, MultiResponse),
  [OpCode.create2]: operation('create2', CreateRequest, Create2Response),
  [OpCode.reconfig]: operation('reconfig', ReconfigRequest, GetDataResponse),
  [OpCode.checkWatches]: operation('checkWatches', WatchesRequest, Empty),
  [OpCode.removeWatches]: operation('removeWatches', WatchesRequest, Empty),
  [OpCode.createContainer]: operation('createContainer', CreateRequest, Create2Response),
  [OpCode.deleteContainer]: operation('deleteContainer', PathRequest, Empty),
  [OpCode.createTtl]: operation('createTtl', CreateTtlRequest, Create2Response),
  [OpCode.multiRead]: operation('multiRead', MultiReadRequest, MultiReadResponse),
  [OpCode.auth]: operation('auth', AuthPacket, Empty),
  [OpCode.setWatches]: operation('setWatches', SetWatchesRequest, Empty),
  [OpCode.sasl]: operation('sasl', SaslRequest, SaslResponse),
  [OpCode.getEphemerals]: operation('getEphemerals', GetEphemeralsRequest, GetEphemeralsResponse),
  [OpCode.getAllChildrenNumber]: operation(
    'getAllChildrenNumber',
    PathRequest,
    GetAllChildrenNumberResponse,
  ),
  [OpCode.setWatches2]: operation('setWatches2', SetWatches2Request, Empty),
  [OpCode.addWatch]: operation('addWatch', AddWatchRequest, ErrorResponse),
  [OpCode.whoAmI]: operation('whoAmI', Empty, WhoAmIResponse),
  [OpCode.getChildrenPage]: operation(
    'getChildrenPage',
    GetChildrenPageRequest,
    GetChildrenPageResponse,
  ),
  [OpCode.createSession]: operation('createSession', CreateSessionRequest, Empty),
  [OpCode.closeSession]: operation('closeSession', Empty, Empty),
} as const;

const BY_OPCODE: ReadonlyMap<number, Operation<unknown, unknown>> = new Map(
  Object.entries(OPERATIONS).map(([opcode, found]) => [Number(opcode), found]),
);

/** The operation of a number from the wire, or undefined when there is none. */
export function operationOf(opcode: number): Operation<unknown, unknown> | undefined {
  return BY_OPCODE.get(opcode);
}
