/**
 * The models, as OpenAI's `/v1/models` lists them, and the one rule for model names: our names, and names of other
 * servers' models that stand for ours, are accepted; any other is refused, for recognition and for speech.
 */
import { basename } from 'node:path';
import type { FastifyPluginCallbackZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { RecogniserRole } from '../../engine/contract.ts';
import type { RecogniserAbilities } from '../../engine/recogniser-abilities.ts';
import type { Clock } from '../foundation/clock.ts';
import { TrunklineError } from '../foundation/errors.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Speech } from '../speech/speech.ts';
import { deepgramLists, speechToTextModels, textToSpeechModels } from './deepgram-models.ts';
import type { ClientFamilies, ForeignNames, ModelKind } from './server/client-families.ts';
import { errorResponses } from './server/errors.ts';
import { nameSchemas } from './server/named-schemas.ts';

/**
 * The names of our synthesizers stand for each other. OpenAI's names may end in a date. Whisper has many names on many
 * servers, such as `Systran/faster-whisper-small`.
 */
const OPENAI: Readonly<Record<ModelKind, ForeignNames>> = {
  recogniser: {
    listed: ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'],
    taken:
      /^(?:(?:[\w.-]+\/)?(?:[\w.-]+-)?whisper(?:-1|-(?:tiny|base|small|medium|large|turbo)[\w.-]*)?|gpt(?:-4o)?(?:-mini)?-transcribe(?:-diarize)?(?:-\d{4}-\d{2}-\d{2})?)$/i,
  },
  voice: {
    listed: ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'],
    taken: /^(?:flite|hibari|kokoro|tts-1(?:-hd)?(?:-\d{4})?|gpt-4o-mini-tts(?:-\d{4}-\d{2}-\d{2})?)$/i,
  },
};
/** Stands for all synthesizers of TTS_MODEL=installed: the voice chooses among them. */
const ALWAYS_INSTALLED = 'flite';
const NAME_SHOWN_CHARS = 64;
/** Longest name of a model. */
export const MODEL_NAME_MAX_CHARS = 200;

type ModelSettings = Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL' | 'TTS_MODEL'>;

/** What decides which names there are. */
export interface ModelNames {
  readonly settings: ModelSettings;
  readonly families: ClientFamilies;
}

/** What a recogniser said of itself when it was loaded. */
export interface LoadedRecogniser {
  readonly name: string;
  readonly languages: readonly string[];
  /** Of each ability whether it has it. */
  readonly abilities: Readonly<Record<keyof RecogniserAbilities, boolean>>;
  readonly licence: string | null;
}

/** Null = not loaded yet, or there is none. */
export type Recognisers = Readonly<Record<RecogniserRole, LoadedRecogniser | null>>;

const model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Start time of this server, in Unix seconds'),
  owned_by: z.string(),
  reads: z.enum(['everything', 'partials', 'finals']).optional().describe('Of recognisers: the captions they write'),
  languages: z.array(z.string()).optional().describe('Of recognisers that are loaded: BCP-47, the assumed one first'),
  abilities: z.array(z.string()).optional().describe('Of recognisers that are loaded'),
  licence: z.string().nullable().optional().describe('Of recognisers that are loaded; null = not known'),
});

nameSchemas({ Model: model });

type Model = z.infer<typeof model>;

/**
 * Accepts our name, a name that stands for it, and no name.
 * @throws TrunklineError `model_not_found` for any other
 */
export function requireModel(kind: ModelKind, id: string | null | undefined, names: ModelNames): void {
  if (id === null || id === undefined || id === '' || isModel(kind, id, names)) return;
  refuse(id, modelNames(kind, names));
}

/** The listed names of a kind, ours first. */
export function modelNames(kind: ModelKind, { settings, families }: ModelNames): string[] {
  return [...ownNames(kind, settings), ...foreignNames(kind, families).flatMap(({ listed }) => listed)];
}

function isModel(kind: ModelKind, id: string, { settings, families }: ModelNames): boolean {
  if (ownNames(kind, settings).includes(id)) return true;
  return id.length <= MODEL_NAME_MAX_CHARS && foreignNames(kind, families).some(({ taken }) => taken.test(id));
}

function foreignNames(kind: ModelKind, families: ClientFamilies): readonly ForeignNames[] {
  return [OPENAI[kind], ...families.namesOf(kind)];
}

