import { describe, expect, test } from 'vitest';
import type { SoundStateEvent } from '../../../src/calls/feed/events.ts';
import { recordModeOf } from '../../../src/calls/sound/call-recording.ts';
import { type Gateway, startCalls } from '../harness.ts';
import { type MemorySound, MemoryTap } from './memory-tap.ts';

interface Started {
  readonly gateway: Gateway;
  readonly tap: MemoryTap;
  readonly caller: ReturnType<Gateway['dial']>;
}

function start(environment: Record<string, string>, parameters: Record<string, string> = {}): Started {
  const tap = new MemoryTap();
  const gateway = startCalls(environment, tap);
  return { gateway, tap, caller: gateway.dial().start({ parameters }) };
}

const states = ({ events }: Gateway): string[] =>
  events.filter((event): event is SoundStateEvent => event.type === 'recording').map(({ state }) => state);

test('nothing is recorded unless it is asked for', () => {
  const { gateway, tap } = start({});
  expect(tap.opened).toEqual([]);
  expect(states(gateway)).toEqual([]);
  expect(gateway.registry.get('CA1')?.sound).toBeNull();
});

test('RECORD=caller records the caller alone', async () => {
  const { gateway, tap, caller } = start({ RECORD: 'caller' });
  caller.hush(1000);
  gateway.registry.voice('CA1')?.play(new Int16Array(8000).fill(9000), 8000, { label: 'beep' });
  await gateway.clock.run(2000);
  caller.speak(500);
  const sound = tap.opened[0] as MemorySound;
  expect(sound.loudIn('heard')).toEqual([]);
  expect(sound.loudIn('caller')).toHaveLength(1);
});

describe('the parameter record', () => {
  test.each([
    ['off', 'both', 'both'],
    ['off', 'caller', 'caller'],
    ['caller', 'both', 'both'],
    ['both', 'off', 'both'],
    ['both', 'caller', 'both'],
    ['caller', null, 'caller'],
  ] as const)('asks for more than RECORD=%s with %s, never for less: %s', (setting, asked, mode) => {
    expect(recordModeOf(setting, asked)).toBe(mode);
  });

  test('begins the recording of one call', () => {
    const { gateway } = start({}, { Record: 'both' });
    expect(states(gateway)).toEqual(['on']);
    expect(gateway.registry.get('CA1')?.sound).toBe('recording');
  });
});

test('what is said while it is paused is silence, and each change is told', async () => {
  const { gateway, tap, caller } = start({ RECORD: 'both' });
  caller.speak(500);
  expect(gateway.registry.setRecording('CA1', 'paused')).toBe(true);
  caller.speak(500);
  expect(gateway.registry.get('CA1')?.sound).toBe('paused');
  gateway.registry.setRecording('CA1', 'on');
  caller.speak(500).stop();
  await gateway.clock.run(5000);
  const sound = tap.opened[0] as MemorySound;
  expect(sound.loudIn('caller')).toEqual([
    [0, 500],
    [1000, 1500],
  ]);
  expect(sound.durationMs).toBe(1500);
  expect(gateway.events.filter(({ type }) => type === 'recording')).toMatchObject([
    { state: 'on', atMs: 0 },
    { state: 'paused', atMs: 500 },
    { state: 'on', atMs: 1000 },
  ]);
});

test('a call that ended while it was paused keeps what was recorded before', async () => {
  const { gateway, caller } = start({ RECORD: 'both' });
  gateway.registry.setRecording('CA1', 'paused');
  caller.stop();
  await gateway.clock.run(5000);
  expect(gateway.registry.get('CA1')).toMatchObject({ state: 'ended', sound: 'recorded' });
});

test('recording can begin in the middle of a call, and end before it', () => {
  const { gateway, tap, caller } = start({});
  caller.speak(500);
  gateway.registry.setRecording('CA1', 'on');
  caller.speak(500);
  gateway.registry.setRecording('CA1', 'off');
  caller.speak(500);
  expect(states(gateway)).toEqual(['on', 'off']);
  expect(gateway.registry.get('CA1')?.sound).toBe('recorded');
  expect((tap.opened[0] as MemorySound).loudIn('caller')).toEqual([[500, 1000]]);
});

test('where nothing keeps sound, or there is no such call, the registry says so', () => {
  const gateway = startCalls();
  gateway.dial().start();
  expect(gateway.registry.setRecording('CA1', 'on')).toBe(false);
  expect(gateway.registry.setRecording('CA2', 'on')).toBeUndefined();
});

describe('the announcement', () => {
  const ANNOUNCED = { RECORD: 'both', RECORD_ANNOUNCEMENT: 'This call is recorded.' };

  test('is heard to its end before anything is recorded', async () => {
    const { gateway, tap, caller } = start(ANNOUNCED);
    caller.speak(100);
    await gateway.clock.run(100);
    expect(states(gateway)).toEqual([]);
    for (let ms = 0; ms < 4000; ms += 20) {
      await gateway.clock.run(20);
      caller.returnMarks(gateway.clock.nowMs()).hush(20);
    }
    expect(gateway.events.find(({ type }) => type === 'spoken')).toMatchObject({
      text: 'This call is recorded.',
      interrupted: false,
    });
    expect(states(gateway)).toEqual(['on']);
    caller.speak(200);
    const sound = tap.opened[0] as MemorySound;
    expect(sound.loudIn('heard')).toEqual([]);
    expect(sound.loudIn('caller')).toHaveLength(1);
  });

  test('is said again when it was cut off, and three times at most', async () => {
    const { gateway } = start(ANNOUNCED);
    for (let times = 0; times < 5; times++) {
      await gateway.clock.run(100);
      gateway.registry.voice('CA1')?.interrupt();
    }
    expect(gateway.events.filter(({ type }) => type === 'spoken')).toHaveLength(3);
    expect(states(gateway)).toEqual([]);
    expect(gateway.logLines.join()).toContain('its announcement was cut off each time');
  });
});

describe('keys', () => {
  test('of the caller pause the recording and go on with it', () => {
    const { gateway, caller } = start({ RECORD: 'both', RECORD_PAUSE_KEY: '*9' });
    caller.press('*').press('9');
    expect(states(gateway)).toEqual(['on', 'paused']);
    caller.press('1').press('*').press('9');
    expect(states(gateway)).toEqual(['on', 'paused', 'on']);
  });

  test('that come seconds apart are no row', async () => {
    const { gateway, caller } = start({ RECORD: 'both', RECORD_PAUSE_KEY: '*9' });
    caller.press('*');
    await gateway.clock.run(5000);
    caller.press('9');
    expect(states(gateway)).toEqual(['on']);
  });

  test('do nothing where nothing is recorded, or none are set', () => {
    const silent = start({ RECORD_PAUSE_KEY: '*9' });
    silent.caller.press('*').press('9');
    expect(states(silent.gateway)).toEqual([]);
    const unset = start({ RECORD: 'both' });
    unset.caller.press('*').press('9');
    expect(states(unset.gateway)).toEqual(['on']);
  });
});

test('a full disk ends the recording until there is room, and the call goes on', () => {
  const { gateway, tap, caller } = start({ RECORD: 'both' });
  caller.speak(500);
  const sound = tap.opened[0] as MemorySound;
  sound.call.onTrouble('disk_full');
  caller.speak(500);
  sound.call.onRecovered();
  caller.speak(500);
  expect(states(gateway)).toEqual(['on', 'off', 'on']);
  expect(sound.loudIn('caller')).toEqual([
    [0, 500],
    [1000, 1500],
  ]);
});
