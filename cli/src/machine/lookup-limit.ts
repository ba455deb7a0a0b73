/**
 * Limits how long the C library asks name servers that do not answer.
 *
 * A lookup cannot be cancelled, and a process ends no earlier than its lookups. By default glibc
 * gives up after 10 s and more, so the prompt came back that long after a command had said that it
 * waited in vain.
 */

/** A name server is asked twice, and each answer may take a second. See resolv.conf(5). */
const LIMIT = 'timeout:1 attempts:2';

/**
 * Takes effect if it is called before the first lookup. The user's own choice stays; other systems
 * than those with glibc do not know the variable.
 */
export function limitLookups(environment: NodeJS.ProcessEnv): void {
  environment['RES_OPTIONS'] ??= LIMIT;
}

/**
 * Returns the environment for a program that a command starts. The limit is for the command alone,
 * so it is left out. A choice of the user stays.
 */
export function environmentForChild(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { RES_OPTIONS: options, ...others } = environment;
  return options === undefined || options === LIMIT ? others : environment;
}
