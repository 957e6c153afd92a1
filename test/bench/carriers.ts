/** The carriers that a load benchmark can place its calls as. A new one is one entry. */
import { randomUUID } from 'node:crypto';
import { Resampler } from '../../src/audio/resample.ts';
import { AsteriskCaller } from '../../src/carriers/asterisk/simulator/caller.ts';
import { AudioSocketCaller } from '../../src/carriers/audiosocket/simulator/caller.ts';
import { SipPhone } from '../../src/carriers/sip/simulator/phone.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { type Codec, FRAME_MS, MULAW_8K, msToBytes } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { freePort } from '../helpers/ports.ts';

const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };
const LINEAR_16K: Codec = { ...LINEAR_8K, rateHz: 16_000 };

/** One call that is to be placed. */
interface BenchCall {
  /** The gateway's HTTP url. */
  readonly url: string;
  /** What {@link BenchCarrier.settings} returned. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the caller says, at 8 kHz. */
  readonly audio: Int16Array;
  /**
   * 20 ms of sound have reached the caller: as they came where nothing buffers them, as they are played where something
   * does.
   */
  onFrame?(hasSound: boolean): void;
}

/** A call under way. */
interface PlacedCall {
  /** Its id at the gateway. */
  readonly id: string;
  readonly ended: Promise<unknown>;
}

interface BenchCarrier {
  readonly label: string;
  /** The settings that let the gateway take such calls. */
  settings(): Promise<Record<string, string>>;
  place(call: BenchCall): PlacedCall;
}

const noSettings = (): Promise<Record<string, string>> => Promise.resolve({});

/** By the value of `--carrier`. */
export const BENCH_CARRIERS = {
  twilio: { label: 'Twilio', settings: noSettings, place: placeTwilio },
  asterisk: { label: 'chan_websocket', settings: noSettings, place: placeAsterisk },
  audiosocket: {
    label: 'AudioSocket',
    settings: async () => ({ AUDIOSOCKET_PORT: String(await freePort()) }),
    place: placeAudioSocket,
  },
  sip: { label: 'SIP and RTP', settings: async () => ({ SIP_PORT: String(await freePort()) }), place: placeSip },
} as const satisfies Record<string, BenchCarrier>;

/** A value of `--carrier`. */
export type BenchCarrierName = keyof typeof BENCH_CARRIERS;

/** Twilio's buffer is the simulator's to play from: each frame counts when it would be played. */
function placeTwilio({ url, audio, onFrame }: BenchCall): PlacedCall {
  let playedToMs = 0;
  const frame = msToBytes(FRAME_MS, MULAW_8K);
  const play = (bytes: Uint8Array): void => {
    const nowMs = systemClock.nowMs();
    playedToMs = Math.max(playedToMs, nowMs);
    const hasSound = bytes.some((byte) => (byte | 0x80) !== 0xff);
    systemClock.after(playedToMs - nowMs, () => onFrame?.(hasSound));
    playedToMs += FRAME_MS;
  };
  const caller = new TwilioCaller({
    url: `${url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound: audio },
    pace: 'realtime',
    clock: systemClock,
    onAudio: (payload) => {
      for (let at = 0; at < payload.length; at += frame) play(payload.subarray(at, at + frame));
    },
  });
  return { id: caller.callSid, ended: caller.run() };
}

function placeAsterisk({ url, audio, onFrame }: BenchCall): PlacedCall {
  const resampler = new Resampler(LINEAR_8K.rateHz, LINEAR_16K.rateHz);
  const caller = new AsteriskCaller({
    url: `${url.replace(/^http/, 'ws')}/asterisk/media`,
    audio: resampler.push(audio),
    codec: LINEAR_16K,
    format: 'json',
    pace: 'realtime',
    clock: systemClock,
    onAudio: (bytes) => onFrame?.(bytes.some((byte) => byte !== 0)),
  });
  return { id: caller.channelId, ended: caller.run() };
}

function placeAudioSocket({ environment, audio, onFrame }: BenchCall): PlacedCall {
  const caller = new AudioSocketCaller({
    host: '127.0.0.1',
    port: Number(environment['AUDIOSOCKET_PORT']),
    audio,
    codec: LINEAR_8K,
    driver: 'application',
    pace: 'realtime',
    clock: systemClock,
    onAudio: (bytes) => onFrame?.(bytes.some((byte) => byte !== 0)),
  });
  const ended = caller.run().then(({ endedBy, reason }) => {
    if (endedBy !== 'caller') throw new Error(`a call was ended by the ${endedBy}: ${reason}`);
  });
  return { id: caller.uuid, ended };
}

/** Each caller is a phone of its own. */
function placeSip({ environment, audio, onFrame }: BenchCall): PlacedCall {
  const id = randomUUID();
  const call = async (): Promise<void> => {
    const phone = await SipPhone.open({ clock: systemClock });
    const placed = await phone.dial({
      uri: `sip:bridge@127.0.0.1:${environment['SIP_PORT']}`,
      callId: id,
      audio,
      onAudio: (payload) => onFrame?.(payload.some((byte) => (byte | 0x80) !== 0xff)),
    });
    await placed.answered;
    const { endedBy } = await placed.ended;
    await phone.close();
    if (endedBy !== 'phone') throw new Error(`a call was ended by the ${endedBy}`);
  };
  return { id, ended: call() };
}
