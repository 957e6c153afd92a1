/** The OpenAPI description as generators of clients read it. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { z } from 'zod';
import { openApiFile } from '../../../scripts/openapi.ts';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import type { feedEvent } from '../../../src/http/calls/event-schemas.ts';
import { EXAMPLES } from '../../../src/http/examples/examples.ts';

interface Media {
  readonly schema: { readonly $ref?: string; readonly type?: string; readonly format?: string };
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly requestBody?: { readonly content: Record<string, Media> };
  readonly responses: Record<string, { readonly description: string; readonly content?: Record<string, Media> }>;
}

interface Description {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

let file: string;
let description: Description;
let operations: readonly Operation[];
beforeAll(async () => {
  file = await openApiFile();
  description = parse(file) as Description;
  operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
});

const ANSWERED = /^[23]/;
const ERROR_BODIES = ['ErrorBody', 'DeepgramError', 'QwenError'];
const componentOf = ({ schema }: Media): string => schema.$ref?.replace('#/components/schemas/', '') ?? '';

/** Sound has no example: a reader of the description could not hear it. */
const isSound = ([type, { schema }]: readonly [string, Media]): boolean =>
  type.startsWith('audio/') || schema.format === 'binary';

function requestsOf({ requestBody }: Operation): [string, Media][] {
  return Object.entries(requestBody?.content ?? {});
}

/** The first content type of the answer that is usual. */
function mainAnswerOf({ responses }: Operation): [string, Media] | undefined {
  const [answer] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  return Object.entries(answer?.[1].content ?? {})[0];
}

it('is kept in docs/reference/openapi.yaml, as it is now (npm run docs)', () => {
  expect(readFileSync(packagePath('docs', 'reference', 'openapi.yaml'), 'utf8')).toBe(file);
});

describe('operations', () => {
  it('are each named once, by a verb and a noun', () => {
    const names = operations.map(({ operationId }) => operationId);
    expect(names.filter((name) => !/^[a-z]+(?:[A-Z][a-z]+)+$/.test(name))).toEqual([]);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('have a summary, one tag, and a type for each answer', () => {
    expect(description).toMatchObject({ openapi: '3.1.0' });
    for (const { operationId, summary, tags, responses } of operations) {
      expect([operationId, summary, tags]).toEqual([operationId, expect.stringMatching(/./), [expect.any(String)]]);
      for (const [status, { content }] of Object.entries(responses)) {
        if (status === '101' || status === '204') continue;
        const typed = Object.values(content ?? {}).filter(({ schema }) => Object.keys(schema).length > 0);
        expect([operationId, status, typed.length]).not.toEqual([operationId, status, 0]);
      }
    }
  });

  it('say which ask for a key', () => {
    const { paths } = description;
    expect(paths['/health']?.['get']?.security).toEqual([]);
    expect(paths['/v1/calls']?.['get']?.security).toBeUndefined();
    expect(description).toMatchObject({ security: [{ key: [] }, { session: [] }] });
  });

  it('say which open a WebSocket', () => {
    const { get } = description.paths['/v1/captions'] ?? {};
    expect(get).toMatchObject({ 'x-websocket': true });
    expect(Object.keys(get?.responses ?? {})).toEqual(expect.arrayContaining(['101', '200', '401']));
    expect(description.paths['/v1/calls']?.['get']).not.toHaveProperty('x-websocket');
  });
});

describe('components', () => {
  it('are the schemas of all bodies in JSON and of all forms', () => {
    const bodies = operations.flatMap((operation) => [
      ...requestsOf(operation),
      ...Object.values(operation.responses).flatMap(({ content = {} }) => Object.entries(content)),
    ]);
    const inline = bodies.filter(([type, media]) => /json$|form/.test(type) && componentOf(media) === '');
    expect(inline).toEqual([]);
    expect(bodies.length).toBeGreaterThan(500);
  });

  it('are each referred to, and no reference is without one', () => {
    const named = Object.keys(description.components.schemas);
    const referred = new Set([...file.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name));
    expect([...referred].sort()).toEqual(named);
  });

  it('have one error body, and those of the protocols of others', () => {
    for (const { operationId, responses } of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        if (ANSWERED.test(status) || status === '101' || operationId === 'getReadiness') continue;
        expect([operationId, ERROR_BODIES]).toEqual([
          operationId,
          expect.arrayContaining(Object.values(content).map(componentOf)),
        ]);
        expect(Object.keys(content)).toEqual(['application/json']);
      }
    }
  });

  it('let later versions answer with more members', () => {
    expect(JSON.stringify(description.components.schemas['Call'])).not.toContain('additionalProperties');
    expect(description.components.schemas['UpdateCallRequest']).toMatchObject({ additionalProperties: false });
  });

  it('have each member of each event of the feed', () => {
    type Members<T> = T extends { readonly type: infer K extends string }
      ? K extends string
        ? `${K} ${Exclude<keyof T, 'type'> & string}`
        : never
      : never;
    type Told = Members<FeedEvent>;
    type Described = Members<z.output<typeof feedEvent>>;
    // The compiler names what one has and the other has not.
    const lacking: Record<Exclude<Told, Described>, never> = {};
    const invented: Record<Exclude<Described, Told>, never> = {};
    expect([lacking, invented]).toEqual([{}, {}]);
    expect(description.components.schemas).toHaveProperty('CaptionEvent.properties.confidence');
  });
});

describe('examples', () => {
  it('are there for each body that is no sound', () => {
    const bodies = operations.flatMap((operation) =>
      [...requestsOf(operation).slice(0, 1), mainAnswerOf(operation) ?? []].map((body) => ({ operation, body })),
    );
    const lacking = bodies.filter(({ body }) => body.length === 2 && !isSound(body) && body[1].example === undefined);
    expect(lacking.map(({ operation, body }) => `${operation.operationId} ${body[0]}`)).toEqual([]);
  });

  it('are of operations that there are', () => {
    const names = operations.map(({ operationId }) => operationId);
    expect(Object.keys(EXAMPLES).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('fit their schemas, with no member that has no description', () => {
    const validate = validator(description.components.schemas);
    const wrong = operations.flatMap((operation) => {
      const answer = mainAnswerOf(operation);
      const bodies = [...requestsOf(operation), ...(answer ? [answer] : [])];
      return bodies.flatMap(([type, media]) => {
        if (media.example === undefined || componentOf(media) === '') return [];
        const check = validate(componentOf(media));
        return check(media.example) ? [] : [[operation.operationId, type, check.errors?.[0]]];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('that are wrong are found', () => {
    const validate = validator(description.components.schemas);
    const example = EXAMPLES['getCall']?.response as object;
    expect(validate('Call')(example)).toBe(true);
    expect(validate('Call')({ ...example, state: 'gone' })).toBe(false);
    expect(validate('Call')({ ...example, forgotten: 1 })).toBe(false);
  });
});

/** Checks values against a component. Members that the schema has not are wrong, but where it says any may come. */
function validator(schemas: Description['components']['schemas']): (name: string) => ValidateFunction {
  const closed: object = JSON.parse(JSON.stringify({ schemas }), (_key, value: unknown) => {
    const isClosed = typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
    return isClosed ? { additionalProperties: false, ...value } : value;
  });
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'api', components: closed });
  return (name) => {
    const check = ajv.getSchema(`api#/components/schemas/${name}`);
    if (check === undefined) throw new Error(`there is no component ${name}`);
    return check;
  };
}
