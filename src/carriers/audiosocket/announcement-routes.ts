/** The endpoint at which Asterisk announces an AudioSocket call: AudioSocket itself carries only a UUID. */
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CallAnnouncements } from '../../calls/admission/call-announcements.ts';
import { PARTY_MAX_CHARS } from '../../calls/pending-call.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../../http/access/access.ts';
import { errorResponses } from '../../http/server/errors.ts';

const FORM = 'application/x-www-form-urlencoded';
const FIELDS_MAX = 32;
/** Longest sum of all names and values of one announcement. */
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

/** CURL() in a dialplan posts a form; other programs may send JSON. */
const body = z
  .union([
    z.string().transform((text) => Object.fromEntries(new URLSearchParams(text))),
    z.record(z.string(), z.string()),
  ])
  .pipe(fields);

/** The body as it is described. */
const parameters = z.looseObject({ from: z.string().optional(), to: z.string().optional() });

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
      config: { describedBody: { [FORM]: parameters, 'application/json': parameters } },
      schema: {
        operationId: 'announceAsteriskCall',
        summary: 'Announce an AudioSocket call: the caller, the callee and the options of the call',
        description:
          'AudioSocket itself carries only the UUID. Fields: `from`, `to`, `app` and other parameters of the ' +
          'call, as a form (CURL() in a dialplan) or JSON. An announcement is valid for one call within ten ' +
          'minutes; a later one for the same UUID replaces it. If ASTERISK_PASSWORD is set, the request needs ' +
          'Basic credentials (ASTERISK_USER, ASTERISK_PASSWORD). Tried against Asterisk 22.10.1.',
        tags: ['asterisk'],
        security: [],
        consumes: [FORM, 'application/json'],
        params: z.object({ uuid: z.uuid().describe('The UUID that AudioSocket() or Dial(AudioSocket/…) will send') }),
        body,
        response: { 201: z.object({ callId: z.string() }), ...errorResponses(400, 401, 403, 413, 429) },
      },
      onRequest: async (request) => access.admitBasic(request, settings.ASTERISK_USER, settings.ASTERISK_PASSWORD),
    },
    async (request, reply) => {
      const callId = request.params.uuid.toLowerCase();
      const { from = '', to = '', ...others } = request.body;
      announced.announce(callId, { from: from || null, to: to || null, parameters: others });
      await announced.settled();
      return reply.code(201).send({ callId });
    },
  );
  done();
};
