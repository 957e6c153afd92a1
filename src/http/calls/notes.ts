/** What people say of a call: notes, marks, outcome, tags, language, how long it is kept; and its deletion. */
import { randomUUID } from 'node:crypto';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallView } from '../../calls/call-view.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import { isLanguage } from '../../calls/language/spoken-language.ts';
import type { CallRegistry } from '../../calls/registry.ts';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { CallVisibility } from '../access/call-visibility.ts';
import { assertPermitted } from '../access/permissions.ts';
import { errorResponses } from '../server/errors.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { CallDirectory, KeptCalls } from './call-directory.ts';
import { call, callPath, noQuery, refuseUnknown } from './call-schemas.ts';

const NOTE_MAX_CHARS = 4000;
const LABEL_MAX_CHARS = 200;
const OUTCOME_MAX_CHARS = 100;
const TAG = /^[\p{L}\p{N}][\p{L}\p{N} ._:/-]{0,49}$/u;
const TAGS_MAX = 20;
const LANGUAGE_MAX_CHARS = 40;
const RETAIN_DAYS_MAX = 36_500;
/** Notes and marks of one call. */
const NOTES_MAX = 500;
const DAY_MS = 86_400_000;
const CALL_MAX_MS = 604_800_000;

const text = (maxChars: number) => z.string().trim().min(1).max(maxChars);

const noteBody = z.strictObject({ text: text(NOTE_MAX_CHARS) });
const markBody = z.strictObject({
  label: text(LABEL_MAX_CHARS),
  atMs: z.number().min(0).max(CALL_MAX_MS).optional().describe('Ms of the call; default: now, or its end'),
});
const tag = z.string().regex(TAG, 'expected 1 to 50 letters, digits, spaces and . _ : / -, a letter or digit first');
const changeBody = z.strictObject({
  outcome: text(OUTCOME_MAX_CHARS).nullable().optional().describe('What came of it; null takes it back'),
  language: z
    .string()
    .max(LANGUAGE_MAX_CHARS)
    .refine(isLanguage, 'expected a language such as de, pt-BR, German or auto')
    .optional()
    .describe('What is spoken in the live call from now on; auto = the recogniser finds out'),
  tags: z.array(tag).max(TAGS_MAX).optional().describe(`All tags that it shall have, at most ${TAGS_MAX}`),
  retainDays: z
    .int()
    .min(0)
    .max(RETAIN_DAYS_MAX)
    .nullable()
    .optional()
    .describe('Days from now after which it is deleted; null = as RETENTION_DAYS says. For those who may delete calls'),
});

interface NoteRoutesOptions {
  readonly directory: CallDirectory;
  readonly calls: Pick<CallRegistry, 'setLanguage'>;
  readonly kept: KeptCalls | null;
  readonly feed: Pick<Feed, 'publish'>;
  readonly visibility: Pick<CallVisibility, 'viewsOf'>;
  readonly trail: AuditTrail;
  readonly clock: Clock;
}

