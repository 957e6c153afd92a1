/** A carrier that there is not: one folder, as those of src/carriers. */
import { streamPart } from '../../../../src/carriers/shared/stream-part.ts';
import type { Part } from '../../../../src/parts/part.ts';

export const pretendCarrier: Part = {
  ...streamPart({
    name: 'pretend',
    people: 'Pretend Telephone',
    summary: "Pretend Telephone's streams (WebSocket)",
    token: '?token= in the URL',
    load: async () => {
      const { SignalWireDialect } = await import('../../../../src/carriers/signalwire/wire/signalwire.ts');
      return (options) => new SignalWireDialect(options);
    },
  }),
  check: async () => [{ name: 'pretend', status: 'warn', detail: 'nobody answers there' }],
};
