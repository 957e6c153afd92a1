/** Which of them answers in Realtime sessions. */
import type { Settings } from '../../foundation/settings/settings.ts';

/** The settings that decide it. */
export type ChoiceSettings = Pick<Settings, 'REALTIME_APP_URL' | 'APP_URL' | 'LLM_BASE_URL' | 'LLM_MODEL'>;

/** Which of them it is; null = nobody. */
export function brainOf(settings: ChoiceSettings): 'app' | 'chat' | null {
  if (settings.REALTIME_APP_URL !== '' || settings.APP_URL !== '') return 'app';
  return settings.LLM_BASE_URL !== '' && settings.LLM_MODEL !== '' ? 'chat' : null;
}
