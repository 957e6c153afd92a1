/**
 * One call from this browser: the microphone, the audio thread, and the WebSocket between it and the gateway, on which
 * it speaks as Twilio does (https://www.twilio.com/docs/voice/media-streams/websocket-messages). It ends once, and lets
 * go of all it holds.
 */
import { postJson } from './gateway.js';
import { FRAME_MS, LINE_RATE_HZ } from './phone-audio.js';

/**
 * @typedef {import('./phone-worklet.js').ToWorklet} ToWorklet @typedef {import('./phone-worklet.js').FromWorklet}
 * FromWorklet
 */

/**
 * @typedef {object} LineListener
 * @property {() => void} onConnecting the microphone is there
 * @property {(callId: string) => void} onLive the server hears us
 * @property {(rms: number) => void} onLevel how loud the microphone is, 0 to 1, for each frame
 * @property {(speaking: boolean) => void} onSpeaking whether the server is heard
 * @property {(words: string) => void} onEnded the call is over, and not by `hangUp`
 */

/** When so much waits to be sent, frames are left out: the server repairs gaps, but a growing delay nobody can. */
const SEND_WAIT_MAX_BYTES = 65_536;

const MICROPHONE = {
  audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
};

const MICROPHONE_PROBLEMS = new Map([
  ['NotAllowedError', 'The microphone was refused. Allow it for this page in the browser’s settings, then call again.'],
  ['NotFoundError', 'No microphone was found. Connect one, then call again.'],
  ['NotReadableError', 'The microphone could not be opened: another program may be using it.'],
]);

/** The call was given up before it began. */
export class GivenUp extends Error {}

/** @returns {Promise<MediaStream>} */
async function openMicrophone() {
  if (!isSecureContext) {
    throw new Error(
      'Browsers give the microphone only to pages that came over https or from localhost; this one came from ' +
        `${location.origin}.`,
    );
  }
  try {
    return await navigator.mediaDevices.getUserMedia(MICROPHONE);
  } catch (error) {
    const { name = '', message = '' } = error instanceof Error ? error : {};
    throw new Error(MICROPHONE_PROBLEMS.get(name) ?? `The microphone could not be opened: ${message || name}.`);
  }
}

/** @param {Uint8Array} bytes */
function toBase64(bytes) {
  return btoa(String.fromCharCode(...bytes));
}

/** @param {string} text */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Why the server, or the network, closed the socket. @param {CloseEvent} event @param {boolean} wasOpen */
function explainClose({ code, reason }, wasOpen) {
  if (code === 1000) return 'The call is over: Trunkline hung up.';
  if (code === 1012) return 'The call is over: the server is shutting down.';
  if (reason !== '') return `The call is over: ${reason}.`;
  return wasOpen ? 'The call is over: the connection to the server was lost.' : 'The server did not accept the call.';
}

export class PhoneLine {
  /** @type {LineListener} */
  #listener;
  #over = false;
  #callId = '';
  #streamSid = `web-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  #sequence = 0;
  #frames = 0;
  /** @type {MediaStream | null} */
  #microphone = null;
  /** @type {AudioContext | null} */
  #audio = null;
  /** @type {AudioWorkletNode | null} */
  #worklet = null;
  /** @type {WebSocket | null} */
  #socket = null;

