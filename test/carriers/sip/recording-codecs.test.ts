/** The sound of recordings on real sockets: streams of different codecs, encrypted ones, and none. */
import { afterEach, describe, expect, it } from 'vitest';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { RTP_FORMATS, type RtpCodecName } from '../../../src/carriers/sip/wire/rtp-codecs.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { msToSamples } from '../../../src/foundation/units.ts';
import { type Gateway, startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeUdpPorts } from '../../helpers/ports.ts';
import { RecordingClient } from '../../helpers/recording-client.ts';

const SPOKEN_MS = 1500;

let gateway: Gateway;
let agent: SipAgent;
let client: RecordingClient;
afterEach(async () => {
  await client.close();
  // The calls' clock stands still, so that nobody waits for their last words.
  void gateway.registry.drain(0);
  gateway.clock.advance(60_000);
  await agent.close();
});

async function open(environment: Record<string, string> = {}): Promise<void> {
  const { first, last } = await freeUdpPorts(20);
  gateway = startCalls({ SIP_PORT: '5060', RTP_PORTS: `${first}-${last}`, ...environment });
  const { settings, log, metrics } = gateway.context;
  agent = new SipAgent({ settings, registry: gateway.registry, clock: systemClock, log, metrics });
  const address = await agent.listen('127.0.0.1', 0);
  client = await RecordingClient.open({ transport: 'TCP', port: Number(address.split(':')[1]) });
}

/** Sound that the engine takes for speech, and then silence, in each codec. */
function voices(codecs: readonly RtpCodecName[]) {
  return codecs.map((codec, i) => {
    const { rateHz } = RTP_FORMATS[codec].codec;
    const sine = (_: unknown, at: number): number => 12_000 * Math.sin((2 * Math.PI * 400 * at) / rateHz);
    const audio = Int16Array.from({ length: msToSamples(SPOKEN_MS, rateHz) }, sine);
    return { audio, codec, user: `user${i}` };
  });
}

const finals = () => gateway.events.filter((event) => event.type === 'caption').filter(({ final }) => final);

/** Both tracks are heard. */
async function bothHeard(): Promise<void> {
  const heard = () => finals().map(({ track }) => track);
  await eventually(() => expect(heard().toSorted()).toEqual(['inbound', 'outbound']));
}

describe('the streams of a recording', () => {
  it.each([{ codecs: ['alaw', 'opus'] }, { codecs: ['opus', 'mulaw'] }, { codecs: ['g722', 'opus'] }] as const)(
    'are heard as long as they are, with $codecs',
    async ({ codecs }) => {
      await open();
      await client.record(voices(codecs));
      await bothHeard();
      for (const { startMs, endMs } of finals()) {
        expect(endMs - startMs).toBeGreaterThan(SPOKEN_MS / 1.5);
        expect(endMs - startMs).toBeLessThan(SPOKEN_MS * 1.5);
      }
    },
  );

  it('are only those of SIP_CODECS', async () => {
    await open({ SIP_CODECS: 'mulaw,alaw' });
    await expect(client.record(voices(['opus', 'g722']))).rejects.toThrow('488');
    const { answer } = await client.record(voices(['opus', 'mulaw']));
    expect(answer.match(/^m=audio .*/gm)?.map((line) => /^m=audio 0 /.test(line))).toEqual([true, false]);
  });

  it('are heard encrypted, each with a key of its own, where SRTP is required', async () => {
    await open({ SIP_SRTP: 'require', LOG_LEVEL: 'debug' });
    await expect(client.record(voices(['mulaw', 'mulaw']))).rejects.toThrow('488');
    const { answer, media } = await client.record(voices(['mulaw', 'opus']), { srtp: true });
    expect(answer.match(/^m=audio \d+ RTP\/SAVP /gm)).toHaveLength(2);
    const ours = [...answer.matchAll(/inline:(\S+)/g)].map(([, key = '']) => key);
    expect(new Set(ours).size).toBe(2);
    await bothHeard();
    const theirs = media.map(({ srtpKey }) => Buffer.from(srtpKey ?? []).toString('base64'));
    for (const key of [...ours, ...theirs]) expect(gateway.logLines.join('')).not.toContain(key);
  });
});

describe('a recording without sound', () => {
  it('ends after MEDIA_TIMEOUT_MS, unless its call is on hold or there was sound before', async () => {
    await open({ MEDIA_TIMEOUT_MS: '3000' });
    const two = voices(['mulaw', 'mulaw']);
    const [once, held] = [await client.record(two), await client.record(two, { isSilent: true })];
    await held.hold(true);
    await bothHeard();
    await once.vanish();
    const never = await client.record(two, { isSilent: true });
    const stateOf = ({ callId }: { readonly callId: string }) => gateway.registry.get(callId);
    await eventually(() => expect(stateOf(never)).toMatchObject({ state: 'ended', endReason: 'timeout' }));
    expect([stateOf(once), stateOf(held)]).toMatchObject([{ state: 'live' }, { state: 'live', phase: 'held' }]);
  });
});
