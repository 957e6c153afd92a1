import { afterEach, describe, expect, it, vi } from 'vitest';
import { CallAnnouncements } from '../../../src/calls/admission/call-announcements.ts';
import { AudioSocketServer } from '../../../src/carriers/audiosocket/server.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { type Gateway, metricValue, startCalls } from '../../calls/harness.ts';
import { delivered } from '../../helpers/loopback.ts';
import { Asterisk, arrived, frame, message, NAMED, named, UUID } from './line.ts';

const OTHER_UUID = '00000000-0000-4000-8000-000000000002';
const LOUD = 8000;

interface Trunk {
  readonly gateway: Gateway;
  readonly announced: CallAnnouncements;
  readonly server: AudioSocketServer;
  readonly port: number;
}

const trunks: Trunk[] = [];
afterEach(async () => {
  for (const { gateway, server } of trunks.splice(0)) {
    const drained = gateway.registry.drain(0);
    gateway.clock.advance(0);
    await drained;
    await server.close();
  }
});

async function openTrunk(environment: Record<string, string> = {}): Promise<Trunk> {
  const gateway = startCalls(environment);
  const { settings, clock, log, metrics } = gateway.context;
  const announced = new CallAnnouncements({ clock });
  const server = new AudioSocketServer({ settings, registry: gateway.registry, announced, clock, log, metrics });
  const address = await server.listen('127.0.0.1', 0);
  expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  const trunk = { gateway, announced, server, port: Number(address.split(':')[1]) };
  trunks.push(trunk);
  return trunk;
}

/** `durationMs` go by, in which the caller speaks loudly or is silent (0). */
async function pass({ gateway }: Trunk, asterisk: Asterisk, durationMs: number, level: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += FRAME_MS) {
    gateway.clock.advance(FRAME_MS);
    asterisk.say(frame(level));
    for (let turn = 0; turn < 2; turn++) await delivered();
  }
}

async function beginCall(trunk: Trunk, uuid = UUID): Promise<Asterisk> {
  const asterisk = await Asterisk.connect(trunk.port);
  asterisk.say(named(uuid), frame(0));
  await arrived(() => trunk.gateway.registry.get(uuid) !== undefined);
  return asterisk;
}

const soundOf = (asterisk: Asterisk) => asterisk.heard.filter((bytes) => bytes.some((byte) => byte !== 0)).length;

describe('a call over AudioSocket', () => {
  it('is captioned, tells its keys, and ends when Asterisk closes', async () => {
    const trunk = await openTrunk();
    const asterisk = await beginCall(trunk);
    asterisk.say(message(0x03, Buffer.from('#')));
    await pass(trunk, asterisk, 800, LOUD);
    await pass(trunk, asterisk, 800, 0);
    asterisk.hangUp();
    const { events } = trunk.gateway;
    await arrived(() => events.some(({ type }) => type === 'call.ended'));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'call.started', callId: UUID, carrier: 'audiosocket' }),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: 'dtmf', callId: UUID, digit: '#' }));
    expect(events).toContainEqual(expect.objectContaining({ type: 'caption', final: true, text: 'secret words' }));
    expect(events.at(-1)).toMatchObject({ type: 'call.ended', reason: 'hangup' });
  });

  it('hears what is said in exact frames, one each 20 ms, and silence around it', async () => {
    const trunk = await openTrunk();
    const asterisk = await beginCall(trunk);
    const text = 'Your balance is forty two dollars.';
    trunk.gateway.registry.voice(UUID)?.say(text);
    await pass(trunk, asterisk, 2000, 0);
    expect(soundOf(asterisk)).toBe(text.length);
    expect(asterisk.heard.length).toBeGreaterThanOrEqual(98);
    expect(asterisk.heard.length).toBeLessThanOrEqual(101);
    expect(asterisk.pieces.filter((size) => size % 323 !== 0)).toEqual([]);
    expect([asterisk.reader.end, [...asterisk.reader.warnings]]).toEqual([null, []]);
    expect(trunk.gateway.events).toContainEqual(
      expect.objectContaining({ type: 'spoken', interrupted: false, heardText: text }),
    );
  });

  it('falls silent at once when it is interrupted: not a frame of sound follows', async () => {
    const trunk = await openTrunk();
    const asterisk = await beginCall(trunk);
    const voice = trunk.gateway.registry.voice(UUID);
    voice?.say('Your balance is forty two dollars. '.repeat(5));
    await pass(trunk, asterisk, 500, 0);
    const before = soundOf(asterisk);
    const heard = voice?.interrupt();
    await pass(trunk, asterisk, 1000, 0);
    expect([before > 15, soundOf(asterisk) - before]).toEqual([true, 0]);
    expect(heard?.heardText).toBe('Your balance is forty');
  });

  it('is what was announced under its UUID, once', async () => {
    const trunk = await openTrunk({ CALLS_KEPT: '0' });
    trunk.announced.announce(UUID, { from: '+15550100', to: '601', parameters: {} });
    (await beginCall(trunk)).hangUp();
    expect(trunk.gateway.registry.get(UUID)).toMatchObject({ from: '+15550100', to: '601' });
    await arrived(() => trunk.gateway.registry.get(UUID) === undefined);
    await beginCall(trunk);
    expect(trunk.gateway.registry.get(UUID)).toMatchObject({ from: null, to: null });
  });

  it.each([
    ['', 1],
    ['secret', 0],
  ])('may name an app when it was announced with a password (%j)', async (password, warnings) => {
    const trunk = await openTrunk({ ASTERISK_PASSWORD: password });
    trunk.announced.announce(UUID, { from: null, to: null, parameters: { app: 'ws://127.0.0.1:9/' } });
    await beginCall(trunk);
    expect(trunk.gateway.logLines.filter((line) => line.includes('APP_ALLOWED_ORIGINS'))).toHaveLength(warnings);
  });

  it('may have the id of another: it is told apart by its connection', async () => {
    const trunk = await openTrunk();
    await beginCall(trunk);
    (await Asterisk.connect(trunk.port)).say(NAMED, frame(0));
    await arrived(() => trunk.gateway.registry.list().length === 2);
    expect(trunk.gateway.registry.list()[0]?.id).toMatch(new RegExp(`^${UUID}:[0-9a-f-]{36}$`));
  });
});

