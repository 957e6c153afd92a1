/** What clients of a server that there is not ask for, and what they expect. */
import { z } from 'zod';
import type { ClientRoutes, MakeFamily } from '../../../../src/clients/shared/client-part.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import { errorResponses } from '../../../../src/http/server/errors.ts';
import { nameSchemas } from '../../../../src/http/server/named-schemas.ts';

const pretendError = z.object({ wrong: z.string() });

nameSchemas({ PretendError: pretendError });

/** `POST /pretend/hear`, which hears nothing. */
export const pretendRoutes: ClientRoutes = (app, _options, done) => {
  app.post(
    '/pretend/hear',
    {
      config: {
        permission: 'transcriptions',
        refusal: ({ code }) => ({ body: { wrong: code } }),
        errorBody: pretendError,
      },
      schema: {
        operationId: 'pretendToHear',
        summary: 'Text of sound (Pretend)',
        tags: ['recordings'],
        response: { 200: z.object({ text: z.string() }), ...errorResponses(401, 403, 429, 501) },
      },
    },
    () => {
      throw new TrunklineError('not_implemented', 'nothing is heard');
    },
  );
  done();
};

/** Its clients on OpenAI's paths: their models are called `pretend-…`. */
export const pretendFamily: MakeFamily = () => ({
  models: {
    recogniser: { listed: ['pretend-ears'], taken: /^pretend-ears$/ },
    voice: { listed: ['pretend-mouth'], taken: /^pretend-mouth$/ },
  },
  sends: ({ model }) => (typeof model === 'string' && model !== '' ? model.startsWith('pretend-') : null),
  statusFor: () => 418,
  errorBody: ({ code }) => ({ wrong: code }),
  wantsWholeWav: true,
  wantsLanguage: false,
  onAnswered: () => undefined,
});
