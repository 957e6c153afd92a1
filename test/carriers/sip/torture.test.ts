/**
 * RFC 4475: each of its messages gets the answer that fixtures/wire/sip/rfc4475/README.md says, and nothing larger than
 * itself over UDP.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SipAgent } from '../../../src/carriers/sip/agent.ts';
import { systemClock } from '../../../src/foundation/clock.ts';
import { metricValue, startCalls } from '../../calls/harness.ts';
import { eventually } from '../../helpers/eventually.ts';
import { freeSipPort } from '../../helpers/ports.ts';
import { headerIn, PEER, request, SipLine } from './line.ts';
import { tortureBytes, tortureFiles, tortureMessages, withRport } from './torture.ts';

const MESSAGES = tortureMessages();
/** RFC 3261 §25.1; UTF-8 aside. */
const REASON_PHRASE = /^[A-Za-z0-9;/?:@&=+$,\-_.!~*'() \t]*$/;
const OVER_TCP = { ...PEER, protocol: 'TCP' } as const;
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const textOf = (name: string): string => tortureBytes(name).toString('latin1');
const statusOf = (text: string): number => Number(text.slice('SIP/2.0 '.length).slice(0, 3));
/** A compact answer's header has another name. */
const named = (text: string, name: string, short: string): string => headerIn(text, name) || headerIn(text, short);

/** Without our tag and leading zeros. */
const plain = (value: string): string => value.replace(/;tag=[\w-]{10,12}$|^0+(?=\d)/g, '');

async function openBridge(): Promise<number> {
  const gateway = startCalls({ SIP_PORT: '5060' });
  const { settings, log, metrics } = gateway.context;
  const agent = new SipAgent({ settings, registry: gateway.registry, clock: systemClock, log, metrics });
  const address = await agent.listen('127.0.0.1', await freeSipPort());
  closing.push(() => agent.close());
  return Number(address.split(':')[1]);
}

describe('the README of RFC 4475', () => {
  it('has the 49 messages', () => {
    expect(MESSAGES.map(({ name }) => name).sort()).toEqual(tortureFiles());
    expect(MESSAGES).toHaveLength(49);
  });
});

describe('a message of RFC 4475', () => {
  let shared: SipLine;
  beforeAll(() => {
    shared = new SipLine();
  });
  afterAll(() => shared.close());

  /** One line for all, but for calls, whose 200 is repeated by a clock of its own. */
  function lineFor(text: string, status: number | null): SipLine {
    if (status === 200 && text.startsWith('INVITE')) {
      const line = new SipLine();
      closing.push(() => line.close());
      return line;
    }
    shared.gateway.clock.advance(60_000);
    shared.take();
    shared.dropped.length = 0;
    shared.refused.length = 0;
    return shared;
  }

  it.each(MESSAGES)('$name is answered $status', async ({ text, status, dropped }) => {
    const line = lineFor(text, status);
    await line.receive(text);
    const answers = line.take();
    expect(answers.map(statusOf).filter((code) => code >= 200)).toEqual(status === null ? [] : [status]);
    expect(line.dropped).toEqual(status === null ? [dropped] : []);
    expect(line.refused).toEqual(status === null || status === 200 ? [] : [status]);
    for (const answer of answers) {
      if (status !== 200) expect(answer.length).toBeLessThanOrEqual(text.length);
      expect(/^SIP\/2\.0 \d{3} (.*)/.exec(answer)?.[1]).toMatch(REASON_PHRASE);
      expect(named(answer, 'Via', 'v')).toContain(`received=${PEER.address}`);
    }
    expect(line.sent.every(({ host }) => host === PEER.address)).toBe(true);
  });

  it('is answered with what it said itself, so that its sender knows it', async () => {
    const line = new SipLine();
    closing.push(() => line.close());
    for (const { name, text } of MESSAGES.filter(({ status }) => status !== null)) {
      line.gateway.clock.advance(10_000);
      await line.receive(text, OVER_TCP);
      const answer = line.take().at(-1) ?? '';
      const [head = ''] = text.replace(/\r\n[ \t]+/g, ' ').split('\r\n\r\n');
      const asked = (names: string): string =>
        new RegExp(`^(?:${names})[ \t]*:[ \t]*(.*?)[ \t]*$`, 'im').exec(head)?.[1] ?? '';
      const said = ['Call-ID', 'From', 'To', 'CSeq'].map((header) => plain(headerIn(answer, header)));
      expect(said, name).toEqual([asked('call-id|i'), asked('from|f'), asked('to|t'), asked('cseq')].map(plain));
      expect(answer.match(/^Via: /gm), name).toHaveLength([...head.matchAll(/SIP *\/ *\d\.\d *\//g)].length);
    }
  });

  it('says which methods there are where it is of another one, and what it demands in vain', async () => {
    const line = new SipLine();
    closing.push(() => line.close());
    for (const name of ['intmeth', 'esc02', 'bext01']) await line.receive(textOf(name), OVER_TCP);
    const [method = '', escaped = '', demand = ''] = line.take();
    expect(headerIn(method, 'Allow')).toContain('INVITE');
    expect(headerIn(escaped, 'Allow')).toContain('INVITE');
    expect(headerIn(demand, 'Unsupported')).toBe('nobodyhasthis, nobodyhasthiseither');
  });

  it('becomes a call where it is an INVITE that is right, of RFC 2543 too, whose ACK has the branch of its INVITE', async () => {
    const line = new SipLine();
    closing.push(() => line.close());
    for (const name of ['esc01', 'baddate', 'longreq']) {
      const invite = textOf(name);
      await line.receive(invite);
      const to = headerIn(line.take().at(-1) ?? '', 'To');
      const ack = invite
        .replace(/^INVITE/, 'ACK')
        .replace(/^(CSeq: \d+) INVITE/m, '$1 ACK')
        .replace(/^To:.*$/m, `To: ${to}`);
      await line.receive(ack);
    }
    expect(
      line.gateway.registry
        .list()
        .map(({ from }) => from?.slice(0, 12))
        .sort(),
    ).toEqual(['I have space', 'tester', 'veryverylong']);
    expect(line.gateway.registry.liveCount).toBe(3);
  });
});

describe('the messages of RFC 4475 over real sockets', () => {
  it('are answered over UDP', async () => {
    const port = await openBridge();
    const socket = createSocket('udp4');
    closing.push(() => socket.close());
    /** The status of the final answer, by CSeq and topmost Via. */
    const finals = new Map<string, number>();
    const keyOf = (text: string): string => `${named(text, 'CSeq', 'CSeq')} ${named(text, 'Call-ID', 'i')}`;
    socket.on('message', (bytes) => {
      const text = bytes.toString('latin1');
      if (statusOf(text) >= 200) finals.set(keyOf(text), statusOf(text));
    });
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const before = await metricValue('trunkline_sip_dropped_total', { reason: 'stray' });
    for (const { text } of MESSAGES) socket.send(Buffer.from(withRport(text), 'latin1'), port, '127.0.0.1');
    const expected = MESSAGES.flatMap(({ status }) => (status === null ? [] : [status]));
    await eventually(() => expect(finals.size).toBe(expected.length));
    expect([...finals.values()].sort()).toEqual(expected.sort());
    await eventually(async () =>
      expect(await metricValue('trunkline_sip_dropped_total', { reason: 'stray' })).toBe(before + 3),
    );
    expect(await metricValue('trunkline_sip_refused_total', { status: '505' })).toBeGreaterThan(0);
  });

  it('are answered over TCP, and the connection goes on unless nobody can tell where the next message begins', async () => {
    const port = await openBridge();
    for (const { name, text, tcpStatuses, closed } of MESSAGES) {
      const { socket, heard, isClosed } = await openTcp(port);
      // The sign of life comes back when what was before it has been read.
      socket.write(Buffer.from(`${text}${name === 'clerr' ? '' : '\r\n\r\n'}`, 'latin1'));
      const finals = (): number[] =>
        [...heard().matchAll(/^SIP\/2\.0 ([2-6]\d\d)/gm)].map(([, status]) => Number(status));
      await eventually(() => expect(finals(), name).toEqual(tcpStatuses));
      if (closed) await eventually(() => expect(isClosed(), name).toBe(true));
      else if (name !== 'clerr') await eventually(() => expect(heard(), name).toMatch(/^\r\n/m));
      expect(isClosed(), name).toBe(closed);
      socket.destroy();
    }
  });
});

async function openTcp(port: number): Promise<{ socket: Socket; heard: () => string; isClosed: () => boolean }> {
  const socket = connect(port, '127.0.0.1');
  closing.push(() => socket.destroy());
  let text = '';
  let closed = false;
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.on('end', () => {
    closed = true;
  });
  await once(socket, 'connect');
  return { socket, heard: () => text, isClosed: () => closed };
}

describe('a message that is too large', () => {
  it.each([
    ['bytes', request('OPTIONS', { headers: [`X: ${'x'.repeat(33_000)}`] })],
    ['headers', request('OPTIONS', { headers: Array.from({ length: 140 }, () => 'X: y') })],
  ])('by its %s is answered 513', async (_what, text) => {
    const line = new SipLine();
    closing.push(() => line.close());
    await line.receive(text);
    expect(line.lines()).toEqual([
      expect.stringMatching(/^SIP\/2\.0 513 Message Too Large: got \d+ (?:bytes|headers)/),
    ]);
  });

  it('is answered 513 over TCP, and the connection is closed', async () => {
    const port = await openBridge();
    const { socket, heard, isClosed } = await openTcp(port);
    socket.write(request('OPTIONS', { headers: [`X: ${'x'.repeat(33_000)}`] }));
    await eventually(() => expect(isClosed()).toBe(true));
    expect(heard()).toMatch(/^SIP\/2\.0 513 /);
  });
});