describe('the port', () => {
  it('cuts off whoever AUDIOSOCKET_ALLOW does not name, counts it, and tells nobody else', async () => {
    const before = await metricValue('trunkline_refused_total', { code: 'address_refused' });
    const trunk = await openTrunk({ AUDIOSOCKET_ALLOW: '192.0.2.0/24,2001:db8::1' });
    const asterisk = await Asterisk.connect(trunk.port);
    asterisk.say(NAMED, frame(0));
    await arrived(() => asterisk.isClosed);
    expect([asterisk.pieces, trunk.gateway.registry.liveCount]).toEqual([[], 0]);
    expect((await metricValue('trunkline_refused_total', { code: 'address_refused' })) - before).toBe(1);
    expect(trunk.gateway.logLines.filter((line) => !line.includes('"level":20'))).toEqual([]);
  });

  it('takes no more than MAX_CALLS, strangers who have not named a call included', async () => {
    const trunk = await openTrunk({ MAX_CALLS: '1' });
    const first = await Asterisk.connect(trunk.port);
    await arrived(() => trunk.gateway.registry.liveCount === 1);
    const second = await Asterisk.connect(trunk.port);
    await arrived(() => second.isClosed);
    expect([first.isClosed, second.pieces]).toEqual([false, []]);
    expect(trunk.gateway.logLines.join()).toContain('too_many_calls');
  });

  it('closes when its calls have been drained', async () => {
    const trunk = await openTrunk();
    const asterisk = await beginCall(trunk);
    const drained = trunk.gateway.registry.drain(5000);
    const late = await Asterisk.connect(trunk.port);
    await arrived(() => late.isClosed);
    const closed = vi.fn();
    const closing = trunk.server.close().then(closed);
    await pass(trunk, asterisk, 200, 0);
    expect(closed).not.toHaveBeenCalled();
    trunk.gateway.clock.advance(5000);
    await drained;
    await closing;
    expect(asterisk.reader.end).toBe('hangup');
    await trunk.server.close();
  });

  it('says so when it cannot be had', async () => {
    const trunk = await openTrunk();
    const { server } = await openTrunk();
    await server.close();
    await expect(server.listen('127.0.0.1', trunk.port)).rejects.toThrow('EADDRINUSE');
  });

  it('survives calls that come and go in any way', async () => {
    const trunk = await openTrunk();
    for (let i = 0; i < 20; i++) {
      const asterisk = await Asterisk.connect(trunk.port);
      if (i % 4 > 0) asterisk.say(named(OTHER_UUID.replace(/02$/, String(10 + i))));
      if (i % 4 > 1) asterisk.say(frame(0).subarray(0, i * 10));
      if (i % 2 === 0) asterisk.socket.resetAndDestroy();
      else asterisk.hangUp();
    }
    await arrived(() => trunk.gateway.registry.liveCount === 0);
    expect(trunk.gateway.logLines.join()).not.toContain('"internal"');
  });
});
