/** From an order to the body that answers it, by way of a translation where one is asked for. */
import { languageName, titleCase } from '../../foundation/languages.ts';
import type { Recording } from '../../recordings/transcribe.ts';
import { type Translator, translateSegments } from '../../recordings/translate.ts';
import { retellCue } from '../../transcription/subtitles.ts';
import { clientOf } from '../qwen.ts';
import type { TranscriptionForm } from './fields.ts';
import { cuesOf, lineColumns, type Outcome, type Rendered, render, renderCues } from './formats.ts';
import type { Order } from './serve.ts';

/** The transcript of an order, in `target_language` if it has one. */
export async function answerTranscription(order: Order, translator: Translator): Promise<Rendered> {
  const { form, hear, languages } = order;
  const target = languageName(form.target_language ?? '', languages);
  if (target !== '') return answerTranslation(order, { translator, target });
  const recording = await hear();
  return render(
    { ...recording, task: 'transcribe', language: languageShown(languageName(recording.spokenLanguage), form) },
    form,
  );
}

/**
 * The transcript of an order in the language `target`, an English name in lower case. Where that is what was spoken,
 * nothing has to be translated.
 * @throws TrunklineError `unsupported_model` where nothing can translate, `translation_failed`
 */
export async function answerTranslation(
  { form, hear, signal }: Order,
  { translator, target }: { translator: Translator; target: string },
): Promise<Rendered> {
  translator.assertConfigured();
  const recording = await hear();
  const outcome: Outcome = { ...recording, task: 'translate', language: languageShown(target, form) };
  if (target === languageName(recording.spokenLanguage)) return render(outcome, form);
  const translate = (lines: readonly string[]): Promise<string[]> => translator.translate(lines, target, signal);
  if (form.response_format === 'srt' || form.response_format === 'vtt')
    return translateCues(recording, form, translate);
  return render({ ...outcome, ...(await translateSegments(recording, translate)) }, form);
}

/** OpenAI's `json` has no language. The Qwen3-ASR server's has, and writes it with a capital. */
function languageShown(language: string, form: TranscriptionForm): string {
  return form.response_format === 'json' && clientOf(form) !== 'openai' ? titleCase(language) : language;
}

async function translateCues(
  recording: Recording,
  form: TranscriptionForm,
  translate: (lines: readonly string[]) => Promise<string[]>,
): Promise<Rendered> {
  const cues = cuesOf(recording.segments, form);
  const texts = await translate(cues.map(({ lines }) => lines.join(' ')));
  const translated = cues.flatMap((cue, index) => retellCue(cue, texts[index] ?? '', lineColumns(cue.speaker, form)));
  return renderCues(translated, form.response_format === 'srt' ? 'srt' : 'vtt');
}
