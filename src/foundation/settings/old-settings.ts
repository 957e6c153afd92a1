/** Settings of earlier releases: those that are still read, until 1.0, and those that are constants now. */
import { chatTimeout, serviceUrl } from './setting-forms.ts';
import { flag, type SettingSpec, secret } from './setting-kinds.ts';

const EVERYWHERE = ['0.0.0.0/0', '::/0'];

/** The old flags that let requests reach private networks, and what OUTBOUND_ALLOW has in their place. */
const OPENED = {
  APP_TWIML_ALLOW_PRIVATE: 'apps',
  APP_PLAY_ALLOW_PRIVATE: 'apps',
  FLOW_HTTP_ALLOW_PRIVATE: 'flows',
  BATCH_ALLOW_PRIVATE: 'batches',
  CALL_WEBHOOK_ALLOW_PRIVATE: 'calls',
} as const;

/** Chat endpoints of one purpose: LLM_* stands for all. Their values are filled in from there. */
export const OLD_CHAT_SETTINGS = {
  HINTS_BASE_URL: serviceUrl('LLM_BASE_URL, and HINTS_MODEL'),
  HINTS_API_KEY: secret('key', 'LLM_API_KEY'),
  HINTS_TIMEOUT_MS: chatTimeout('LLM_TIMEOUT_MS'),
  TRANSLATE_BASE_URL: serviceUrl('LLM_BASE_URL'),
  TRANSLATE_API_KEY: secret('key', 'LLM_API_KEY'),
  TRANSLATE_TIMEOUT_MS: chatTimeout('LLM_TIMEOUT_MS'),
} as const satisfies Record<string, SettingSpec<unknown>>;

/** All old names that are still read; the meaning says what to set. */
export const OLD_SETTINGS: Readonly<Record<string, SettingSpec<unknown>>> = {
  ...OLD_CHAT_SETTINGS,
  ...Object.fromEntries(
    Object.entries(OPENED).map(([name, purpose]) => [
      name,
      flag(false, `OUTBOUND_ALLOW to the networks that are meant, such as ${purpose}=10.0.0.0/8`),
    ]),
  ),
};

/**
 * Takes the old flags out of `values`, and returns what those that are true add to OUTBOUND_ALLOW: all networks, for
 * their purpose.
 */
export function takeOpened(values: Record<string, unknown>): string[] {
  const purposes = Object.entries(OPENED).flatMap(([name, purpose]) => (values[name] === true ? [purpose] : []));
  for (const name of Object.keys(OPENED)) delete values[name];
  return [...new Set(purposes)].flatMap((purpose) => EVERYWHERE.map((network) => `${purpose}=${network}`));
}

/** One line for each old name that `environment` sets. */
export function oldNamesIn(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(OLD_SETTINGS)
    .filter(([name, { defaultText }]) => !['', defaultText].includes(environment[name]?.trim() ?? ''))
    .map(([name, { meaning }]) => `${name} is an old name, which is read until 1.0: set ${meaning}`);
}
