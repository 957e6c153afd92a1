/** Answers with the whole transcript of a recording, or its translation. */
import { languageName, titleCase } from '../../foundation/languages.ts';
import type { RecordingTranscript } from '../../recordings/transcribe.ts';
import { translateSegments } from '../../recordings/translate.ts';
import { retellCue } from '../../transcription/subtitles.ts';
import type { ClientFamilies } from '../server/client-families.ts';
import type { TranscriptionForm } from './fields.ts';
import { cuesOf, lineColumns, type Outcome, type Rendered, render, renderCues } from './formats.ts';
import { type TranscriptionContext, transcribeUpload, type UploadedRecording } from './serve-upload.ts';

/** Answers with the transcript, in `target_language` if the form has one. */
export async function answerTranscription(context: TranscriptionContext, recording: UploadedRecording): Promise<void> {
  send(await transcribe(context, recording), recording);
}

/** As {@link answerTranscription}, as a file of subtitles. */
export async function answerSubtitles(context: TranscriptionContext, recording: UploadedRecording): Promise<void> {
  const rendered = await transcribe(context, recording);
  recording.reply.header('content-disposition', 'attachment; filename="subtitles.srt"');
  send(rendered, recording);
}

/** Answers with the translation into `target_language`, or into English. */
export async function answerTranslation(context: TranscriptionContext, recording: UploadedRecording): Promise<void> {
  const target = languageName(recording.form.target_language || 'en', recording.languages);
  send(await translate(context, recording, target), recording);
}

function send({ contentType, body }: Rendered, { reply }: UploadedRecording): void {
  reply.type(contentType).send(body);
}

async function transcribe(context: TranscriptionContext, recording: UploadedRecording): Promise<Rendered> {
  const { form, languages } = recording;
  const target = languageName(form.target_language ?? '', languages);
  if (target !== '') return translate(context, recording, target);
  const transcript = await transcribeUpload(context, recording);
  const { spokenLanguage } = transcript;
  const language = spokenLanguage === null ? null : languageShown(languageName(spokenLanguage), form, context.families);
  return render({ ...transcript, task: 'transcribe', language }, form);
}

/**
 * The transcript in the language `target`, an English name in lower case. Nothing is translated where that is the
 * language that was spoken.
 * @throws TrunklineError `unsupported_model` where no translator is configured, `translation_failed`
 */
async function translate(
  context: TranscriptionContext,
  recording: UploadedRecording,
  target: string,
): Promise<Rendered> {
  const { translator } = context;
  const { form, task } = recording;
  translator.assertConfigured();
  const transcript = await transcribeUpload(context, recording);
  const outcome: Outcome = {
    ...transcript,
    task: 'translate',
    language: languageShown(target, form, context.families),
  };
  if (transcript.spokenLanguage === null) return render({ ...outcome, language: null }, form);
  if (target === languageName(transcript.spokenLanguage)) return render(outcome, form);
  const translateLines = (lines: readonly string[]) => translator.translate(lines, target, task.signal);
  if (form.response_format === 'srt' || form.response_format === 'vtt')
    return translateCues(transcript, form, translateLines);
  const { segments } = await translateSegments(transcript, translateLines);
  return render({ ...outcome, segments }, form);
}

/** OpenAI's `json` has no language. Those of other servers may have one, with a capital. */
function languageShown(language: string, form: TranscriptionForm, families: ClientFamilies): string {
  const isWanted = families.senderOf(form).possible.some(({ wantsLanguage }) => wantsLanguage);
  return form.response_format === 'json' && isWanted ? titleCase(language) : language;
}

async function translateCues(
  transcript: RecordingTranscript,
  form: TranscriptionForm,
  translateLines: (lines: readonly string[]) => Promise<string[]>,
): Promise<Rendered> {
  const cues = cuesOf(transcript.segments, form);
  const texts = await translateLines(cues.map(({ lines }) => lines.join(' ')));
  const translated = cues.flatMap((cue, index) => retellCue(cue, texts[index] ?? '', lineColumns(cue.speaker, form)));
  return renderCues(translated, form.response_format === 'srt' ? 'srt' : 'vtt');
}
