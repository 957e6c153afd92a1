/**
 * A stranger on the network of a SIP phone: it sprays RTP at every port, forges whose INVITE it is, and floods. None of
 * it may reach a call.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeG711 } from '../../src/audio/g711.ts';
import { SipPhone } from '../../src/carriers/sip/simulator/phone.ts';
import { writeRtp } from '../../src/carriers/sip/wire/rtp/packet.ts';
import { writeReport } from '../../src/carriers/sip/wire/rtp/rtcp.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import { type GatewayProcess, metricValue, startGateway } from '../helpers/gateway.ts';
import { freePort, freeUdpPorts } from '../helpers/ports.ts';
import { LINE_RATE_HZ, tones } from '../helpers/signals.ts';

const GATEWAY = '127.0.0.1';
const STRANGER = '127.0.0.2';
const VICTIM = '127.0.0.3';
const PACKET_SAMPLES = 160;
const PASS_EVERY_MS = 10;
/** The pretend recogniser's words of what the phone and the stranger send. */
const PHONE_HZ = 600;
const PHONE_WORD = 'bravo';
const STRANGER_HZ = 1000;
const FLOOD_MESSAGES_A_PASS = 40;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Attacked {
  readonly gateway: GatewayProcess;
  readonly feed: FeedReader;
  readonly sipPort: number;
  readonly ports: { readonly first: number; readonly last: number };
}

async function startAttacked(): Promise<Attacked> {
  const [sipPort, ports] = [await freePort(), await freeUdpPorts(40)];
  const models = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1' };
  const sip = { SIP_PORT: String(sipPort), RTP_PORTS: `${ports.first}-${ports.last}`, BARGE_IN: 'off' };
  const gateway = await startGateway({ ...models, ...sip });
  closers.push(() => gateway.stop('SIGKILL'));
  const feed = await readFeed(gateway.url);
  closers.push(() => feed.close());
  return { gateway, feed, sipPort, ports };
}

async function openSocket(address: string): Promise<{ socket: Socket; received: Buffer[]; port: number }> {
  const socket = createSocket('udp4');
  const received: Buffer[] = [];
  socket.on('message', (datagram) => received.push(datagram));
  socket.on('error', () => undefined);
  socket.bind(0, address);
  await once(socket, 'listening');
  closers.push(() => socket.close());
  return { socket, received, port: socket.address().port };
}

/** Does it again and again until the end of the test. */
function keepOn(action: (pass: number) => void): void {
  let pass = 0;
  const timer = setInterval(() => action(pass++), PASS_EVERY_MS);
  closers.push(() => clearInterval(timer));
}

/**
 * Sends a loud tone to all ports, three packets in a row each time, and reports to those of RTCP; each port has another
 * stream, changed now and then.
 */
function spray(socket: Socket, { first, last }: Attacked['ports']): void {
  const payload = encodeG711(tones(PACKET_SAMPLES / LINE_RATE_HZ, [STRANGER_HZ], 0.5), MULAW_8K);
  keepOn((pass) => {
    for (let port = first; port < last; port += 2) {
      const ssrc = port * 1000 + Math.floor(pass / 50);
      for (let i = 3 * pass; i < 3 * pass + 3; i++) {
        const packet = {
          marker: false,
          payloadType: 0,
          sequence: i & 0xffff,
          timestamp: i * PACKET_SAMPLES,
          ssrc,
          payload,
        };
        socket.send(writeRtp(packet), port, GATEWAY);
      }
      socket.send(
        writeReport({ ssrc, cname: 'stranger', sender: null, reception: null, goodbye: false }),
        port + 1,
        GATEWAY,
      );
    }
  });
}

/** Silent for three seconds, then one of the phone's tone. It sends nothing while it is silent. */
const phoneSound = (): Int16Array => {
  const sound = new Int16Array(LINE_RATE_HZ * 4);
  sound.set(tones(1, [PHONE_HZ], 0.5), LINE_RATE_HZ * 3);
  return sound;
};

async function callFrom(sipPort: number) {
  const phone = await SipPhone.open({ clock: systemClock });
  closers.push(() => phone.close());
  return phone.dial({ uri: `sip:bridge@${GATEWAY}:${sipPort}`, audio: phoneSound(), dtx: true, endless: true });
}

