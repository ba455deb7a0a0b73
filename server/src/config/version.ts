/**
 * The name and version of this member. Clients parse the part before the first dash: the version of
 * ZooKeeper whose protocol it speaks.
 */
const ZOOKEEPER_VERSION = '3.8.0';
/** What members tell each other in their hellos. */
export const RELEASE = '0.2.0';

/** What to do with a member or a directory of a release before 0.3.0; follows a refusal. */
export const MOVE_FROM_0_2 =
  'data of a release before 0.3.0 moves by a backup: run `rookery backup save` with that release, ' +
  'and `rookery restore` with this one';
const RELEASED = '2026-11-21 00:00 UTC';

export const VERSION = `${ZOOKEEPER_VERSION}-rookery-${RELEASE}, built on ${RELEASED}`;
