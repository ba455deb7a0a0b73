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
  RaiseSequenceRequest,
  RaiseSequenceResponse,
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
  readonly request: Codec<Request>;
  readonly response: Codec<Response>;
}

function operation<Request, Response>(
  request: Codec<Request>,
  response: Codec<Response>,
): Operation<Request, Response> {
  return { request, response };
}

/** By opcode, each with its own types: `OPERATIONS[OpCode.getData].response`. */
export const OPERATIONS = {
  [OpCode.create]: operation(CreateRequest, CreateResponse),
  [OpCode.delete]: operation(PathVersionRequest, Empty),
  [OpCode.exists]: operation(PathWatchRequest, StatResponse),
  [OpCode.getData]: operation(PathWatchRequest, GetDataResponse),
  [OpCode.setData]: operation(SetDataRequest, StatResponse),
  [OpCode.getAcl]: operation(PathRequest, GetAclResponse),
  [OpCode.setAcl]: operation(SetAclRequest, StatResponse),
  [OpCode.getChildren]: operation(PathWatchRequest, GetChildrenResponse),
  [OpCode.sync]: operation(PathRequest, SyncResponse),
  [OpCode.ping]: operation(Empty, Empty),
  [OpCode.getChildren2]: operation(PathWatchRequest, GetChildren2Response),
  [OpCode.check]: operation(PathVersionRequest, Empty),
  [OpCode.multi]: operation(MultiRequest, MultiResponse),
  [OpCode.create2]: operation(CreateRequest, Create2Response),
  [OpCode.reconfig]: operation(ReconfigRequest, GetDataResponse),
  [OpCode.checkWatches]: operation(WatchesRequest, Empty),
  [OpCode.removeWatches]: operation(WatchesRequest, Empty),
  [OpCode.createContainer]: operation(CreateRequest, Create2Response),
  [OpCode.deleteContainer]: operation(PathRequest, Empty),
  [OpCode.createTtl]: operation(CreateTtlRequest, Create2Response),
  [OpCode.multiRead]: operation(MultiReadRequest, MultiReadResponse),
  [OpCode.auth]: operation(AuthPacket, Empty),
  [OpCode.setWatches]: operation(SetWatchesRequest, Empty),
  [OpCode.sasl]: operation(SaslRequest, SaslResponse),
  [OpCode.getEphemerals]: operation(GetEphemeralsRequest, GetEphemeralsResponse),
  [OpCode.getAllChildrenNumber]: operation(PathRequest, GetAllChildrenNumberResponse),
  [OpCode.setWatches2]: operation(SetWatches2Request, Empty),
  [OpCode.addWatch]: operation(AddWatchRequest, ErrorResponse),
  [OpCode.whoAmI]: operation(Empty, WhoAmIResponse),
  [OpCode.getChildrenPage]: operation(GetChildrenPageRequest, GetChildrenPageResponse),
  [OpCode.raiseSequence]: operation(RaiseSequenceRequest, RaiseSequenceResponse),
  [OpCode.createSession]: operation(CreateSessionRequest, Empty),
  [OpCode.closeSession]: operation(Empty, Empty),
} as const;

// Marked as pure, so that a bundle of a client that never asks by number leaves it out.
const BY_OPCODE = /* @__PURE__ */ byOpcode();

function byOpcode(): ReadonlyMap<number, Operation<unknown, unknown>> {
  return new Map(Object.entries(OPERATIONS).map(([opcode, found]) => [Number(opcode), found]));
}

/** The operation of a number from the wire, or undefined when there is none. */
export function operationOf(opcode: number): Operation<unknown, unknown> | undefined {
  return BY_OPCODE.get(opcode);
}
