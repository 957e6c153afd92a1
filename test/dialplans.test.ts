/**
 * What operators paste: files that are well-formed, name endpoints that exist, and say what the server's answers would
 * say.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAppRequest } from '../src/calls/app/request.ts';
import { packagePath } from '../src/foundation/folders/paths.ts';
import { readSettings } from '../src/foundation/settings/config.ts';
import { connectStreamTwiml, listenAndDialTwiml } from '../src/protocols/twiml/stream.ts';
import { startServer } from './http/test-server.ts';

const FOLDER = packagePath('dialplans');
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /\.\w+$/.test(file) && file !== 'README.md',
);
const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
const LINKS = [...read('README.md').matchAll(/\]\(([^)#]+)/g)].map(([, target = '']) => target);
const ending = (end: string) => FILES.filter((file) => file.endsWith(end)).sort();

/** The elements that are not closed, or closed without having been opened. */
function unbalanced(xml: string): string[] {
  const open: string[] = [];
  for (const [, closing, name = '', selfClosing] of xml
    .replace(/<\?.*?\?>|<!--.*?-->/gs, '')
    .matchAll(/<(\/?)(\w+)(?:\s+[\w-]+="[^"<]*")*\s*(\/?)>/g)) {
    if (selfClosing === '/') continue;
    if (closing !== '/') open.push(name);
    else if (open.pop() !== name) return [name];
  }
  return open;
}

/** Without comments, indentation and what stands around the element called `name`. */
function element(xml: string, name: string): string {
  const bare = xml.replace(/<!--.*?-->/gs, '').replace(/>\s+</g, '><');
  return bare.slice(bare.indexOf(`<${name}>`), bare.indexOf(`</${name}>`) + name.length + 3);
}

const parametersOf = (xml: string) =>
  Object.fromEntries(
    [...xml.matchAll(/<Parameter name="([^"]+)" value="([^"]*)"\/>/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );

describe('the dialplans', () => {
  let app: FastifyInstance;
  beforeAll(async () => {
    ({ app } = await startServer());
    await app.ready();
  });
  afterAll(() => app.close());

  it.each(FILES)('%s is linked in the README', (file) => {
    expect(LINKS).toContain(file);
  });

  it.each(FILES)('%s leads to endpoints that exist', (file) => {
    const paths = [...read(file).matchAll(/wss:\/\/(?:[^@\s"]+@)?bridge\.example\.com(\/[\w/]*)/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.filter((url) => !app.hasRoute({ method: 'GET', url }))).toEqual([]);
    if (/\.(xml|json)$/.test(file)) expect(paths).not.toEqual([]);
  });

  it.each(ending('.xml'))('%s is well-formed', (file) => {
    // FreeSWITCH puts its files together before it reads them.
    if (!file.startsWith('freeswitch/')) expect(read(file)).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/);
    expect(unbalanced(read(file))).toEqual([]);
  });

  it.each(ending('.json'))('%s is JSON', (file) => {
    expect(typeof JSON.parse(read(file))).toBe('object');
  });
});

describe('the TwiML', () => {
  const url = 'wss://bridge.example.com/twilio/media';
  const parties = { from: '{{From}}', to: '{{To}}' };

  it('for talk connects the call as /twilio/voice does', () => {
    const ours = connectStreamTwiml({ url, parameters: parties });
    expect(element(read('twilio/talk.xml'), 'Connect')).toBe(element(ours, 'Connect'));
  });

  it('for captions forwards the call and listens as /twilio/voice?listen= does', () => {
    const ours = listenAndDialTwiml({ url, parameters: parties }, '+14155550100');
    expect(element(read('twilio/captions.xml'), 'Response')).toBe(element(ours, 'Response'));
  });

  it('in place of ConversationRelay’s names the app and how the call is to be held', () => {
    const parameters = parametersOf(read('twilio/conversation-relay.xml'));
    expect(readAppRequest(parameters, readSettings({}))).toMatchObject({
      url: 'wss://app.example.com/calls',
      greeting: 'Hello!',
      interruptible: 'any',
      customParameters: { ...parties, customer: '7' },
    });
  });
});

describe('what is pasted into an Asterisk', () => {
  const CONF = ending('.conf');
  const sections = (file: string) => [...read(file).matchAll(/^\[([^\]]+)\]$/gm)].map(([, name = '']) => name);
  const DIALPLANS = CONF.filter((file) => /^exten =>/m.test(read(file)));
  const all = CONF.map(read).join('\n');

  it.each(CONF)('%s says where it goes and what makes Asterisk read it', (file) => {
    expect(read(file)).toMatch(/^(;.*\n)*?;.*\/etc\/asterisk\/\w+\.conf/);
    expect(read(file)).toMatch(/^;.*asterisk -rx '(module reload|dialplan reload|queue reload)/m);
  });

  it.each(DIALPLANS)('%s can be reached: its contexts are included in the phones’, or named', (file) => {
    const text = read(file);
    const phones = text.slice(text.indexOf('[from-phones]'));
    const unreached = sections(file).filter(
      (name) =>
        name !== 'from-phones' &&
        !phones.includes(`include => ${name}\n`) &&
        !text.includes(`(${name}^`) &&
        !all.includes(`\ncontext=${name} `),
    );
    expect([phones.startsWith('[from-phones]'), unreached]).toEqual([true, []]);
  });

  it('ends the call of a phone that is gone: each endpoint has a time-out of RTP', () => {
    const sections = CONF.filter((file) => /pjsip/.test(file)).flatMap((file) => read(file).split(/^(?=\[)/m));
    const endpoints = sections.filter((section) => /^type ?= ?endpoint/m.test(section));
    expect(endpoints.length).toBeGreaterThan(2);
    expect(endpoints.filter((section) => !/^rtp_timeout ?= ?\d+/m.test(section))).toEqual([]);
    expect(endpoints.filter((section) => !/^rtp_timeout_hold ?= ?\d+/m.test(section))).toEqual([]);
  });

  it('names no phone and no queue that no file has', () => {
    const endpoints = CONF.filter((file) => /pjsip/.test(file)).flatMap((file) =>
      [...read(file).matchAll(/^\[(\w+)\]/gm)].map(([, name]) => name),
    );
    const dialled = [...all.matchAll(/PJSIP\/(?:\w+@)?(\w+)/g)].map(([, name]) => name);
    const queues = [...all.matchAll(/Queue\((\w+)\)/g)].map(([, name]) => name);
    expect(dialled.filter((name) => !endpoints.includes(name))).toEqual([]);
    expect(queues.length).toBeGreaterThan(0);
    expect(queues.filter((name) => !all.includes(`[${name}]\n`))).toEqual([]);
  });

  it('sets nothing that stands for somebody’s own', () => {
    expect(all.split('\n').filter((line) => !line.startsWith(';') && line.includes('example.com'))).toEqual([]);
  });
});
