import { chatTimeout, serviceUrl } from '../setting-forms.ts';
import { type SettingGroup, secret, text, whole } from '../setting-kinds.ts';

/** The hints beside calls. */
export const hints = {
  title: 'Hints',
  part: 'hints',
  prefixes: ['HINTS_'],
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
  },
} as const satisfies SettingGroup;
