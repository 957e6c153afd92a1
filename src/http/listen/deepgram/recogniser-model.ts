import type { Settings } from '../../../foundation/settings/settings.ts';
import type { ModelInfo } from '../../../protocols/listen/deepgram/messages.ts';
import { recogniserNames } from '../../models.ts';

/** The recogniser of finals as Deepgram's clients are told of it. */
export function recogniserModel(settings: Pick<Settings, 'ASR_MODEL' | 'ASR_FINAL_MODEL'>): ModelInfo {
  const names = recogniserNames(settings);
  const name = names.get('final') ?? names.get('live') ?? '';
  return { name, version: 'trunkline', arch: name };
}
