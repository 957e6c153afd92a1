/** The models and voices as Deepgram's `GET /v1/models` lists them, for one answer that its clients read too. */
import { z } from 'zod';
import { modelUuid } from '../foundation/model-uuid.ts';
import type { VoiceName } from '../speech/voices.ts';
import { nameSchemas } from './server/named-schemas.ts';

const ARCHITECTURE = 'trunkline';
const VERSION = '1';

const shared = {
  name: z.string(),
  canonical_name: z.string(),
  architecture: z.string(),
  languages: z.array(z.string()).describe('BCP-47; none while they are not known'),
  version: z.string(),
  uuid: z.string().describe('Made of the name'),
};
const speechToText = z.object({ ...shared, batch: z.boolean(), streaming: z.boolean(), formatted_output: z.boolean() });
const textToSpeech = z.object(shared);

nameSchemas({ SpeechToTextModel: speechToText, TextToSpeechModel: textToSpeech });

/** Fields that the list has beside those of OpenAI. */
export const deepgramLists = {
  stt: z.array(speechToText).describe("As Deepgram's clients expect: the recognisers"),
  tts: z.array(textToSpeech).describe("As Deepgram's clients expect: the voices; none while no engine has named them"),
};

/** Recognisers by their names, with what each understands. */
export function speechToTextModels(
  languagesOf: ReadonlyMap<string, readonly string[]>,
): z.infer<typeof speechToText>[] {
  return [...languagesOf].map(([name, languages]) => ({
    ...entryOf(name, languages),
    batch: true,
    streaming: true,
    formatted_output: true,
  }));
}

/** The voices by their own names. */
export function textToSpeechModels(voices: readonly VoiceName[]): z.infer<typeof textToSpeech>[] {
  const own = voices.filter(({ name, voice }) => name === voice.name);
  return own.map(({ name, voice }) => entryOf(name, [voice.language]));
}

function entryOf(name: string, languages: readonly string[]): z.infer<typeof textToSpeech> {
  return {
    name,
    canonical_name: name,
    architecture: ARCHITECTURE,
    languages: [...languages],
    version: VERSION,
    uuid: modelUuid(name),
  };
}
