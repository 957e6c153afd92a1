/**
 * What a generated client needs of the OpenAPI description beside the routes' own schemas: a named component for each
 * body, an example of each, and an order that changes only where the API does.
 */
import { STATUS_CODES } from 'node:http';
import type { OperationExample } from '../examples/example.ts';
import { EXAMPLES } from '../examples/examples.ts';

/** A JSON Schema (draft 2020-12), as far as it is looked into here. */
interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly [keyword: string]: unknown;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

interface Body {
  description?: string;
  required?: boolean;
  content?: Record<string, Media>;
}

interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly requestBody?: Body;
  readonly responses: Record<string, Body>;
  /** Set by {@link OPTIONAL_BODY}, and taken away here. */
  [OPTIONAL_BODY]?: true;
}

/** The mark of a route whose body may be left out: of itself fastify says that each body is required. */
export const OPTIONAL_BODY = 'x-optional-body';

/** An OpenAPI 3.1 document. */
export interface Description {
  readonly paths?: object;
  readonly components?: { readonly schemas?: object };
  readonly tags?: unknown;
}

type Schemas = Record<string, Schema>;

const REFERENCE = '#/components/schemas/';
/** What a component of requests is called where answers have one of the same name. */
const OF_REQUESTS = 'Input';

/** Tags whose name does not say all. */
const TAGS: Readonly<Record<string, string>> = {
  access: 'Keys, sessions and users',
  administration: 'The database of the records',
  batches: 'Many recordings as one job',
  calls: 'Calls, live and stored: what was said, and what can be done in them',
  captions: 'What happens in all calls, as it happens',
  flows: 'The flows of FLOWS_DIR, what they say, and how calls went through them',
  operation: 'How the server is',
  recordings: 'Files and live sound as text',
  speech: 'Texts as sound, voices and models',
};

/** `description` as it is published. */
export function finishDescription<T extends Description>(description: T): T {
  // Of whole numbers zod says that they are no larger than JavaScript has them.
  const document: T = JSON.parse(JSON.stringify(description), (key, found: unknown) =>
    (key === 'minimum' || key === 'maximum') && Math.abs(Number(found)) === Number.MAX_SAFE_INTEGER ? undefined : found,
  );
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const paths = (document.paths ?? {}) as Record<string, Record<string, Operation>>;
  openAnswers(schemas);
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const operation of operations) finishOperation(operation, schemas);
  const named = pruned(paths, schemas);
  const tags = [...new Set(operations.flatMap(({ tags = [] }) => tags))].toSorted();
  return {
    ...document,
    tags: tags.map((name) => (TAGS[name] === undefined ? { name } : { name, description: TAGS[name] })),
    paths: sorted(named.paths),
    components: { ...document.components, schemas: sorted(named.schemas) },
  };
}

/**
 * Later versions answer with more members, which a client that was generated before must not refuse. What zod calls
 * read-only is not changed by us; OpenAPI would mean that no request has it.
 */
function openAnswers(schemas: Schemas): void {
  for (const [name, schema] of Object.entries(schemas)) if (!name.endsWith(OF_REQUESTS)) schemas[name] = opened(schema);
}

function opened(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (key, found: unknown) =>
    (key === 'additionalProperties' && found === false) || key === 'readOnly' ? undefined : found,
  );
}

function finishOperation(operation: Operation, schemas: Schemas): void {
  const { operationId = '', requestBody, responses } = operation;
  const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
  const example = EXAMPLES[operationId] ?? {};
  if (requestBody) finishRequest(requestBody, name, example, schemas);
  if (requestBody && operation[OPTIONAL_BODY]) requestBody.required = false;
  delete operation[OPTIONAL_BODY];
  for (const [status, body] of Object.entries(responses)) {
    if (body.description === 'Default Response') body.description = STATUS_CODES[status] ?? status;
    for (const [type, media] of Object.entries(body.content ?? {})) {
      if (type.startsWith('audio/')) media.schema = { type: 'string', format: 'binary' };
      else media.schema = opened(media.schema ?? {});
      nameSchema(media, `${name}Response`, schemas);
    }
  }
  const [answer] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const [media] = Object.values(answer?.[1].content ?? {});
  if (media && example.response !== undefined) media.example = example.response;
}

function finishRequest(body: Body, name: string, example: OperationExample, schemas: Schemas): void {
  for (const [type, media] of Object.entries(body.content ?? {})) {
    const isForm = type === 'multipart/form-data' || type === 'application/x-www-form-urlencoded';
    nameSchema(media, `${name}${isForm ? 'Form' : 'Request'}`, schemas);
    const shown = isForm ? example.form : type === 'application/json' ? example.request : undefined;
    if (shown !== undefined) media.example = shown;
  }
}

/**
 * Makes the schema of `media` a component, where it has members and no name yet.
 * @throws Error for two schemas of one name
 */
function nameSchema(media: Media, name: string, schemas: Schemas): void {
  const { schema } = media;
  if (schema === undefined || (schema.type !== 'object' && !('anyOf' in schema) && !('oneOf' in schema))) return;
  if (JSON.stringify(schemas[name] ?? schema) !== JSON.stringify(schema))
    throw new Error(`two schemas would be called ${name}: name one with nameSchemas`);
  schemas[name] = schema;
  media.schema = { $ref: REFERENCE + name };
}

/** A component of requests takes the plain name where no answer has it; what nothing refers to goes. */
function pruned(paths: object, schemas: Schemas): { paths: object; schemas: Schemas } {
  const used = referencesOf(paths, schemas);
  const nameOf = (name: string): string => {
    const plain = name.slice(0, -OF_REQUESTS.length);
    return name.endsWith(OF_REQUESTS) && plain in schemas && !used.has(plain) ? plain : name;
  };
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  const renamed = { paths, schemas: Object.fromEntries(kept.map(([name, schema]) => [nameOf(name), schema])) };
  return JSON.parse(JSON.stringify(renamed), (key, found: unknown) =>
    key === '$ref' && typeof found === 'string' ? REFERENCE + nameOf(found.slice(REFERENCE.length)) : found,
  );
}

/** The components that `paths` refer to, and those that these refer to. */
function referencesOf(paths: object, schemas: Schemas): Set<string> {
  const found = new Set<string>();
  const waiting: unknown[] = [paths];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [, name = ''] of JSON.stringify(next).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      waiting.push(schemas[name]);
    }
  }
  return found;
}

function sorted<T>(record: Readonly<Record<string, T>> | object): Record<string, T> {
  const entries = Object.entries(record) as [string, T][];
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
