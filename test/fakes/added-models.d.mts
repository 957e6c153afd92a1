import type { EngineSettings } from '../../engine/contract.ts';
import type { ModelTable } from '../../engine/models/model-table.ts';

export const ADDED_MODELS: ModelTable;
export const ADDED_NAMES: Pick<EngineSettings, 'asrModel' | 'vadModel' | 'ttsModel'>;
