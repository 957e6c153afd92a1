import { choice, cpuList, type SettingGroup, text, whole, wholeList } from '../setting-kinds.ts';

/** The processes that run the models. */
export const engines = {
  title: 'Engines',
  part: 'engines',
  prefixes: ['ENGINE_'],
  everyday: {
    EXECUTION_PROVIDER: choice(
      'cpu',
      ['cpu', 'cuda', 'auto'],
      'What runs the models. cuda = the GPU. auto = the GPU if CUDA works here, otherwise the CPU with a warning.',
    ),
    MODELS_DIR: text(
      '',
      'folder',
      'Folder of the models that `trunkline models add` installs. none = use none. Empty = models in DATA_DIR; ' +
        'without that trunkline/models in XDG_STATE_HOME or ~/.local/state.',
    ),
  },
  further: {
    ENGINE_WORKERS: whole(
      0,
      0,
      64,
      'processes',
      'Number of engine processes. 0 = as many as the cores allow; with cuda one for each GPU.',
    ),
    ENGINE_IDLE_MS: whole(600_000, 0, 86_400_000, 'ms', 'The engines stop so long after the last work. 0 = never.'),
    ENGINE_MEMORY_BYTES: whole(
      0,
      0,
      1_099_511_627_776,
      'bytes',
      'Memory for all engine processes together. The server does not start if the models of its settings would need ' +
        'more. 0 = what the machine or container has, without the share of the gateway.',
    ),
    MODEL_CACHE_DIR: text(
      '',
      'folder',
      'Folder that keeps the rewritten graphs of the recogniser. The server does not use a folder that others can ' +
        'write. Empty = trunkline in XDG_CACHE_HOME or ~/.cache.',
    ),
    ENGINE_CPUS: cpuList(
      'Processors that the engine processes run on, such as 2-7,9 (Linux, with taskset). There are then as many ' +
        'processes as processors, at most 8, unless ENGINE_WORKERS says otherwise. Empty = all.',
    ),
    CUDA_DEVICE: wholeList(
      '0',
      0,
      63,
      'indexes, comma-separated',
      'Index of the GPU, with cuda or auto. Of several, such as 0,1, the engine processes take turns: the first gets ' +
        'the first, and so on.',
    ),
  },
} as const satisfies SettingGroup;
