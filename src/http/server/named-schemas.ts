/** Schemas that the API's description names, so that generated clients have a type for each. */
import { z } from 'zod';

/**
 * Makes each schema a component of the OpenAPI description under its key, wherever it is used. A name ends neither in
 * `Input` nor in `Request`, `Form` or `Response`: names of that kind are made from operations.
 */
export function nameSchemas(schemas: Readonly<Record<string, z.ZodType>>): void {
  for (const [id, schema] of Object.entries(schemas))
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
}
