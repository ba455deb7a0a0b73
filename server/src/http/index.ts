/**
 * `@rookery/server/http`: loaded by a process that has a port for operators, and by `rookery
 * console` for its gateway.
 */
export { digestOf } from '../config/digest-of.js';
export type { Requester } from '../pipeline/access.js';
export { AdminAccess } from './admin-access.js';
export {
  type ApiCall,
  type ApiRoutes,
  jsonAnswer,
  sessionIn,
  wholeNumber,
} from './api/api-call.js';
export { API, Api } from './api/api-router.js';
export { type Caller, Callers } from './api/caller.js';
export type {
  AclOf,
  ChildPage,
  NewNode,
  NodeFacts,
  NodeMode,
  NodeSource,
  NodeWriter,
  OpenWriter,
  PageAsked,
  Versioned,
} from './api/node-source.js';
export { aclFacts, rightsAt, statFacts } from './api/node-source.js';
export { keeperProblem, problemAnswer } from './api/problem.js';
export {
  CHILDREN_MAX,
  type Contender,
  type ContenderFacts,
  queuedRecipe,
  type Recipe,
  shownText,
} from './api/recipe-facts.js';
export { partOf } from './api/recipe-names.js';
export type {
  Candidate,
  RecipeSource,
  RecipesAsked,
  Search,
  SearchAsked,
} from './api/search-route.js';
export { treeRoutes } from './api/tree-routes.js';
export type { Hearing, OpenWatch } from './api/watch-route.js';
export { ConsoleFiles, consoleDirectory } from './console-files.js';
export {
  type HttpAnswer,
  HttpError,
  HttpPort,
  type HttpRequest,
  type Router,
} from './http-port.js';
export { type OperatorPorts, openOperatorPorts } from './operator-ports.js';
