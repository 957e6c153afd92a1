import { chatTimeout, serviceUrl } from '../setting-forms.ts';
import { type SettingGroup, secret, text, whole } from '../setting-kinds.ts';

/** Language models that are asked for something, and the hints beside calls. */
export const hints = {
  title: 'Hints and language models',
  everyday: {
    HINTS_FILE: text(
      '',
      'path',
      'YAML file with cards that are shown beside a call in which their words are said. It is read again when it ' +
        'changes. Empty = none.',
    ),
    HINTS_BASE_URL: serviceUrl(
      'Chat endpoint in the style of OpenAI (…/v1) that is asked for hints during calls. What is said in them is ' +
        'sent there. Empty = LLM_BASE_URL if HINTS_MODEL is set; else no model is asked.',
    ),
    HINTS_API_KEY: secret(
      'key',
      'Bearer token for that endpoint. Empty = LLM_API_KEY if it is the server of LLM_BASE_URL.',
    ),
    HINTS_MODEL: text('', 'model', 'Model at that endpoint that gives hints. Empty = LLM_MODEL.'),
    LLM_BASE_URL: serviceUrl(
      'Chat endpoint in the style of OpenAI (…/v1) for everything that asks a language model and has none of its ' +
        'own. Empty = none.',
    ),
    LLM_API_KEY: secret('key', 'Bearer token for LLM_BASE_URL. Empty = none.'),
    LLM_MODEL: text('', 'model', 'Model that is asked for where no other is named.'),
  },
  tuning: {
    HINTS_EVERY: whole(4, 1, 100, 'utterances', 'A model is asked for a hint after so many utterances of a call.'),
    HINTS_INTERVAL_MS: whole(
      15_000,
      1000,
      600_000,
      'ms',
      'Shortest time between two questions to the model about the same call.',
    ),
    HINTS_TIMEOUT_MS: chatTimeout('Longest time for one answer of HINTS_BASE_URL. 0 = LLM_TIMEOUT_MS.'),
    LLM_TIMEOUT_MS: whole(60_000, 1000, 600_000, 'ms', 'Longest time for one answer of a chat endpoint.'),
  },
} as const satisfies SettingGroup;
