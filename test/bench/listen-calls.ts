/** Ways in whose sessions are calls: their finals are those of the feed, AudioHook's what its client gets back. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { encodeG711 } from '../../src/audio/g711.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { readDuration } from '../../src/carriers/audiohook/wire/durations.ts';
import { SipPhone } from '../../src/carriers/sip/simulator/phone.ts';
import { RTP_FORMATS, type RtpCodecName } from '../../src/carriers/sip/wire/rtp-codecs.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, samplesToMs } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { RecordingClient } from '../helpers/recording-client.ts';
import { type HeardFinal, type ListenEndpoint, pace } from './listen-endpoints.ts';

const NOBODY = new Int16Array(0);

/** What the others are compared with. */
export const TWILIO: ListenEndpoint = {
  label: 'Twilio media streams, unrevised finals',
  voices: 1,
  async hear({ url, feed }, [audio = NOBODY]) {
    const caller = new TwilioCaller({
      url: `${url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: audio },
      pace: 'realtime',
      clock: systemClock,
    });
    await caller.run();
    return feed.finalsOf(caller.callSid);
  },
};

/** A phone of its own for each call. The prompts have 8 kHz: in the wideband codecs they are no wider. */
export function sipPhone(codec: RtpCodecName): ListenEndpoint {
  const { encoding, codec: sound } = RTP_FORMATS[codec];
  return {
    label: `SIP, ${encoding}`,
    voices: 1,
    async hear({ sipPort, feed }, [audio = NOBODY]) {
      const phone = await SipPhone.open({ clock: systemClock });
      const callId = randomUUID();
      const uri = `sip:bridge@127.0.0.1:${sipPort}`;
      const call = await phone.dial({ uri, callId, codec, audio: atRate(audio, sound.rateHz) });
      await call.answered;
      await call.ended;
      const finals = await feed.finalsOf(callId);
      await phone.close();
      return finals;
    },
  };
}

function atRate(audio: Int16Array, rateHz: number): Int16Array {
  return rateHz === MULAW_8K.rateHz ? audio : new Resampler(MULAW_8K.rateHz, rateHz).push(audio);
}

/** Both voices, a stream of RTP each. */
export const SIPREC: ListenEndpoint = {
  label: 'SIPREC, two streams',
  voices: 2,
  async hear({ sipPort, feed }, audio) {
    const client = await RecordingClient.open({ transport: 'TCP', port: sipPort });
    const voices = audio.map((samples, voice) => ({ audio: samples, user: `voice${voice}` }));
    const recording = await client.record(voices);
    await sleep(systemClock, samplesToMs(audio[0]?.length ?? 0, MULAW_8K.rateHz));
    await recording.end();
    const finals = await feed.finalsOf(recording.callId);
    await client.close();
    return finals;
  },
};

interface AudioHookMessage {
  readonly type: string;
  readonly parameters: { readonly entities?: readonly { readonly data: AudioHookTranscript }[] };
}

interface AudioHookTranscript {
  readonly channelId: number;
  readonly offset: string;
  readonly duration: string;
  readonly alternatives: readonly { readonly interpretations: readonly { readonly transcript: string }[] }[];
}

/** Both voices in one stream, sample by sample. */
export const AUDIOHOOK: ListenEndpoint = {
  label: 'Genesys AudioHook, two channels',
  voices: 2,
  async hear({ url }, audio) {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/genesys/media`);
    const id = randomUUID();
    const told: { readonly data: AudioHookTranscript; readonly atMs: number }[] = [];
    let seq = 0;
    const send = (type: string, parameters: object): void =>
      socket.send(JSON.stringify({ version: '2', id, type, seq: ++seq, serverseq: 0, position: 'PT0S', parameters }));
    const opened = new Promise<void>((resolve) => {
      socket.on('message', (message: Buffer) => {
        const { type, parameters } = JSON.parse(message.toString()) as AudioHookMessage;
        for (const { data } of parameters.entities ?? []) told.push({ data, atMs: systemClock.nowMs() });
        if (type === 'opened') resolve();
        if (type === 'closed') socket.close();
      });
    });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const media = [{ type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: MULAW_8K.rateHz }];
    const participant = { id: 'p', ani: '+15550100', aniName: 'Caller', dnis: '+15550199' };
    send('open', { organizationId: 'o', conversationId: id, participant, media });
    await Promise.race([opened, closed.then(() => Promise.reject(new Error('the session was not opened')))]);
    const [first = NOBODY, second = NOBODY] = audio;
    let at = 0;
    const startedMs = await pace(first, (frame) => {
      const pairs = Int16Array.from({ length: 2 * frame.length }, (_, i) =>
        i % 2 === 0 ? (frame[i / 2] ?? 0) : (second[at + (i - 1) / 2] ?? 0),
      );
      at += frame.length;
      socket.send(encodeG711(pairs, MULAW_8K));
    });
    send('close', { reason: 'end' });
    await closed;
    return told.map(({ data, atMs }) => finalOf(data, atMs - startedMs));
  },
};

function finalOf({ channelId, offset, duration, alternatives }: AudioHookTranscript, arrivedMs: number): HeardFinal {
  const text = alternatives[0]?.interpretations[0]?.transcript ?? '';
  return { voice: channelId, text, endMs: (readDuration(offset) ?? 0) + (readDuration(duration) ?? 0), arrivedMs };
}
