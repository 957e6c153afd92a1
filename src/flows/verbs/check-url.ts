/** Checks addresses in flows. */
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { FlowFinding } from '../file/flow-finding.ts';

/** What a variable brings is not known: it is taken for a part of a name. `protocols` = `https:` and its like. */
export function checkUrl(url: string, path: YamlPath, protocols: readonly string[]): FlowFinding[] {
  if (url.startsWith('{')) return [];
  const filled = url.replace(/\{[^{}]*\}/g, '1');
  if (URL.canParse(filled) && protocols.includes(new URL(filled).protocol)) return [];
  const example = `${protocols[0]}//example.com/orders/{orderNumber}`;
  return [{ path, message: `got ${JSON.stringify(url)}, expected an address such as ${example}` }];
}

/** The protocols of web servers. */
export const HTTP = ['https:', 'http:'];
/** The protocols of apps. */
export const WEB_SOCKET = ['wss:', 'ws:'];
