import { serviceUrl } from '../setting-forms.ts';
import { type SettingGroup, secret, text, whole } from '../setting-kinds.ts';

/** The language model that is asked for hints and translations, and by flows and clients. */
export const llm = {
  title: 'Language models',
  part: 'llm',
  prefixes: ['LLM_'],
  everyday: {
    LLM_BASE_URL: serviceUrl(
      'Chat endpoint in the style of OpenAI (…/v1) for everything that asks a language model: translation, hints ' +
        'with HINTS_MODEL, answers in the Realtime API. Empty = none.',
    ),
    LLM_API_KEY: secret('key', 'Bearer token for LLM_BASE_URL. Empty = none.'),
    LLM_MODEL: text('', 'model', 'Model that is asked for where no other is named.'),
  },
  further: {
    LLM_TIMEOUT_MS: whole(60_000, 1000, 600_000, 'ms', 'Longest time for one answer of a chat endpoint.'),
  },
} as const satisfies SettingGroup;