  /** @param {LineListener} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  /**
   * Asks for the microphone, then calls. Throws GivenUp after {@link hangUp}, KeyWanted or NoAnswer, or an Error with
   * words for people.
   * @param {string} [flow] the flow that talks to whoever calls; empty = as the server is set up
   * @returns {Promise<void>}
   */
  async dial(flow = '') {
    try {
      // Made while the browser still knows of the click that led here: later it might keep it silent.
      this.#audio = typeof AudioContext === 'undefined' ? null : new AudioContext({ latencyHint: 'interactive' });
      await this.#takeMicrophone();
      this.#listener.onConnecting();
      await this.#openWorklet();
      const { callId, token } = await postJson(
        flow === '' ? '/v1/phone' : `/v1/phone?flow=${encodeURIComponent(flow)}`,
        {},
      );
      this.#assertWanted();
      this.#callId = callId;
      this.#connect(token);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Ends the call, however far it is. */
  hangUp() {
    this.#send('stop', { stop: { callSid: this.#callId } });
    this.#release();
  }

  /** A key of the keypad: 0 to 9, `*` or `#`. @param {string} digit */
  press(digit) {
    this.#send('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  /** While muted the server hears silence. @param {boolean} muted */
  mute(muted) {
    for (const track of this.#microphone?.getAudioTracks() ?? []) track.enabled = !muted;
  }

  async #takeMicrophone() {
    const microphone = await openMicrophone();
    this.#microphone = microphone;
    if (this.#over) this.#release();
    this.#assertWanted();
    for (const track of microphone.getAudioTracks()) {
      track.addEventListener('ended', () => this.#end('The call is over: the microphone was disconnected.'));
    }
  }

  async #openWorklet() {
    const audio = this.#audio;
    const microphone = this.#microphone;
    if (audio === null || microphone === null || !('audioWorklet' in audio))
      throw new Error('This browser has no AudioWorklet: a newer one is needed.');
    await audio.audioWorklet.addModule('/phone-worklet.js');
    this.#assertWanted();
    this.#worklet = new AudioWorkletNode(audio, 'phone', {
      numberOfInputs: 1,
      numberOfOutputs: 1,
      outputChannelCount: [1],
    });
    this.#worklet.port.onmessage = ({ data }) => this.#hearWorklet(data);
    audio.createMediaStreamSource(microphone).connect(this.#worklet).connect(audio.destination);
    // A phone call or another page may take the sound away for a while.
    audio.addEventListener('statechange', () => void this.#wakeAudio());
    void this.#wakeAudio();
  }

  async #wakeAudio() {
    if (!this.#over && this.#audio?.state !== 'running') await this.#audio?.resume().catch(() => undefined);
  }

  /** @param {string} token */
  #connect(token) {
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/twilio/media`);
    let wasOpen = false;
    this.#socket = socket;
    socket.addEventListener('open', () => {
      wasOpen = true;
      this.#begin(token);
    });
    socket.addEventListener('message', ({ data }) => this.#hearBridge(JSON.parse(data)));
    socket.addEventListener('close', (event) => this.#end(explainClose(event, wasOpen)));
  }

  /** @param {string} token */
  #begin(token) {
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: LINE_RATE_HZ, channels: 1 };
    this.#socket?.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
    this.#send('start', {
      start: {
        streamSid: this.#streamSid,
        callSid: this.#callId,
        tracks: ['inbound'],
        customParameters: { token },
        mediaFormat,
      },
    });
    this.#listener.onLive(this.#callId);
  }

  /** @param {{ event: string, media?: { payload: string }, mark?: { name: string } }} message of the gateway */
  #hearBridge({ event, media, mark }) {
    if (event === 'media' && media !== undefined) {
      const bytes = fromBase64(media.payload);
      this.#tell({ media: bytes }, [bytes.buffer]);
    }
    if (event === 'mark' && mark !== undefined) this.#tell({ mark: mark.name });
    if (event === 'clear') this.#tell({ clear: true });
  }

  /** @param {FromWorklet} message */
  #hearWorklet(message) {
    if (this.#over) return;
    if ('frame' in message) {
      this.#sendFrame(message.frame);
      this.#listener.onLevel(message.level);
    } else if ('mark' in message) this.#send('mark', { mark: { name: message.mark } });
    else if ('playing' in message) this.#listener.onSpeaking(message.playing);
    else this.#end('The call is over: the server sent more sound at once than can be kept.');
  }

  /** The stream's time goes on whether or not its frames can be sent. @param {Uint8Array} frame */
  #sendFrame(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const timestamp = String(this.#frames * FRAME_MS);
    this.#frames += 1;
    if (this.#socket.bufferedAmount > SEND_WAIT_MAX_BYTES) return;
    this.#send('media', {
      media: { track: 'inbound', chunk: String(this.#frames), timestamp, payload: toBase64(frame) },
    });
  }

  /** @param {string} event @param {object} body */
  #send(event, body) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#sequence += 1;
    this.#socket.send(
      JSON.stringify({ event, sequenceNumber: String(this.#sequence), streamSid: this.#streamSid, ...body }),
    );
  }

  /** @param {ToWorklet} message @param {Transferable[]} [transfer] */
  #tell(message, transfer = []) {
    this.#worklet?.port.postMessage(message, transfer);
  }

  #assertWanted() {
    if (this.#over) throw new GivenUp();
  }

  /** @param {string} words */
  #end(words) {
    if (this.#over) return;
    this.#release();
    this.#listener.onEnded(words);
  }

  #release() {
    this.#over = true;
    this.#tell({ end: true });
    for (const track of this.#microphone?.getTracks() ?? []) track.stop();
    if (this.#audio?.state !== 'closed') void this.#audio?.close();
    this.#socket?.close(1000);
  }
}
