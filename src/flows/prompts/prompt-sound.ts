/** How a prompt sounds in a call, for people who look after flows. */
import { decodeG711 } from '../../audio/g711.ts';
import { joinSamples } from '../../audio/mix.ts';
import { Resampler } from '../../audio/resample.ts';
import { MULAW_8K, msToSamples } from '../../foundation/units.ts';
import type { SentenceSynthesizer } from '../../speech/sentence-synthesizer.ts';
import { TextStream } from '../../speech/text-stream.ts';
import type { MonoAudio } from '../../speech/wav-leveller.ts';
import { type PromptRecordings, piecesOf } from './prompt-pieces.ts';
import type { PlacedPrompt } from './static-prompts.ts';

interface SoundSources {
  readonly recordings: PromptRecordings;
  readonly synthesizer: SentenceSynthesizer;
  readonly signal: AbortSignal;
}

/** Nobody who listens here may delay a call. */
const DUE_MS = 10_000;

/**
 * The sound of a prompt at 8 kHz. In place of values the names of their variables are said. Rejects with EngineError,
 * and with PromptTextError for a text that cannot be read.
 */
export async function soundOf({ prompt, language, voice }: PlacedPrompt, sources: SoundSources): Promise<MonoAudio> {
  const { recordings, synthesizer, signal } = sources;
  const { rateHz } = MULAW_8K;
  const pieces = piecesOf(prompt, {
    language,
    recordings,
    valueOf: (variable) => variable,
    sayValue: (value) => String(value),
  });
  const blocks: Int16Array[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'pause') blocks.push(new Int16Array(msToSamples(piece.ms, rateHz)));
    else if (piece.kind === 'recording') blocks.push(...atRate(piece.sound, rateHz));
    else {
      const wished = prompt.voice ?? voice;
      const resolved = await synthesizer.voices.resolve({
        lang: language,
        ...(wished !== null && { voice: wished, voiceIsWish: true }),
        ...(prompt.speed !== undefined && { speed: prompt.speed }),
      });
      const options = { codec: MULAW_8K, urgency: 'batch', dueInMs: () => DUE_MS, signal } as const;
      for await (const { parts } of synthesizer.synthesize(TextStream.of(piece.text), resolved, options))
        for await (const part of parts) blocks.push(decodeG711(part, MULAW_8K));
    }
  }
  return { samples: joinSamples(blocks), rateHz };
}

function atRate({ samples, rateHz }: MonoAudio, wantedHz: number): Int16Array[] {
  const resampler = new Resampler(rateHz, wantedHz);
  return [resampler.push(samples), resampler.flush()];
}
