/** Calls of a phone with a bridge: real sockets on loopback, time of the test's. */
import { afterEach, describe, expect, it } from 'vitest';
import type { PhoneCall } from '../../../../src/carriers/sip/simulator/call.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { freeUdpPorts } from '../../../helpers/ports.ts';
import { PhoneLine, soundOf, speech } from './phone-line.ts';

const lines: PhoneLine[] = [];

afterEach(async () => {
  for (const line of lines.splice(0)) await line.close();
});

async function openLine(environment: Record<string, string> = {}, ports = 10): Promise<PhoneLine> {
  const { first, last } = await freeUdpPorts(ports);
  const line = await PhoneLine.open({ RTP_PORTS: `${first}-${last}`, ...environment });
  lines.push(line);
  return line;
}

/** How many packets with sound came, silence left out. */
function soundPackets(call: PhoneCall, from = 0): number {
  const heard = call.media?.packets.slice(from) ?? [];
  return heard.filter(({ payload }) => payload.some((byte) => (byte & 0x7f) < 0x70)).length;
}

describe('a phone call', () => {
  it('is captioned though a tenth of its packets are lost and a tenth overtaken', async () => {
    const line = await openLine();
    const audio = soundOf(300, speech(1500), 800, speech(1000), 1000);
    const call = await line.call({ audio, endless: false, lossShare: 0.1, reorderShare: 0.1, seed: 11 });
    await line.run(6000);
    expect(await call.ended).toMatchObject({ endedBy: 'phone' });
    const finals = line.events('caption').filter(({ final }) => final);
    expect(finals.map(({ text }) => text)).toEqual(['secret words', 'secret words']);
    // To a packet or two that were lost at an edge, and the rolls before and after.
    const expected = [
      [200, 1900],
      [2500, 3700],
    ];
    for (const [i, { startMs, endMs }] of finals.entries()) {
      expect(Math.abs(startMs - (expected[i]?.[0] ?? 0))).toBeLessThanOrEqual(100);
      expect(Math.abs(endMs - (expected[i]?.[1] ?? 0))).toBeLessThanOrEqual(100);
    }
    const [ended] = line.events('call.ended');
    expect(ended).toMatchObject({ reason: 'hangup', callId: call.callId });
    expect(Math.abs((ended?.durationMs ?? 0) - 4600)).toBeLessThanOrEqual(40);
    const [logged = '{}'] = line.gateway.logLines.filter((text) => text.includes('media ended'));
    const { received, lost } = JSON.parse(logged) as { received: number; lost: number };
    expect(lost).toBeGreaterThan(10);
    expect(Math.abs(received + lost - 230)).toBeLessThanOrEqual(2);
  });

  it('is captioned when its phone sends nothing in its pauses', async () => {
    const line = await openLine();
    await line.call({ audio: soundOf(speech(1000), 3000, speech(1000)), dtx: true });
    await line.run(2200);
    expect(line.events('caption').filter(({ final }) => final)).toHaveLength(1);
    await line.run(4000);
    const finals = line.events('caption').filter(({ final }) => final);
    expect(finals).toHaveLength(2);
    // Before the pause's end there was no sound to begin with.
    expect(Math.abs((finals[1]?.startMs ?? 0) - 4000)).toBeLessThanOrEqual(100);
  });

  it('tells the keys that are pressed, and presses some itself, without their tones', async () => {
    const line = await openLine();
    const call = await line.call();
    call.press('159#');
    await line.run(1200);
    expect(
      line
        .events('dtmf')
        .map(({ digit }) => digit)
        .join(''),
    ).toBe('159#');
    line.gateway.registry.voice(call.callId)?.sendDigits('42*');
    await line.run(1000);
    expect(call.media?.received.digits).toBe('42*');
    expect(soundPackets(call)).toBe(0);
  });

  it('is silent while it is held, and goes on in its time', async () => {
    const line = await openLine();
    const call = await line.call({ audio: soundOf(speech(60_000)) });
    await line.run(1000);
    for (const how of ['inactive', 'nowhere'] as const) {
      await call.hold(how);
      await line.run(100);
      const before = call.media?.packets.length ?? 0;
      await line.run(1000);
      expect(call.media?.packets.length).toBe(before);
      await call.resume();
      await line.run(500);
      const after = call.media?.packets.slice(before) ?? [];
      expect(after.length).toBeGreaterThanOrEqual(24);
      expect(after[0]?.marker).toBe(true);
      expect(
        ((after[0]?.timestamp ?? 0) - (call.media?.packets[before - 1]?.timestamp ?? 0)) >>> 0,
      ).toBeGreaterThanOrEqual(8 * 1000);
    }
  });

  it('falls silent at once when its caller speaks', async () => {
    const line = await openLine();
    const audio = soundOf(60_000);
    line.gateway.engine.utter = () => speech(20_000);
    const call = await line.call({ audio });
    line.gateway.registry
      .voice(call.callId)
      ?.say('It is a very long story that nobody should have to listen to, from its beginning to its very end.');
    await line.run(1000);
    expect(soundPackets(call)).toBeGreaterThan(40);
    audio.set(speech(3000), 8 * (call.media?.sentMs ?? 0));
    while (line.events('speech.started').length === 0) await line.run(10);
    const heard = call.media?.packets.length ?? 0;
    await line.run(2000);
    expect(soundPackets(call, heard)).toBeLessThanOrEqual(2);
    expect(line.events('spoken')).toMatchObject([{ interrupted: true }]);
  });

  it('ends when its phone is gone', async () => {
    const line = await openLine({ MEDIA_TIMEOUT_MS: '5000' });
    const call = await line.call();
    await line.run(1000);
    void call.media?.close();
    await line.run(4500);
    expect(line.events('call.ended')).toEqual([]);
    await line.run(2000);
    expect(line.events('call.ended')).toMatchObject([{ reason: 'timeout' }]);
    expect(await call.ended).toMatchObject({ endedBy: 'bridge' });
  });

  it('is kept alive by silence, at the pace that its phone wishes', async () => {
    const line = await openLine();
    const call = await line.call({ ptimeMs: 40 });
    await line.run(2000);
    const heard = call.media?.packets ?? [];
    expect(heard.length).toBeGreaterThanOrEqual(49);
    expect(new Set(heard.map(({ payload }) => payload.length))).toEqual(new Set([320]));
    expect(soundPackets(call)).toBe(0);
  });

  it('may speak A-law, and leave the offer to the bridge', async () => {
    const line = await openLine();
    const call = await line.call({ codec: 'alaw', late: true, audio: soundOf(speech(1000), 60_000) });
    await line.run(2000);
    expect(line.events('caption').filter(({ final }) => final)).toHaveLength(1);
    expect(call.media?.packets.length).toBeGreaterThan(90);
  });
});

it('gives its ports back when its calls are over, sixty and more', async () => {
  const line = await openLine({ MAX_CALLS: '100', SIP_DIALOGS_MAX: '100' }, 120);
  for (let round = 0; round < 2; round++) {
    const calls: PhoneCall[] = [];
    for (let i = 0; i < 60; i++) calls.push(await line.call());
    await expect(line.call()).rejects.toMatchObject({ status: 503 });
    await line.run(100);
    expect(line.gateway.registry.liveCount).toBe(60);
    for (const call of calls) call.hangup();
    // A datagram that a busy machine lost is sent again by the call's clock.
    await eventually(async () => {
      await line.run(20);
      expect(line.gateway.registry.liveCount).toBe(0);
    });
    // So many calls at once are all that one source may ask for in this time.
    line.gateway.clock.advance(5000);
  }
});
