import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  AsteriskCaller,
  type AsteriskCallOptions,
  type AsteriskCallReport,
} from '../../../../src/carriers/asterisk/simulator/caller.ts';
import { readSettings } from '../../../../src/foundation/settings/config.ts';
import { type Codec, MULAW_8K } from '../../../../src/foundation/units.ts';
import { type Gateway, runGateway } from '../../../../src/gateway/main.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { tones } from '../../../helpers/signals.ts';

const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };

type Said = string | number;

/** Places a call with a server that does `onMessage`; what the server was told, media as their sizes. */
async function call(
  options: Partial<AsteriskCallOptions>,
  onMessage: (said: Said, socket: WebSocket) => void = () => undefined,
): Promise<{ report: AsteriskCallReport; told: Said[]; protocol: string; authorization: string | undefined }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const told: Said[] = [];
  let protocol = '';
  let authorization: string | undefined;
  server.on('connection', (socket, request) => {
    ({ protocol } = socket);
    ({ authorization } = request.headers);
    socket.on('message', (data: Buffer, isBinary) => {
      const said = isBinary ? data.length : data.toString();
      told.push(said);
      onMessage(said, socket);
    });
  });
  const address = server.address();
  const url = `ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  const defaults = {
    url,
    audio: new Int16Array(800),
    codec: MULAW_8K,
    format: 'plain-text',
    pace: 'fast',
    clock: new FakeClock(),
  } as const;
  const report = await new AsteriskCaller({ ...defaults, ...options }).run();
  await new Promise((resolve) => server.close(resolve));
  return { report, told, protocol, authorization };
}

describe('a simulated Asterisk', () => {
  it('begins with MEDIA_START in plain text, sends its frames and the short last one, and closes', async () => {
    const { report, told, protocol } = await call({ audio: new Int16Array(360) });
    expect(told[0]).toMatch(
      /^MEDIA_START connection_id:trunkline channel:WebSocket\/trunkline\/0x[0-9a-f]+ channel_id:\d+\.\d+ format:ulaw optimal_frame_size:160 ptime:20$/,
    );
    expect(told.slice(1)).toEqual([160, 160, 40]);
    expect(report).toMatchObject({ sentMs: 60, closeCode: 1000, answered: false, warnings: [] });
    expect(protocol).toBe('media');
  });

  it('shows its credentials, and tells variables in JSON', async () => {
    const variables = { __TRUNKLINE_FROM: '+15550100' };
    const { told, authorization } = await call({
      codec: LINEAR_8K,
      format: 'json',
      variables,
      user: 'pbx',
      password: 'p',
    });
    expect(JSON.parse(String(told[0]))).toMatchObject({
      event: 'MEDIA_START',
      format: 'slin',
      channel_variables: variables,
    });
    expect(authorization).toBe(`Basic ${Buffer.from('pbx:p').toString('base64')}`);
  });

  it('loses frames with an empty message if it has a jitter buffer, and sends nothing while the caller is muted', async () => {
    const lossy = await call({ lossShare: 1, jitterBuffer: true });
    expect(lossy.told.slice(1)).toEqual([0, 0, 0, 0, 0]);
    expect((await call({ muted: { fromMs: 0, toMs: 60 } })).told.slice(1)).toEqual([160, 160]);
  });

  it('tells keys after their time', async () => {
    const { told } = await call({ dtmf: [{ atMs: 30, digit: '#' }] });
    expect(told[3]).toMatch(/^DTMF_END digit:# channel_id:/);
  });

  it('hangs up when it is told to, or when a message is too large', async () => {
    const audio = new Int16Array(8000 * 60);
    const told = await call({ audio }, (said, socket) => typeof said === 'string' && socket.send('HANGUP'));
    expect([told.report.closeCode, told.report.sentMs < 60_000]).toEqual([1000, true]);
    const large = await call(
      { audio },
      (said, socket) => typeof said === 'string' && socket.send(new Uint8Array(65_532)),
    );
    expect(large.report.sentMs).toBeLessThan(60_000);
    expect(large.report.closeCode).not.toBe(1000);
  });

  it('hears nothing with d(in) and everything at once with p, and refuses marks in both', async () => {
    const sound = (said: Said, socket: WebSocket): void => {
      if (typeof said !== 'string') return;
      if (said.includes('MEDIA_START')) {
        socket.send(new Uint8Array(1600));
        socket.send('{"command":"MARK_MEDIA"}');
      }
      if (said.includes('ERROR')) socket.send('{"command":"HANGUP"}');
    };
    const audio = new Int16Array(8000 * 60);
    for (const [dialOptions, heard] of [
      ['d(in)', []],
      ['p', [1600]],
    ] as const) {
      const frames: number[] = [];
      const { report, told } = await call(
        { format: 'json', audio, dialOptions, onAudio: ({ length }) => frames.push(length) },
        sound,
      );
      expect([frames, report.closeCode, report.sentMs < 60_000]).toEqual([heard, 1000, true]);
      expect(told.some((said) => String(said).includes('MARK_MEDIA not supported'))).toBe(true);
    }
  });

  it('of a first release tells no channel id and hangs up when it is pinged', async () => {
    const audio = new Int16Array(8000 * 60);
    const { report, told } = await call(
      { audio, firstRelease: true },
      (said, socket) => typeof said === 'string' && socket.ping(),
    );
    expect(told[0]).not.toContain('channel_id');
    expect([report.sentMs < 60_000, report.warnings]).toEqual([true, ['a ping ended the call']]);
  });

  it('fails when the server is not there', async () => {
    const caller = new AsteriskCaller({
      url: 'ws://127.0.0.1:1/',
      audio: new Int16Array(800),
      codec: MULAW_8K,
      format: 'json',
      pace: 'fast',
      clock: new FakeClock(),
    });
    await expect(caller.run()).rejects.toThrow('the server did not accept the call');
  });
});

describe('a call from end to end', () => {
  let gateway: Gateway | null = null;
  afterEach(() => gateway?.close());

  it('of a simulated Asterisk is captioned by a gateway', async () => {
    const tone = {
      ENGINE_WORKERS: '1',
      ASR_MODEL: 'tone',
      VAD_MODEL: 'tone',
      TTS_MODEL: 'tone',
      MODELS_DIR: 'none',
      DATA_DIR: 'none',
      LOG_LEVEL: 'silent',
      PORT: '0',
    };
    gateway = await runGateway(readSettings({ ...tone, ASTERISK_PASSWORD: 'secret' }));
    const audio = new Int16Array(8000 * 2);
    audio.set(tones(0.6, [400], 0.3), 800);
    const caller = new AsteriskCaller({
      url: `${gateway.url.replace('http', 'ws')}/asterisk/media`,
      audio,
      codec: LINEAR_8K,
      format: 'json',
      pace: 'fast',
      clock: new FakeClock(),
      user: 'asterisk',
      password: 'secret',
      variables: { __TRUNKLINE_FROM: '+15550100' },
    });
    const report = await caller.run();
    const transcript = `${gateway.url}/v1/calls/${caller.channelId}/transcript?format=text`;
    await expect.poll(async () => (await fetch(transcript)).text(), { interval: 50 }).toContain('alpha alpha alpha');
    expect(await (await fetch(`${gateway.url}/v1/calls/${caller.channelId}`)).json()).toMatchObject({
      carrier: 'asterisk',
      from: '+15550100',
    });
    expect(report).toMatchObject({ answered: true, closeCode: 1000, warnings: [] });
  });
});
