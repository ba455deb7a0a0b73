/**
 * Which names of users an ACL may have, for the schemes x509 and sasl: those that Java can read.
 */

/** What Java knows by name; anything else is given by its number. */
const KEYWORDS = [
  ...['CN', 'C', 'L', 'S', 'ST', 'O', 'OU', 'T', 'IP', 'STREET', 'DC', 'DNQUALIFIER', 'DNQ'],
  ...['SURNAME', 'GIVENNAME', 'INITIALS', 'GENERATION', 'EMAIL', 'EMAILADDRESS', 'UID'],
  'SERIALNUMBER',
];
const TYPE = `(?:${KEYWORDS.join('|')}|(?:OID\\.)?[0-2](?:\\.\\d+)+)`;
const HEX = '#(?:[0-9A-F]{2})+';
const QUOTED = '"(?:[^"\\\\]|\\\\[\\s\\S])*"';
// Its first character is no blank, so that a text is read in one way only, in linear time.
const PLAIN = '(?:[^\\s,+;"\\\\<>#=]|\\\\[\\s\\S])(?:[^,+;"\\\\<>]|\\\\[\\s\\S])*';
const ATTRIBUTE = new RegExp(
  `\\s*${TYPE}\\s*=\\s*(?:${HEX}\\s*|${QUOTED}\\s*|${PLAIN})?([,+;]|$)`,
  'iy',
);

/** No longer one can be stored, and a regular expression fails on a text of megabytes. */
const CHARACTERS_MAX = 256 << 10;

/** Whether it is a name as `X500Principal` takes it. Linear in the length of the text. */
export function isDistinguishedName(text: string): boolean {
  if (text === '' || text.length > CHARACTERS_MAX) return false;
  ATTRIBUTE.lastIndex = 0;
  for (;;) {
    const match = ATTRIBUTE.exec(text);
    if (match === null) return false;
    if (match[1] === '') return true;
  }
}

/** `user`, `user@REALM` or `service/host@REALM`, as in Kerberos. */
export function isSaslUser(text: string): boolean {
  return text !== '' && (!text.includes('@') || /^[^/@]*(\/[^/@]*)?@[^/@]*$/.test(text));
}
