/**
 * A call over AudioSocket as an operator has it: a gateway of its own process with real models, and an Asterisk that is
 * as strict as the real one.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { pcm16ToSamples } from '../../src/audio/pcm.ts';
import { AudioSocketCaller } from '../../src/carriers/audiosocket/simulator/caller.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { type Codec, msToSamples } from '../../src/foundation/units.ts';
import { runBuiltCli } from '../helpers/cli.ts';
import { readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { freePort } from '../helpers/ports.ts';
import { errorRate, recording, recordingPath, sayWhole, textOf, transcribe } from './understanding.ts';

const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };
const ANSWER = 'The first green apple is on the wooden table. Please call me back at noon tomorrow.';
const WER_MAX = 15;
/** Longer than anything takes: the caller hangs up when all is said. */
const LISTEN_MS = 120_000;

let gateway: GatewayProcess | undefined;
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  gateway = undefined;
});

describe('a call over AudioSocket', () => {
  it('is captioned, and hears an answer that can be understood', async () => {
    const port = await freePort();
    gateway = await startGateway({ AUDIOSOCKET_PORT: String(port) });
    const feed = await readFeed(gateway.url);
    const speech = recording('short');
    const audio = new Int16Array(speech.length + msToSamples(LISTEN_MS, LINEAR_8K.rateHz));
    audio.set(speech);
    const heard: number[] = [];
    const caller = new AudioSocketCaller({
      host: '127.0.0.1',
      port,
      audio,
      codec: LINEAR_8K,
      driver: 'application',
      pace: 'realtime',
      clock: systemClock,
      onAudio: (frame) => void heard.push(...pcm16ToSamples(frame)),
    });
    const ended = caller.run();
    await feed.until((event) => event.type === 'caption' && event.final);
    await sayWhole(gateway, caller.uuid, ANSWER);
    await feed.until((event) => event.type === 'spoken' && !event.interrupted);
    caller.hangup();
    // How much a hold-up of this machine clips is in docs/internals/decisions/0027.
    expect(await ended).toMatchObject({ endedBy: 'caller', warnings: [] });
    await feed.until((event) => event.type === 'call.ended' && event.reason === 'hangup');
    const captions = feed.finals(caller.uuid).map(({ text }) => text);
    expect(errorRate(textOf('short'), captions.join(' '))).toBeLessThan(WER_MAX);
    expect(errorRate(ANSWER, await transcribe(gateway, Int16Array.from(heard)))).toBeLessThan(WER_MAX);
    feed.close();
  });

  it('is placed by trunkline call, which announces it', async () => {
    const port = String(await freePort());
    gateway = await startGateway({ AUDIOSOCKET_PORT: port, ASTERISK_PASSWORD: 'secret' });
    const environment = { AUDIOSOCKET_PORT: port, PORT: new URL(gateway.url).port, ASTERISK_PASSWORD: 'secret' };
    const { code, out } = await runBuiltCli(
      [
        'call',
        recordingPath('short'),
        '--carrier',
        'audiosocket',
        '--fast',
        '--json',
        '--from',
        '+15550123',
        '--param',
        'bargeIn=off',
      ],
      environment,
    );
    const report = JSON.parse(out) as { uuid: string };
    expect([code, report]).toMatchObject([0, { endedBy: 'caller', warnings: [] }]);
    const view = await (await fetch(`${gateway.url}/v1/calls/${report.uuid}`)).json();
    expect(view).toMatchObject({ carrier: 'audiosocket', from: '+15550123', to: '+15550199' });
  });
});
