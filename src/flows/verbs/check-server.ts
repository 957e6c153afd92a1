/** Checks what flows ask of servers. */
import type { YamlPath } from '../../foundation/yaml-document.ts';
import type { FlowFinding } from '../file/flow-finding.ts';
import type { ServerFields } from './ask-server.ts';
import { checkUrl, HTTP } from './check-url.ts';

/** RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Its address and its headers. The paths of `take` are read by their schema. */
export function checkRequest({ url, method, headers = {}, body }: ServerFields, path: YamlPath): FlowFinding[] {
  const findings = checkUrl(url, [...path, 'url'], HTTP);
  if (method === 'GET' && body !== undefined)
    findings.push({ path: [...path, 'body'], part: 'key', message: 'is sent by POST alone, and method says GET' });
  for (const name of Object.keys(headers))
    if (!HEADER_NAME.test(name))
      findings.push({ path: [...path, 'headers', name], part: 'key', message: 'expected the name of a header' });
  return findings;
}
