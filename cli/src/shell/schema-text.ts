/**
 * The text of docs/operations/commands.schema.json: a JSON Schema for each command's `-o json`.
 */
import { z } from 'zod';
import { SCHEMAS } from './schemas.js';

export function schemaText(): string {
  const entries = Object.entries(SCHEMAS).map(([name, schema]) => {
    const { $schema: _, ...definition } = z.toJSONSchema(schema);
    return [name, definition] as const;
  });
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'What the commands of rookery write with -o json, by command',
    $defs: Object.fromEntries(entries),
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}
