/** The forced aligner that may lie in a folder of Qwen3-ASR. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openPacked, type PackedOptions } from '../../../packed-weights.ts';
import { Refusal } from '../../../refusal.ts';
import { readText, refusing } from '../../folder-files.ts';
import { CONFIG_MAX_BYTES } from '../config.ts';
import { type EncoderOptions, QwenEncoder } from '../encoder.ts';
import { ALIGNER_FILES, QWEN_ALIGNER_FOLDER } from '../layout.ts';
import { QwenTokenizer, TOKENIZER_MAX_BYTES } from '../tokenizer.ts';
import { ForcedAligner } from './aligner.ts';
import { parseAlignerConfig } from './config.ts';

const CLASSIFIER_INPUTS = ['prompt_ids', 'audio_features'];

/**
 * Opens the aligner in the folder of a recogniser.
 * @param folder absolute path
 * @returns null when there is none
 * @throws Refusal when there is one that is not whole, or cannot be used
 */
export async function openAligner(
  folder: string,
  options: PackedOptions,
  encoderOptions: EncoderOptions,
): Promise<ForcedAligner | null> {
  const within = join(folder, QWEN_ALIGNER_FOLDER);
  if (!readdirSync(folder).includes(QWEN_ALIGNER_FOLDER)) return null;
  const missing = Object.values(ALIGNER_FILES).filter((name) => !readdirSync(within).includes(name));
  if (missing.length > 0) throw new Refusal('model_missing', `${within} lacks ${missing.join(', ')}`);
  const pathOf = (name: keyof typeof ALIGNER_FILES) => join(within, ALIGNER_FILES[name]);
  const config = refusing(pathOf('config'), () => parseAlignerConfig(readText(pathOf('config'), CONFIG_MAX_BYTES)));
  // Why weights are not shared is said of the recogniser's own.
  const [{ session }, { session: classifier }] = [
    await openPacked(pathOf('encoder'), options),
    await openPacked(pathOf('classifier'), options),
  ];
  if (!CLASSIFIER_INPUTS.every((name) => classifier.inputNames.includes(name)))
    throw new Refusal(
      'bad_settings',
      `${pathOf('classifier')}: got the inputs ${classifier.inputNames.join(', ')}, ` +
        `expected ${CLASSIFIER_INPUTS.join(', ')}`,
    );
  const encoder = new QwenEncoder(session, config, encoderOptions);
  return refusing(pathOf('tokenizer'), () => {
    const text = readText(pathOf('tokenizer'), TOKENIZER_MAX_BYTES);
    return new ForcedAligner({
      config,
      tokenizer: new QwenTokenizer(text, config.vocabularySize),
      encoder,
      classifier,
    });
  });
}
