/** How Deepgram's `/v1/speak` encodes speech. */
import type { VoiceInfo } from '../../../engine/contract.ts';
import { wavHeaderOf } from '../../audio/wav.ts';
import { modelUuid } from '../../foundation/model-uuid.ts';
import type { Codec } from '../../foundation/units.ts';
import type { Sound, SpeechEncoder, SpeechFormat } from '../../http/speech/encoders.ts';
import { codecOf } from '../../listening/sound-input.ts';
import type { VoiceOptions } from '../../speech/voice-resolver.ts';
import type { SpokenModel } from './wire/speak-messages.ts';
import { isRaw, type SpeakFormat, type SpeakQuery } from './wire/speak-query.ts';

/** Content types of bare samples. Those of linear16 are little-endian, whatever RFC 3551 says of L16. */
const RAW_TYPES: Readonly<Record<Codec['name'], string>> = {
  pcm16: 'audio/l16',
  mulaw: 'audio/mulaw',
  alaw: 'audio/alaw',
};

/** The codec of samples; null = the encoding is none of bare samples. */
export function rawCodecOf({ encoding, rateHz }: SpeakFormat): Codec | null {
  if (rateHz === null || !isRaw(encoding)) return null;
  return codecOf({ encoding, rateHz, channels: 1 });
}

/** The name under which requests for `format` are counted. */
export function countedAs({ encoding, container }: SpeakFormat): SpeechFormat {
  if (container === 'wav') return 'wav';
  return encoding === 'linear16' ? 'pcm' : encoding;
}

/** The encoder of samples, bare or as a WAV file; undefined = another one is needed. */
export function rawEncoder(format: SpeakFormat): SpeechEncoder | undefined {
  const codec = rawCodecOf(format);
  if (codec === null) return undefined;
  if (format.container === 'wav')
    return { contentType: 'audio/wav', codec, encode: (sound, _signal, bytes) => withHeader(sound, codec, bytes) };
  const contentType = `${RAW_TYPES[codec.name]};rate=${codec.rateHz};channels=1`;
  return { contentType, codec, encode: (sound) => sound };
}

async function* withHeader(sound: Sound, codec: Codec, bytes: number | null): Sound {
  let begun = false;
  for await (const part of sound) {
    if (!begun) yield wavHeaderOf(codec, bytes);
    begun = true;
    yield part;
  }
}

/** A model that no voice here stands for is spoken by the default voice, or by one of its language. */
export function voiceOptionsOf({ model, language, speed }: SpeakQuery): VoiceOptions {
  return {
    speed,
    ...(model !== null && { voice: model, voiceIsWish: true }),
    ...(language !== null && { lang: language }),
  };
}

/** `voice` as answers name it. */
export function modelOf({ name, model }: VoiceInfo): SpokenModel {
  return { name, version: model, uuid: modelUuid(name) };
}
