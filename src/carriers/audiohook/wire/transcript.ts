/** A final caption as the entity `transcript` of an AudioHook event (Transcription Connector). */
import { randomUUID } from 'node:crypto';
import type { TranscribedCaption } from '../../../protocols/dialect.ts';
import { writeDuration } from './durations.ts';
import { toLocale } from './locale.ts';

/** Where the recogniser does not say how sure it is: a number is asked for. */
const CONFIDENCE_UNKNOWN = 1;

/** The entity. `channelId` counts the channels of the session's audio from 0. */
export function transcriptOf(caption: TranscribedCaption, channelId: number): object {
  const { text, startMs, endMs, confidence = CONFIDENCE_UNKNOWN, language } = caption;
  return {
    type: 'transcript',
    data: {
      id: randomUUID(),
      channelId,
      isFinal: true,
      offset: writeDuration(startMs),
      duration: writeDuration(endMs - startMs),
      alternatives: [
        {
          confidence,
          ...(typeof language === 'string' && { languages: [toLocale(language)] }),
          interpretations: [{ type: 'display', transcript: text, tokens: tokensOf(caption, confidence) }],
        },
      ],
    },
  };
}

/** The words share the time of the caption by their letters: captions have no times of words. */
function tokensOf({ text, startMs, endMs }: TranscribedCaption, confidence: number): readonly object[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const chars = words.reduce((sum, word) => sum + word.length, 0);
  let said = 0;
  return words.map((value) => {
    const offset = writeDuration(startMs + ((endMs - startMs) * said) / chars);
    const duration = writeDuration(((endMs - startMs) * value.length) / chars);
    said += value.length;
    return { type: 'word', value, confidence, offset, duration };
  });
}
