/** Text → sound for requests: sentence by sentence, behind all work for calls. */
import { setImmediate as otherWork } from 'node:timers/promises';
import { EngineError } from '../../engine-client/engine.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Codec } from '../../foundation/units.ts';
import type { SentenceSynthesizer } from '../../speech/sentence-synthesizer.ts';
import { TextStream } from '../../speech/text-stream.ts';
import type { ResolvedVoice, VoiceOptions } from '../../speech/voice-resolver.ts';

/** No caller waits for it. */
const DUE_MS = 30_000;

/**
 * Resolves the voice of a request.
 * @throws TrunklineError `invalid_request` for an unknown voice, `engine_unavailable`
 */
export async function resolveVoice(synthesizer: SentenceSynthesizer, options: VoiceOptions): Promise<ResolvedVoice> {
  try {
    return await synthesizer.voices.resolve(options);
  } catch (error) {
    throw toRequestError(error);
  }
}

/**
 * Yields the sound of `text` in `codec`, in chunks as it is made. A sentence is made when its first chunk is asked for.
 * Ends early when the signal aborts. Fails with TrunklineError: `invalid_request` when nothing in the text can be
 * spoken, `engine_unavailable`.
 */
export async function* synthesize(
  synthesizer: SentenceSynthesizer,
  text: string,
  { voice, codec, signal }: { voice: ResolvedVoice; codec: Codec; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  let isSilent = true;
  const options = { codec, urgency: 'batch', dueInMs: () => DUE_MS, signal } as const;
  try {
    for await (const { parts } of synthesizer.synthesize(TextStream.of(text), voice, options)) {
      for await (const part of parts) {
        isSilent = false;
        yield part;
      }
    }
  } catch (error) {
    throw toRequestError(error);
  }
  if (isSilent && !signal.aborted) {
    throw new TrunklineError(
      'invalid_request',
      'input: got a text with nothing in it that can be spoken, expected words or numbers',
      'input',
    );
  }
}

/** A text that somebody listens to while it comes. */
export interface LiveText {
  readonly text: TextStream;
  readonly voice: ResolvedVoice;
  readonly codec: Codec;
  readonly signal: AbortSignal;
  /** In how many ms the listener has heard all that was made. */
  dueInMs(): number;
  /** Called when a stretch of the text, as it was written, has been spoken. */
  onSpoken(text: string): void;
  /** Called when the engine failed at a stretch, which is left out. */
  onSkipped(): void;
}

/** Pieces that were spoken before, and those of marks alone, need no engine: after so many other work goes first. */
const PIECES_IN_A_ROW = 16;

/**
 * Yields the sound of a text sentence by sentence, as soon as each is certain, among the speech of calls. Ends when the
 * text does, or when the signal aborts. A text in which nothing can be spoken has no sound.
 */
export async function* synthesizeLive(
  synthesizer: SentenceSynthesizer,
  { text, voice, codec, signal, dueInMs, onSpoken, onSkipped }: LiveText,
): AsyncGenerator<Uint8Array, void, undefined> {
  const options = { codec, urgency: 'speak', dueInMs, signal, onSkipped } as const;
  let pieces = 0;
  for await (const piece of synthesizer.synthesize(text, voice, options)) {
    yield* piece.parts;
    onSpoken(piece.text);
    if (++pieces % PIECES_IN_A_ROW === 0) await otherWork();
  }
}

/** `error` in terms of the request that caused it. */
export function toRequestError(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.code === 'bad_input') return new TrunklineError('invalid_request', `input: ${error.message}`, 'input');
  if (error.code === 'unavailable')
    return new TrunklineError('engine_unavailable', `no speech engine can take this now: ${error.message}`);
  return error;
}
