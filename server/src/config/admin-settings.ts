/**
 * The settings that say who may use the admin port, and from which pages; `config.ts` documents
 * them.
 */
import { z } from 'zod';
import { DIGEST_PATTERN, SCRYPT_PATTERN } from './digest-of.js';

/** Bounded because each password that comes is compared with the digests of all of them. */
const USERS_MAX = 100;
const ORIGINS_MAX = 20;
const EXPECTED_USER = 'expected a user with a hash, as `rookery config hash-password` prints it';
const EXPECTED_ORIGIN = 'expected an origin without a path, such as "https://rookery.example"';

const users = z
  .array(
    z
      .string({ error: EXPECTED_USER })
      .regex(new RegExp(`^[^:]+:(?:${DIGEST_PATTERN}|${SCRYPT_PATTERN})$`), {
        error: EXPECTED_USER,
      }),
    { error: 'expected a list of users' },
  )
  .max(USERS_MAX, { error: `expected at most ${USERS_MAX} users` });

export const adminShape = {
  adminUsers: users.default([]),
  adminReaders: users.default([]),
  adminOrigins: z
    .array(z.string({ error: EXPECTED_ORIGIN }).refine(isOrigin, { error: EXPECTED_ORIGIN }), {
      error: 'expected a list of origins',
    })
    .max(ORIGINS_MAX, { error: `expected at most ${ORIGINS_MAX} origins` })
    .default([]),
};

/** Whether a browser would send it as it is in the header Origin. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
