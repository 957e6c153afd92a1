/** Ways in over the sockets of other services' speech recognition. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { encodeG711 } from '../../src/audio/g711.ts';
import { samplesToPcm16 } from '../../src/audio/pcm.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { type HeardFinal, LISTEN_ENDPOINT_MS, type ListenEndpoint, pace } from './listen-endpoints.ts';

interface Said {
  readonly text: string;
  readonly endMs: number | null;
}

/** What differs between sockets that take audio as binary messages. */
interface SpokenSocket {
  readonly label: string;
  readonly path: string;
  /** Sent before the audio; null = nothing is. */
  readonly greeting: object | null;
  /** Sent after it. The server closes then, unless {@link read} ends it. */
  readonly farewell: readonly object[];
  encode(frame: Int16Array): Uint8Array;
  /** A final, `end` if nothing more comes after the farewell, null for all else. */
  read(message: string): Said | 'end' | null;
}

function overSocket({ label, path, greeting, farewell, encode, read }: SpokenSocket): ListenEndpoint {
  return {
    label,
    voices: 1,
    async hear({ url }, [audio = new Int16Array(0)]) {
      const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`);
      const told: (Said & { readonly atMs: number })[] = [];
      let isDone = false;
      socket.on('message', (data: Buffer) => {
        const said = read(data.toString());
        if (said === 'end') {
          if (isDone) socket.close();
        } else if (said !== null && said.text !== '') told.push({ ...said, atMs: systemClock.nowMs() });
      });
      await once(socket, 'open');
      const closed = once(socket, 'close');
      if (greeting !== null) socket.send(JSON.stringify(greeting));
      const startedMs = await pace(audio, (frame) => socket.send(encode(frame)));
      isDone = true;
      for (const message of farewell) socket.send(JSON.stringify(message));
      await closed;
      return told.map(({ text, endMs, atMs }) => ({ voice: 0, text, endMs, arrivedMs: atMs - startedMs }));
    },
  };
}

const toMulaw = (frame: Int16Array): Uint8Array => encodeG711(frame, MULAW_8K);
const QUERY = 'encoding=mulaw&sample_rate=8000';

/** Its usual endpoint is ENDPOINT_MS. */
export const DEEPGRAM = overSocket({
  label: 'Deepgram, /v1/listen',
  path: `/v1/listen?${QUERY}&interim_results=true&punctuate=true`,
  greeting: null,
  farewell: [{ type: 'CloseStream' }],
  encode: toMulaw,
  read(message) {
    const { type, is_final, start, duration, channel } = JSON.parse(message) as {
      readonly type: string;
      readonly is_final?: boolean;
      readonly start: number;
      readonly duration: number;
      readonly channel: { readonly alternatives: readonly { readonly transcript: string }[] };
    };
    if (type !== 'Results' || is_final !== true) return null;
    return { text: channel.alternatives[0]?.transcript ?? '', endMs: (start + duration) * 1000 };
  },
});

/** Turns: the words of one that sounds unfinished would be held longer, were that not the endpoint, too. */
export const FLUX = overSocket({
  label: 'Deepgram Flux, /v2/listen',
  path: `/v2/listen?${QUERY}&model=flux-general-en&eager_eot_threshold=0.5&eot_timeout_ms=${LISTEN_ENDPOINT_MS}`,
  greeting: null,
  farewell: [{ type: 'CloseStream' }],
  encode: toMulaw,
  read(message) {
    const { event, transcript, audio_window_end } = JSON.parse(message) as {
      readonly event?: string;
      readonly transcript: string;
      readonly audio_window_end: number;
    };
    return event === 'EndOfTurn' ? { text: transcript, endMs: audio_window_end * 1000 } : null;
  },
});

/** jambonz opens one for each turn; here one hears the whole call. */
export const JAMBONZ = overSocket({
  label: 'jambonz, /jambonz/stt',
  path: '/jambonz/stt',
  greeting: {
    type: 'start',
    language: 'en-US',
    format: 'raw',
    encoding: 'LINEAR16',
    interimResults: true,
    sampleRateHz: MULAW_8K.rateHz,
    options: {},
  },
  farewell: [{ type: 'stop' }],
  encode: samplesToPcm16,
  read(message) {
    const { type, is_final, alternatives } = JSON.parse(message) as {
      readonly type: string;
      readonly is_final: boolean;
      readonly alternatives: readonly { readonly transcript: string }[];
    };
    if (type !== 'transcription' || !is_final) return null;
    return { text: alternatives[0]?.transcript ?? '', endMs: null };
  },
});

/** A flush with nothing left is answered with an empty final: that is the last message. */
export const TRANSCRIBE = overSocket({
  label: '/ws/transcribe',
  path: `/ws/transcribe?sample_rate=${MULAW_8K.rateHz}`,
  greeting: null,
  farewell: [{ action: 'flush' }, { action: 'flush' }],
  encode: samplesToPcm16,
  read(message) {
    const { is_final, text } = JSON.parse(message) as { readonly is_final?: boolean; readonly text: string };
    if (is_final !== true) return null;
    return text === '' ? 'end' : { text, endMs: null };
  },
});

interface RealtimeEvent {
  readonly type: string;
  readonly item_id: string;
  readonly audio_end_ms: number;
  readonly transcript: string;
}

/** The last commit is always answered with an item, behind all others. */
export const REALTIME: ListenEndpoint = {
  label: 'OpenAI Realtime, /v1/realtime',
  voices: 1,
  async hear({ url }, [audio = new Int16Array(0)]) {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`);
    const send = (event: object): void => socket.send(JSON.stringify(event));
    const told: (HeardFinal & { readonly endMs: number })[] = [];
    const ends = new Map<string, number>();
    let waiting = 0;
    let isCommitted = false;
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as RealtimeEvent;
      if (event.type === 'input_audio_buffer.committed') waiting++;
      if (event.type === 'input_audio_buffer.speech_stopped') ends.set(event.item_id, event.audio_end_ms);
      if (!event.type.endsWith('transcription.completed')) return;
      const endMs = ends.get(event.item_id);
      if (endMs !== undefined && event.transcript !== '')
        told.push({ voice: 0, text: event.transcript, endMs, arrivedMs: systemClock.nowMs() });
      waiting--;
      if (isCommitted && waiting === 0) socket.close();
    });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const turns = { type: 'server_vad', silence_duration_ms: LISTEN_ENDPOINT_MS };
    const input = { format: { type: 'audio/pcmu' }, turn_detection: turns };
    send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
    const startedMs = await pace(audio, (frame) =>
      send({ type: 'input_audio_buffer.append', audio: Buffer.from(toMulaw(frame)).toString('base64') }),
    );
    isCommitted = true;
    send({ type: 'input_audio_buffer.commit' });
    await closed;
    return told.map((final) => ({ ...final, arrivedMs: final.arrivedMs - startedMs }));
  },
};
