/** Recordings by SIPREC, message by message. */
import { afterEach, describe, expect, it } from 'vitest';
import { bodyIn, headerIn, SipLine } from './line.ts';
import { inviteOf, OFFERS, record, streamsIn } from './recording-offers.ts';

let line: SipLine;
afterEach(() => line.close());

const started = () => line.gateway.events.find((event) => event.type === 'call.started');

describe('the recording that a vendor sends', () => {
  it.each(Object.entries(OFFERS))('%s: becomes one call with its parties and tracks', async (name, expected) => {
    line = new SipLine();
    const { answer } = await record(line, inviteOf(name));
    expect(answer).toMatch(/^SIP\/2\.0 200/);
    expect(streamsIn(answer)).toEqual(expected.answer);
    expect(bodyIn(answer).match(/^a=recvonly\r$/gm)).toHaveLength(expected.answer.length);
    const { from, to, names, references } = expected;
    const tracks = expected.tracks.length === 1 ? ['inbound'] : ['inbound', 'outbound'];
    const sipCallId = headerIn(answer, 'Call-ID');
    expect(started()).toMatchObject({ carrier: 'siprec', from, to, names, tracks });
    expect(started()).toMatchObject({ references: { sipCallId, ...references } });
    expect(Object.keys(started()?.references ?? {})).toHaveLength(1 + Object.keys(references).length);
    expect(line.media.map(({ remotes }) => remotes[0]?.format.name)).toEqual(expected.codecs);
    expect(line.media.every(({ remotes }) => remotes[0]?.sends === true && remotes[0].receives === false)).toBe(true);
  });
});
