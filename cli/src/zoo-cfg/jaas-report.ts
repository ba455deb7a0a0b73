/**
 * What becomes of a JAAS file: Rookery has no SASL, so each user that clients authenticate as, and
 * each login of members, is refused by name. No password is ever printed.
 */
import type { KeyReport } from './convert.js';
import { digestUsersOf, type JaasModule, type JaasSection } from './jaas.js';

const MEMBERS = new Set(['quorumserver', 'quorumlearner']);

export function jaasReport(sections: readonly JaasSection[]): readonly KeyReport[] {
  return sections.flatMap(({ name, modules }) =>
    modules.flatMap((module) => moduleReport(name, module)),
  );
}

function moduleReport(section: string, module: JaasModule): readonly KeyReport[] {
  const of = (key: string, outcome: KeyReport['outcome'], text: string): KeyReport => ({
    ...{ key: `${section} in the JAAS file${key}`, outcome, text },
  });
  const users = [...digestUsersOf(module).keys()];
  const lower = section.toLowerCase();
  if (lower === 'client') {
    return [of('', 'no effect', 'it is for clients; those that need SASL are refused')];
  }
  if (MEMBERS.has(lower)) {
    return [of('', 'refused', 'members do not authenticate to each other by SASL')];
  }
  if (users.length === 0) {
    return [of('', 'refused', `Rookery has no SASL, so nothing takes the place of ${module.name}`)];
  }
  return users.map((user) => {
    const instead =
      user === 'super' ? 'superDigest makes a super user' : 'addauth digest takes its place';
    const text = `Rookery has no SASL, so no client authenticates as it: ${instead}`;
    return of(`, user ${JSON.stringify(user)}`, 'refused', text);
  });
}
