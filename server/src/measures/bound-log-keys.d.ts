/**
 * The key that the command line binds to the logger of a member, whose id it is: another member is
 * logged as a `peer`, or the line has the key twice. The compiler refuses it.
 */
import 'pino';

declare module 'pino' {
  namespace pino {
    interface LogFnFields {
      readonly member?: never;
    }
  }
}