function say(gateway: GatewayProcess, callId: string, text: string): Promise<Response> {
  const body = JSON.stringify({ text });
  return fetch(`${gateway.url}/v1/calls/${callId}/say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

function request(
  method: string,
  { port, callId, media = 9 }: { port: number; callId: string; media?: number },
): string {
  const sdp = [
    'v=0',
    `o=x 1 1 IN IP4 ${VICTIM}`,
    's=-',
    `c=IN IP4 ${VICTIM}`,
    't=0 0',
    `m=audio ${media} RTP/AVP 0`,
    '',
  ].join('\r\n');
  const body = method === 'INVITE' ? sdp : '';
  return [
    `${method} sip:bridge@${GATEWAY} SIP/2.0`,
    `Via: SIP/2.0/UDP ${STRANGER}:${port};branch=z9hG4bK${callId};rport`,
    'Max-Forwards: 70',
    `From: <sip:x@${STRANGER}>;tag=${callId}`,
    `To: <sip:bridge@${GATEWAY}>`,
    `Call-ID: ${callId}`,
    `CSeq: 1 ${method}`,
    `Contact: <sip:x@${STRANGER}:${port}>`,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

describe('a stranger', () => {
  it('that sprays RTP at all ports before and during a call neither hears it nor speaks in it', async () => {
    const { gateway, feed, sipPort, ports } = await startAttacked();
    const stranger = await openSocket(STRANGER);
    spray(stranger.socket, ports);
    const call = await callFrom(sipPort);
    await call.answered;
    await feed.until((event) => event.type === 'call.started');
    expect((await say(gateway, call.callId, 'This is for the caller alone.')).status).toBe(202);
    await feed.until((event) => event.type === 'spoken');
    await feed.until((event) => event.type === 'caption' && event.final);
    call.hangup();
    await feed.until((event) => event.type === 'call.ended');
    expect(call.media?.sound.some((sample) => Math.abs(sample) > 1000)).toBe(true);
    expect(stranger.received).toEqual([]);
    const words = feed.finals(call.callId).flatMap(({ text }) => text.split(' '));
    expect(new Set(words)).toEqual(new Set([PHONE_WORD]));
  });

  it('that writes another address into its INVITE has nothing sent there', async () => {
    const { sipPort } = await startAttacked();
    const [stranger, victim] = [await openSocket(STRANGER), await openSocket(VICTIM)];
    stranger.socket.send(
      request('INVITE', { port: stranger.port, callId: 'reflected', media: victim.port }),
      sipPort,
      GATEWAY,
    );
    const answers = (): number =>
      stranger.received.filter((datagram) => datagram.toString().startsWith('SIP/2.0 200')).length;
    // The answer is repeated after half a second; RTP would have begun with the first.
    await expect.poll(answers).toBeGreaterThanOrEqual(2);
    expect(victim.received).toEqual([]);
  });

  it('that floods does not keep others from calling', async () => {
    const { gateway, feed, sipPort } = await startAttacked();
    const { socket, port } = await openSocket(STRANGER);
    let sent = 0;
    keepOn(() => {
      for (let i = 0; i < FLOOD_MESSAGES_A_PASS; i++, sent++) {
        const method = ['INVITE', 'OPTIONS', 'REGISTER', 'INVITE'][sent % 4] ?? '';
        socket.send(request(method, { port, callId: `flood-${sent}` }), sipPort, GATEWAY);
      }
    });
    await expect.poll(() => sent).toBeGreaterThan(4000);
    const call = await callFrom(sipPort);
    await call.answered;
    await feed.until((event) => event.type === 'caption' && event.final);
    expect(feed.finals(call.callId).map(({ text }) => text.split(' ')[0])).toEqual([PHONE_WORD]);
    const page = await gateway.metrics();
    expect(metricValue(page, 'trunkline_sip_dropped_total{reason="rate"}')).toBeGreaterThan(1000);
    expect(metricValue(page, 'trunkline_sip_dropped_total{reason="unacknowledged"}')).toBeGreaterThan(0);
    call.hangup();
    await feed.until((event) => event.type === 'call.ended' && event.callId === call.callId);
  });
});
