/** What a check says of a flow. */
import type { YamlPath } from '../../foundation/yaml-document.ts';

/** What is wrong with a flow: where its file says it, and what. */
export interface FlowFinding {
  readonly path: YamlPath;
  readonly message: string;
  /** Whether the key is wrong, and not the value behind it. */
  readonly part?: 'key';
  /** The flow can be used all the same. */
  readonly isWarning?: true;
}
