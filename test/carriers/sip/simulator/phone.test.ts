import { afterEach, describe, expect, it } from 'vitest';
import { SipPhone, type SipPhoneOptions } from '../../../../src/carriers/sip/simulator/phone.ts';
import { spacingErrors } from '../../../../src/carriers/sip/simulator/phone-media.ts';
import { systemClock } from '../../../../src/foundation/clock.ts';
import { msToSamples } from '../../../../src/foundation/units.ts';

const phones: SipPhone[] = [];

afterEach(async () => {
  for (const phone of phones.splice(0)) await phone.close();
});

async function openPhone(options: Partial<SipPhoneOptions> = {}): Promise<SipPhone> {
  const phone = await SipPhone.open({ clock: systemClock, ...options });
  phones.push(phone);
  return phone;
}

/** A tone of `durationMs`, loud enough not to be taken for silence. */
function tone(durationMs: number): Int16Array {
  return Int16Array.from(
    { length: msToSamples(durationMs, 8000) },
    (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * i) / 8000),
  );
}

const QUIET = { audio: new Int16Array(0), endless: true };

describe('two phones', () => {
  it('hear each other, keys too, and the one that called hangs up when it has said all', async () => {
    const [caller, callee] = [await openPhone(), await openPhone()];
    const call = await caller.dial({ uri: callee.uri, audio: tone(400), dtmf: [{ atMs: 100, digit: '5' }] });
    const other = await callee.nextCall();
    await other.answer(QUIET);
    await call.answered;
    const [report, heard] = await Promise.all([call.ended, other.ended]);
    expect(report).toMatchObject({ endedBy: 'phone', status: 200, callId: other.callId });
    expect(heard).toMatchObject({ endedBy: 'bridge', received: { digits: '5' } });
    // 20 packets, 7 of them for the key.
    expect(heard.received.packets).toBe(13);
    const packets = other.media?.packets ?? [];
    expect(packets[0]?.marker).toBe(true);
    expect(spacingErrors(packets, 8000)).toHaveLength(11);
    expect(Math.max(...(other.media?.sound ?? []).map(Math.abs))).toBeGreaterThan(7000);
  });

  it('lose packets and let some overtake others', async () => {
    const [caller, callee] = [await openPhone(), await openPhone()];
    const call = await caller.dial({
      uri: callee.uri,
      audio: tone(1000),
      ptimeMs: 10,
      lossShare: 0.2,
      reorderShare: 0.2,
      seed: 3,
    });
    const other = await callee.nextCall();
    await other.answer(QUIET);
    await call.ended;
    const sequences = other.media?.packets.map(({ sequence }) => sequence) ?? [];
    expect(sequences.length).toBeGreaterThan(60);
    expect(sequences.length).toBeLessThan(95);
    expect(sequences.some((sequence, i) => sequence === (((sequences[i - 1] ?? 0) - 1) & 0xffff))).toBe(true);
  });

  it('send nothing while nothing is said, if they are so made', async () => {
    const [caller, callee] = [await openPhone(), await openPhone()];
    const audio = new Int16Array(msToSamples(600, 8000));
    audio.set(tone(100));
    audio.set(tone(100), 4000);
    const call = await caller.dial({ uri: callee.uri, audio, dtx: true });
    const other = await callee.nextCall();
    await other.answer(QUIET);
    await call.ended;
    expect(other.media?.packets.map(({ marker }) => marker)).toEqual(
      [0, 1, 2, 3, 4, 0, 1, 2, 3, 4].map((i) => i === 0),
    );
  });

  it('hold and go on', async () => {
    const [caller, callee] = [await openPhone(), await openPhone()];
    const call = await caller.dial({ uri: callee.uri, ...QUIET });
    const other = await callee.nextCall();
    await other.answer(QUIET);
    await call.answered;
    await call.hold('inactive');
    await call.resume();
    other.hangup();
    expect(await call.ended).toMatchObject({ endedBy: 'bridge' });
  });

  it('come through though signals are lost', async () => {
    const [caller, callee] = [
      await openPhone({ signalLossShare: 0.3, seed: 5 }),
      await openPhone({ signalLossShare: 0.3, seed: 6 }),
    ];
    const call = await caller.dial({ uri: callee.uri, audio: tone(100) });
    const other = await callee.nextCall();
    await other.answer(QUIET);
    expect(await call.ended).toMatchObject({ endedBy: 'phone', status: 200 });
  });
});

describe('a call', () => {
  it('may be refused', async () => {
    const [caller, callee] = [await openPhone(), await openPhone()];
    const call = await caller.dial({ uri: callee.uri, ...QUIET });
    (await callee.nextCall()).refuse('486 Busy Here');
    await expect(call.answered).rejects.toMatchObject({ status: 486 });
    expect(await call.ended).toMatchObject({ endedBy: 'refused', status: 486 });
  });

  it('may be taken back while it rings', async () => {
    const [caller, callee] = [await openPhone(), await openPhone()];
    const call = await caller.dial({ uri: callee.uri, ...QUIET });
    const other = await callee.nextCall();
    call.hangup();
    expect(await call.ended).toMatchObject({ endedBy: 'refused', status: 487 });
    expect(await other.ended).toMatchObject({ endedBy: 'refused' });
  });

  it('goes to an address and no name', async () => {
    const phone = await openPhone();
    await expect(phone.dial({ uri: 'tel:123', ...QUIET })).rejects.toThrow(RangeError);
  });
});