/** The names of the models in use, as the settings have them. */
export function ownNames(kind: ModelKind, settings: ModelSettings): string[] {
  if (kind === 'recogniser') return [...new Set(recogniserNames(settings).values())];
  return [settings.TTS_MODEL === 'installed' ? ALWAYS_INSTALLED : settings.TTS_MODEL];
}

/** The recognisers of the settings as the API calls them: a folder by its own name. */
export function recogniserNames({
  ASR_MODEL,
  ASR_FINAL_MODEL,
}: Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL'>): ReadonlyMap<RecogniserRole, string> {
  const live = ['live', basename(ASR_MODEL)] as const;
  return new Map(ASR_FINAL_MODEL === '' ? [live] : [live, ['final', basename(ASR_FINAL_MODEL)]]);
}

/** The recogniser that writes finals; until one is loaded, as the settings call it: never empty. */
export function nameOfFinals(settings: Parameters<typeof recogniserNames>[0], { live, final }: Recognisers): string {
  const names = recogniserNames(settings);
  return (final ?? live)?.name ?? names.get('final') ?? names.get('live') ?? '';
}

/** What is known of a recogniser of the settings; nothing of other models. */
function describeRecogniser(id: string, settings: ModelSettings, recognisers: Recognisers): Partial<Model> {
  const names = recogniserNames(settings);
  const roles = [...names].flatMap(([role, name]) => (name === id ? role : []));
  const [role] = roles;
  if (role === undefined) return {};
  const reads = roles.length === names.size ? 'everything' : readsOf(role, names);
  const loaded = recognisers[role];
  if (loaded === null) return { reads };
  const { languages, abilities, licence } = loaded;
  const has = Object.entries(abilities).flatMap(([ability, isThere]) => (isThere ? ability : []));
  return { reads, languages: [...languages], abilities: has, licence };
}

/** None of those that are not loaded. */
function languagesByName(settings: ModelSettings, recognisers: Recognisers): Map<string, readonly string[]> {
  const names = recogniserNames(settings);
  return new Map([...names].map(([role, name]) => [name, recognisers[role]?.languages ?? []]));
}

/** What the recogniser of `role` writes where the settings name these. */
export function readsOf(
  role: RecogniserRole,
  names: ReadonlyMap<RecogniserRole, string>,
): 'everything' | 'partials' | 'finals' {
  return names.size === 1 ? 'everything' : READS[role];
}

const READS = { live: 'partials', final: 'finals' } as const;

interface ModelRoutesOptions extends ModelNames {
  readonly clock: Clock;
  readonly recognisers: () => Recognisers;
  readonly speech: Pick<Speech, 'voiceNames'>;
}

/** `GET /v1/models` and `GET /v1/models/:id`. */
export const modelRoutes: FastifyPluginCallbackZod<ModelRoutesOptions> = (
  app,
  { settings, families, clock, recognisers, speech },
  done,
) => {
  const created = Math.floor(clock.wall().getTime() / 1000);
  const names = { settings, families };
  const ids = [...new Set([...modelNames('recogniser', names), ...modelNames('voice', names)])];
  const show = (id: string): Model => ({
    id,
    object: 'model',
    created,
    owned_by: 'trunkline',
    ...describeRecogniser(id, settings, recognisers()),
  });

  app.get(
    '/v1/models',
    {
      config: { permission: 'models' },
      schema: {
        operationId: 'listModels',
        summary: 'List the models',
        tags: ['speech'],
        response: {
          200: z.object({ object: z.literal('list'), data: z.array(model), ...deepgramLists }),
          ...errorResponses(401, 403, 429),
        },
      },
    },
    () => ({
      object: 'list' as const,
      data: ids.map(show),
      stt: speechToTextModels(languagesByName(settings, recognisers())),
      tts: textToSpeechModels(speech.voiceNames()),
    }),
  );

  app.get(
    '/v1/models/:id',
    {
      config: { permission: 'models' },
      schema: {
        operationId: 'getModel',
        summary: 'Get a model',
        tags: ['speech'],
        params: z.object({ id: z.string() }),
        response: { 200: model, ...errorResponses(401, 403, 404, 429) },
      },
    },
    (request) => {
      const { id } = request.params;
      if (!isModel('recogniser', id, names) && !isModel('voice', id, names)) refuse(id, ids);
      return show(id);
    },
  );
  done();
};

function refuse(id: string, known: readonly string[]): never {
  const named = JSON.stringify(id.slice(0, NAME_SHOWN_CHARS));
  throw new TrunklineError(
    'model_not_found',
    `model: got ${named}, expected one of ${known.join(', ')}; GET /v1/models lists them`,
    'model',
  );
}
