/** FreeSWITCH: calls that mod_audio_fork or mod_audio_stream stream over WebSocket. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { streamPart } from '../shared/stream-part.ts';
import { type FreeSwitchQuery, MIXES, PLAYS, RATES } from './wire/query.ts';

/** Always on: without a secret it takes calls of this machine alone. */
export const freeswitch = streamPart({
  name: 'freeswitch',
  people: 'FreeSWITCH',
  summary: "FreeSWITCH's mod_audio_fork and mod_audio_stream (WebSocket)",
  token: 'the password of MOD_AUDIO_BASIC_AUTH_PASSWORD, a header of STREAM_EXTRA_HEADERS, or ?token= in the URL',
  query: {
    rate: z.enum(RATES).optional().describe('The rate of the command `start`; 8000 by default'),
    mix: z.enum(MIXES).optional().describe('The mix of the command `start`; mono by default'),
    play: z
      .enum(PLAYS)
      .optional()
      .describe(
        'How sound goes back, with mix=mono: binary messages, or the files of one of the modules; none by default',
      ),
  },
  fillSilence: true,
  load: async () => {
    const { FreeSwitchDialect } = await import('./wire/freeswitch.ts');
    return ({ query }) => new FreeSwitchDialect({ streamId: randomUUID(), ...(query as FreeSwitchQuery) });
  },
});
