/** Checks what a flow says of places, times, languages and other servers. */
import { isLanguage } from '../../calls/language/spoken-language.ts';
import type { YamlPath } from '../../foundation/yaml-document.ts';
import { readJsonPath } from '../steps/json-path.ts';
import { findHoursProblems, findZoneProblem } from '../understand/hours.ts';
import type { FlowFile } from './flow-file.ts';
import type { FlowFinding } from './flow-finding.ts';
import type { VerbFields } from './verbs.ts';

type Step = FlowFile['steps'][string];
type Request = Omit<VerbFields['http'], 'waiting' | 'failed'>;

const HTTP = ['https:', 'http:'];
const WEB_SOCKET = ['wss:', 'ws:'];
/** RFC 9110, section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Hours, languages, addresses, and limits that leave nothing between them. */
export function checkValues({ language, timeZone, steps }: FlowFile): FlowFinding[] {
  const zoneProblem = timeZone === undefined ? null : findZoneProblem(timeZone);
  return [
    ...(zoneProblem === null ? [] : [{ path: ['timeZone'], message: zoneProblem }]),
    ...(language === undefined ? [] : checkLanguage(language, ['language'])),
    ...Object.entries(steps).flatMap(([name, step]) => checkStep(step, ['steps', name])),
    ...(timeZone === undefined ? hoursWithoutZone(steps) : []),
  ];
}

/** A flow that calls this one may have a time zone. */
function hoursWithoutZone(steps: FlowFile['steps']): FlowFinding[] {
  return Object.entries(steps).flatMap(([name, { hours }]): FlowFinding[] => {
    if (hours === undefined || hours.timeZone !== undefined) return [];
    const message = 'no timeZone stands here or at the top of the flow: UTC, or that of the flow that calls this one';
    return [{ path: ['steps', name, 'hours'], part: 'key', message, isWarning: true }];
  });
}

function checkStep({ hours, http, record, app, queueMusic, language }: Step, path: YamlPath): FlowFinding[] {
  const findings: FlowFinding[] = [];
  if (hours !== undefined)
    for (const { path: at, message } of findHoursProblems(hours))
      findings.push({ path: [...path, 'hours', ...at], message });
  if (http !== undefined) findings.push(...checkRequest(http, [...path, 'http']));
  if (queueMusic?.poll !== undefined) findings.push(...checkRequest(queueMusic.poll, [...path, 'queueMusic', 'poll']));
  if (record !== undefined) findings.push(...checkRecord(record, [...path, 'record']));
  if (app?.url !== undefined) findings.push(...checkUrl(app.url, [...path, 'app', 'url'], WEB_SOCKET));
  if (language !== undefined) findings.push(...checkLanguage(language.to, [...path, 'language', 'to']));
  return findings;
}

function checkLanguage(language: string, path: YamlPath): FlowFinding[] {
  if (language.includes('{') || isLanguage(language)) return [];
  return [{ path, message: `got ${JSON.stringify(language)}, expected a language such as de or en-US` }];
}

function checkRequest({ url, method, headers = {}, body, take = {} }: Request, path: YamlPath): FlowFinding[] {
  const findings = checkUrl(url, [...path, 'url'], HTTP);
  if (method === 'GET' && body !== undefined)
    findings.push({ path: [...path, 'body'], part: 'key', message: 'is sent by POST alone, and method says GET' });
  for (const name of Object.keys(headers))
    if (!HEADER_NAME.test(name))
      findings.push({ path: [...path, 'headers', name], part: 'key', message: 'expected the name of a header' });
  return [...findings, ...Object.entries(take).flatMap(([name, at]) => checkJsonPath(at, [...path, 'take', name]))];
}

function checkJsonPath(text: string, path: YamlPath): FlowFinding[] {
  try {
    readJsonPath(text);
    return [];
  } catch (error) {
    if (error instanceof RangeError) return [{ path, message: error.message }];
    throw error;
  }
}

function checkRecord({ minMs, maxMs, webhook }: VerbFields['record'], path: YamlPath): FlowFinding[] {
  const findings = webhook === undefined ? [] : checkUrl(webhook, [...path, 'webhook'], HTTP);
  if (minMs !== undefined && maxMs !== undefined && minMs > maxMs)
    findings.push({ path: [...path, 'maxMs'], message: `got ${maxMs}, expected at least minMs (${minMs})` });
  return findings;
}

/** What a variable brings is not known: it is taken for a part of a name. */
function checkUrl(url: string, path: YamlPath, protocols: readonly string[]): FlowFinding[] {
  if (url.startsWith('{')) return [];
  const filled = url.replace(/\{[^{}]*\}/g, '1');
  if (URL.canParse(filled) && protocols.includes(new URL(filled).protocol)) return [];
  const example = `${protocols[0]}//example.com/orders/{orderNumber}`;
  return [{ path, message: `got ${JSON.stringify(url)}, expected an address such as ${example}` }];
}
