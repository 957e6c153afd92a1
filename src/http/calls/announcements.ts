/** The door at which an Asterisk announces a call whose media will say nothing of it but a UUID: AudioSocket's. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallAnnouncements } from '../../calls/admission/call-announcements.ts';
import { PARTY_MAX_CHARS } from '../../calls/pending-call.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../access/access.ts';
import { errorResponses } from '../server/errors.ts';

const FORM = 'application/x-www-form-urlencoded';
const FIELDS_MAX = 32;
/** All names and values of one announcement together. */
const TOTAL_MAX_CHARS = 4096;

const fields = z
  .record(z.string().regex(/^\w{1,64}$/, 'expected letters, digits and _, at most 64'), z.string())
  .refine((record) => Object.keys(record).length <= FIELDS_MAX, `expected at most ${FIELDS_MAX} fields`)
  .refine(
    (record) => Object.entries(record).flat().join('').length <= TOTAL_MAX_CHARS,
    `expected at most ${TOTAL_MAX_CHARS} characters`,
  )
  .refine(
    ({ from = '', to = '' }) => Math.max(from.length, to.length) <= PARTY_MAX_CHARS,
    `expected from and to of at most ${PARTY_MAX_CHARS} characters`,
  );

/** What CURL() of a dialplan posts is a form; other programs may send the same as JSON. */
const body = z
  .union([
    z.string().transform((text) => Object.fromEntries(new URLSearchParams(text))),
    z.record(z.string(), z.string()),
  ])
  .pipe(fields);

interface AnnouncementOptions {
  readonly settings: Settings;
  readonly announced: CallAnnouncements;
  readonly access: Access;
}

/** `POST /asterisk/calls/{uuid}`. */
export const announcementRoutes: FastifyPluginCallbackZod<AnnouncementOptions> = (
  app,
  { settings, announced, access },
  done,
) => {
  app.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, text, parsed) => parsed(null, text));
  app.post(
    '/asterisk/calls/:uuid',
    {
      schema: {
        summary: 'Announces a call of AudioSocket: who calls, and how the call is to be held',
        description:
          'AudioSocket itself tells nothing but the UUID. Fields: `from`, `to`, `app` and other parameters ' +
          'of the call, as a form (CURL() of a dialplan) or JSON. For one call, within ten minutes; ' +
          'announced again, the later word holds. With the Basic credentials of ASTERISK_USER and ' +
          'ASTERISK_PASSWORD where a password is set. Tried against Asterisk 22.10.1.',
        tags: ['asterisk'],
        security: [],
        consumes: [FORM, 'application/json'],
        params: z.object({ uuid: z.uuid().describe('The one that AudioSocket() or Dial(AudioSocket/…) will bring') }),
        body,
        response: { 201: z.object({ callId: z.string() }), ...errorResponses(400, 401, 403, 413, 429) },
      },
      onRequest: async (request) => access.admitBasic(request, settings.ASTERISK_USER, settings.ASTERISK_PASSWORD),
    },
    (request, reply) => {
      const callId = request.params.uuid.toLowerCase();
      const { from = '', to = '', ...parameters } = request.body;
      announced.announce(callId, { from: from || null, to: to || null, parameters });
      reply.code(201).send({ callId });
    },
  );
  done();
};
