/** Writes into the audit log who did what over HTTP, and shows it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { AuditAction, AuditLog, AuditNote } from '../../records/audit/audit-log.ts';
import type { Access } from '../access/access.ts';
import type { Principal } from '../access/principal.ts';
import { wasPassedOn } from '../forward/forwarded.ts';
import { errorResponses } from '../server/errors.ts';
import { nameSchemas } from '../server/named-schemas.ts';
import { pageQuery, pageSchema } from '../server/pages.ts';
import type { CallDirectory } from './call-directory.ts';
import { readSearchCursor, searchCursor } from './call-query.ts';
import { callPath } from './call-schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request for this route of a call is in the audit log, when it was answered. */
    readonly audit?: AuditAction;
  }
}

interface TrailOptions {
  readonly access: Pick<Access, 'principalOf'>;
  /** Null = nothing is kept. */
  readonly audit: Pick<AuditLog, 'note' | 'hasNoted'> | null;
  readonly isLive: (callId: string) => boolean;
}

/** The audit log, as routes write it. */
export class AuditTrail {
  readonly #options: TrailOptions;

  constructor(options: TrailOptions) {
    this.#options = options;
  }

  principalOf(request: FastifyRequest): Principal {
    return this.#options.access.principalOf(request);
  }

  /** Writes down what whoever makes `request` does. */
  note(request: FastifyRequest, action: AuditAction, callId: string | null, detail: AuditNote['detail'] = {}): void {
    const { name, role } = this.principalOf(request);
    this.#options.audit?.note({ who: name, role, action, callId, detail });
  }

  /** Writes down the routes of `app` whose `config.audit` says what they are. */
  watch(app: FastifyInstance): void {
    app.addHook('onResponse', async (request, reply) => {
      const { audit } = request.routeOptions.config;
      // The gateway that has answered writes it down.
      if (audit === undefined || reply.statusCode >= 300 || wasPassedOn(request)) return;
      const { id } = callPath.parse(request.params);
      if (!this.#isOfFeed(request, audit, id)) this.note(request, audit, id);
    });
  }

  /** Whoever reads all that is said reads live calls: a page that shows them all would add a line for each of them. */
  #isOfFeed(request: FastifyRequest, action: AuditAction, callId: string): boolean {
    const { audit, isLive } = this.#options;
    if (!action.endsWith('.read') || !isLive(callId)) return false;
    return audit?.hasNoted(this.principalOf(request).name, 'feed.read', null) === true;
  }
}

const entry = z.object({
  position: z.int(),
  at: z.iso.datetime(),
  who: z.string().describe("A user, the beginning of a key's hash, or `trunkline`: the server by itself"),
  role: z.string(),
  action: z.string(),
  callId: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
});

nameSchemas({ AuditEntry: entry });

const auditQuery = pageQuery.extend({
  who: z.string().max(200).optional(),
  action: z.string().max(50).optional(),
  call: z.string().max(300).optional().describe('The id of a call'),
});

/** `GET /v1/audit`. */
export const auditRoutes: FastifyPluginCallbackZod<{ directory: CallDirectory; trail: AuditTrail }> = (
  app,
  { directory, trail },
  done,
) => {
  app.get(
    '/v1/audit',
    {
      config: { permission: 'audit' },
      schema: {
        operationId: 'listAuditEntries',
        summary: 'Who read, searched, exported, changed or deleted what, the latest first',
        tags: ['calls'],
        querystring: auditQuery,
        response: { 200: pageSchema(entry), ...errorResponses(400, 401, 403, 429, 501) },
      },
    },
    async (request) => {
      const { audit } = directory.records('the audit log');
      const { limit, cursor, call: callId, who, action } = request.query;
      const before = readSearchCursor(cursor) ?? undefined;
      await audit.flush();
      const lines = await audit.list({ who, action, callId, before }, limit + 1);
      trail.note(request, 'audit.read', null);
      const last = lines.length > limit ? lines[limit - 1] : undefined;
      return {
        data: lines.slice(0, limit).map((line) => ({ ...line, detail: { ...line.detail } })),
        next: last === undefined ? null : searchCursor(last.position),
      };
    },
  );
  done();
};