/** `PATCH` and `DELETE /v1/calls/{id}`, `POST …/notes` and `POST …/marks`. */
export const noteRoutes: FastifyPluginCallbackZod<NoteRoutesOptions> = (app, options, done) => {
  const { directory, trail } = options;
  void app.register(noteRoute, options);
  void app.register(markRoute, options);
  void app.register(changeRoute, options);

  app.delete(
    '/v1/calls/:id',
    {
      config: { permission: 'calls.delete', ownedBy: 'call' },
      schema: {
        operationId: 'deleteCall',
        summary: 'Delete a call that has ended, with all that is kept of it',
        description:
          'Its rows and their index, sound, events in memory, webhooks that wait, and the spoken sentences that no ' +
          'other call had. The event `call.deleted` follows. With PostgreSQL, its log and its backups are yours.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        response: { 204: z.null().describe('It is gone'), ...errorResponses(400, 401, 403, 404, 409, 429, 507) },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      await directory.remove(id);
      trail.note(request, 'call.deleted', id);
      return reply.code(204).send(null);
    },
  );
  done();
};

const noteRoute: FastifyPluginCallbackZod<NoteRoutesOptions> = (app, options, done) => {
  const { directory, feed, trail, clock } = options;
  app.post(
    '/v1/calls/:id/notes',
    {
      config: { permission: 'calls.note', ownedBy: 'call' },
      schema: {
        operationId: 'createCallNote',
        summary: 'Write a note on a call, live or over',
        description: 'The event `note` follows.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: noteBody,
        response: { 201: z.object({ note: z.string() }), ...errorResponses(400, 401, 403, 404, 409, 429) },
      },
    },
    async (request, reply) => {
      const { id: callId } = await directory.get(request.params.id);
      await refuseTooMany(options, callId);
      const note = randomUUID();
      const author = trail.principalOf(request).name;
      const at = clock.wall().toISOString();
      feed.publish({ type: 'note', callId, note, author, text: request.body.text, at });
      trail.note(request, 'call.noted', callId, { note });
      return reply.code(201).send({ note });
    },
  );
  done();
};

const markRoute: FastifyPluginCallbackZod<NoteRoutesOptions> = (app, options, done) => {
  const { directory, feed, trail } = options;
  app.post(
    '/v1/calls/:id/marks',
    {
      config: { permission: 'calls.note', ownedBy: 'call' },
      schema: {
        operationId: 'createCallMark',
        summary: 'Mark a moment of a call, live or over',
        description: 'The event `mark` follows.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: markBody,
        response: { 201: z.object({ atMs: z.number() }), ...errorResponses(400, 401, 403, 404, 409, 429) },
      },
    },
    async (request, reply) => {
      const { id: callId, durationMs } = await directory.get(request.params.id);
      await refuseTooMany(options, callId);
      const { label, atMs = durationMs } = request.body;
      feed.publish({ type: 'mark', callId, author: trail.principalOf(request).name, label, atMs });
      trail.note(request, 'call.noted', callId, { atMs });
      return reply.code(201).send({ atMs });
    },
  );
  done();
};

const changeRoute: FastifyPluginCallbackZod<NoteRoutesOptions> = (app, options, done) => {
  const { visibility, trail } = options;
  app.patch(
    '/v1/calls/:id',
    {
      config: { permission: 'calls.note', ownedBy: 'call' },
      schema: {
        operationId: 'updateCall',
        summary: 'Say what came of a call, tag it, say how long it is kept, or what is spoken in it',
        description:
          'The event `call.updated` follows where outcome or tags are given, and `language` where another language ' +
          'is. Only of a live call the language can be changed.',
        tags: ['calls'],
        params: callPath,
        querystring: noQuery,
        body: changeBody,
        response: { 200: call, ...errorResponses(400, 401, 403, 404, 409, 429, 501, 507) },
      },
    },
    async (request) => {
      const principal = trail.principalOf(request);
      const { retainDays, language } = request.body;
      // A call that is kept for no time is deleted.
      if (retainDays !== undefined) assertPermitted(principal, 'calls.delete');
      if (language !== undefined) assertPermitted(principal, 'calls.act');
      const by = principal.name;
      const changed = await change(options, request.params.id, request.body, by);
      trail.note(request, 'call.changed', changed.id, { fields: Object.keys(request.body).join(' ') });
      return visibility.viewsOf(request, [changed])[0] ?? changed;
    },
  );
  done();
};

async function change(
  { directory, calls, kept, feed, clock }: NoteRoutesOptions,
  id: string,
  { outcome, tags, language, retainDays }: z.infer<typeof changeBody>,
  by: string,
): Promise<CallView> {
  // What another request has changed a moment ago must be stored before it is read.
  await directory.settle();
  const before = await directory.get(id);
  if (language !== undefined && !calls.setLanguage(id, language)) refuseUnknown('live call');
  const after = { ...before, outcome: outcome === undefined ? before.outcome : outcome, tags: tags ?? before.tags };
  if (retainDays !== undefined) {
    const records = directory.records('retainDays');
    const keepUntilMs = retainDays === null ? null : clock.wall().getTime() + retainDays * DAY_MS;
    await records.database.db.updateTable('calls').set({ keep_until_ms: keepUntilMs }).where('id', '=', id).execute();
  }
  if (outcome !== undefined || tags !== undefined) {
    feed.publish({ type: 'call.updated', callId: id, outcome: after.outcome, tags: [...new Set(after.tags)], by });
    if (kept !== null) await directory.settle();
  }
  return { ...after, tags: [...new Set(after.tags)] };
}

/** Of calls in memory alone, the feed's history bounds them. */
async function refuseTooMany({ directory, kept }: NoteRoutesOptions, callId: string): Promise<void> {
  if (kept === null) return;
  await directory.settle();
  const { notes } = await kept.records.database.reader
    .selectFrom('events')
    .select(({ fn }) => fn.countAll<number>().as('notes'))
    .where('call_seq', '=', (calls) => calls.selectFrom('calls').select('seq').where('id', '=', callId))
    .where('type', 'in', ['note', 'mark'])
    .executeTakeFirstOrThrow();
  if (Number(notes) >= NOTES_MAX)
    throw new TrunklineError('too_many_notes', `the call has ${NOTES_MAX} notes and marks, the most allowed`);
}
