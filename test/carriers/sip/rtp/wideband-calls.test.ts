/** Calls of a phone with wideband sound: real sockets on loopback, time of the test's. */
import { afterEach, describe, expect, it } from 'vitest';
import { freeUdpPorts } from '../../../helpers/ports.ts';
import { energyAt } from '../../../helpers/tones.ts';
import { PhoneLine } from './phone-line.ts';

const RATE_HZ = 16_000;
const lines: PhoneLine[] = [];

afterEach(async () => {
  for (const line of lines.splice(0)) await line.close();
});

async function openLine(environment: Record<string, string> = {}): Promise<PhoneLine> {
  const { first, last } = await freeUdpPorts(10);
  const line = await PhoneLine.open({ RTP_PORTS: `${first}-${last}`, ...environment });
  lines.push(line);
  return line;
}

/** Two tones, of which a narrow line carries only the lower one. */
function tones(durationMs: number): Int16Array {
  return Int16Array.from({ length: (durationMs * RATE_HZ) / 1000 }, (_, i) => {
    const at = (hertz: number): number => 7000 * Math.sin((2 * Math.PI * hertz * i) / RATE_HZ);
    return at(1000) + at(5500);
  });
}

function withSilence(sound: Int16Array, afterMs: number): Int16Array {
  const all = new Int16Array(sound.length + (afterMs * RATE_HZ) / 1000);
  all.set(sound);
  return all;
}

/** How much softer the upper tone is than the lower one, in dB. */
function missingDb(samples: Int16Array): number {
  return 10 * Math.log10(energyAt(samples, 1000, RATE_HZ) / energyAt(samples, 5500, RATE_HZ));
}

describe.each(['g722', 'opus'] as const)('a call with %s', (codec) => {
  it('is recognised from all of its sound', async () => {
    const line = await openLine();
    const call = await line.call({ codec, audio: withSilence(tones(1500), 1500), endless: false });
    await line.run(3500);
    expect(await call.ended).toMatchObject({ endedBy: 'phone' });
    const finals = line.events('caption').filter(({ final }) => final);
    expect(finals.map(({ text }) => text)).toEqual(['secret words']);
    const heard = line.gateway.engine.transcribed.at(-1)?.samples ?? new Int16Array(0);
    expect(missingDb(Int16Array.from(heard, (sample) => 32_767 * sample))).toBeLessThan(6);
  });

  it('speaks with all of its sound', async () => {
    const line = await openLine();
    line.gateway.engine.utter = () => tones(2000);
    const call = await line.call({ codec });
    line.gateway.registry.voice(call.callId)?.say('Good morning.');
    await line.run(2500);
    expect(call.media?.format.name).toBe(codec);
    expect(missingDb(call.media?.sound ?? new Int16Array(0))).toBeLessThan(6);
  });

  it('has its keys and times right though its packets count by another clock', async () => {
    const line = await openLine();
    const call = await line.call({ codec, ptimeMs: 40 });
    call.press('42#');
    await line.run(2000);
    const digits = line.events('dtmf').map(({ digit }) => digit);
    expect(digits.join('')).toBe('42#');
    const [first, ...others] = call.media?.packets ?? [];
    const last = others.at(-1);
    const clockHz = codec === 'opus' ? 48_000 : 8000;
    expect((((last?.timestamp ?? 0) - (first?.timestamp ?? 0)) >>> 0) / clockHz).toBeCloseTo(others.length * 0.04, 5);
  });

  it('is captioned though a tenth of its packets are lost and a tenth overtaken', async () => {
    const line = await openLine();
    const audio = withSilence(tones(1500), 1000);
    const call = await line.call({ codec, audio, endless: false, lossShare: 0.1, reorderShare: 0.1, seed: 11 });
    await line.run(4000);
    await call.ended;
    const [final] = line.events('caption').filter((caption) => caption.final);
    expect(final?.text).toBe('secret words');
    expect(Math.abs((final?.endMs ?? 0) - 1600)).toBeLessThanOrEqual(150);
    const [ended] = line.events('call.ended');
    expect(Math.abs((ended?.durationMs ?? 0) - 2500)).toBeLessThanOrEqual(60);
  });
});

describe('which codec a call has', () => {
  it('is wideband only where it is allowed', async () => {
    const line = await openLine({ SIP_CODECS: 'mulaw,alaw' });
    await expect(line.call({ codec: 'g722' })).rejects.toMatchObject({ status: 488 });
  });

  it('is that of the answer when the offer is ours', async () => {
    const line = await openLine();
    const call = await line.call({ codec: 'g722', late: true, audio: tones(60_000) });
    await line.run(1000);
    expect(call.media?.packets.length).toBeGreaterThan(40);
    expect(call.media?.packets[0]?.payload).toHaveLength(160);
  });
});
