/** Text → sound, sentence by sentence, behind everything that calls need of the engine. */

import { EngineError } from '../../engine-client/engine.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Codec } from '../../foundation/units.ts';
import type { Prompter, ResolvedVoice, VoiceOptions } from '../../speech/prompter.ts';
import { TextStream } from '../../speech/text-stream.ts';

/** Nobody on a telephone waits for it. */
const DUE_MS = 30_000;

/** What is needed of a {@link Prompter}. */
export type Speaker = Pick<Prompter, 'settle' | 'pieces' | 'make'>;

/**
 * Settles how `style` is spoken.
 * @throws TrunklineError `invalid_request` for a voice that is not there, `engine_unavailable`
 */
export async function resolveVoice(speaker: Speaker, style: VoiceOptions): Promise<ResolvedVoice> {
  try {
    return await speaker.settle(style);
  } catch (error) {
    throw toAnswer(error);
  }
}

/**
 * The sound of `text` in `codec`, a stretch for each sentence; a sentence is made when it is asked for. Ends early when
 * `signal` aborts. Fails with TrunklineError: `invalid_request` when nothing in the text can be spoken,
 * `engine_unavailable`.
 */
export async function* synthesize(
  speaker: Speaker,
  text: string,
  { manner, codec, signal }: { manner: ResolvedVoice; codec: Codec; signal: AbortSignal },
): AsyncGenerator<Uint8Array, void, undefined> {
  let isSilent = true;
  const order = { codec, urgency: 'batch', dueInMs: DUE_MS, signal } as const;
  for await (const sentence of sentencesOf(text, signal)) {
    for (const piece of speaker.pieces(sentence, manner)) {
      const bytes = await makeSound(() => speaker.make(piece, manner, order), signal);
      if (bytes === null) return;
      if (bytes.length === 0) continue;
      isSilent = false;
      yield bytes;
    }
  }
  if (isSilent && !signal.aborted) {
    throw new TrunklineError(
      'invalid_request',
      'input: got a text with nothing in it that can be spoken, expected words or numbers',
      'input',
    );
  }
}

async function* sentencesOf(text: string, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const stream = new TextStream();
  stream.write(text);
  stream.end();
  for (let sentence = await stream.next(signal); sentence !== null; sentence = await stream.next(signal))
    yield sentence;
}

/** Null when it is not wanted any more. */
async function makeSound(make: () => ReturnType<Speaker['make']>, signal: AbortSignal): Promise<Uint8Array | null> {
  try {
    return (await make()).bytes;
  } catch (error) {
    if (signal.aborted) return null;
    throw toAnswer(error);
  }
}

function toAnswer(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  if (error.code === 'bad_input') return new TrunklineError('invalid_request', `input: ${error.message}`, 'input');
  if (error.code === 'unavailable')
    return new TrunklineError('engine_unavailable', 'no speech engine can take this now; try again in a moment');
  return error;
}
