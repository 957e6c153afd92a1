import { promisify } from 'node:util';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RemoteError } from '../../../src/engine-client/remote/remote-recogniser.ts';
import { TritonRecogniser } from '../../../src/engine-client/remote/triton-recogniser.ts';
import { KSERVE, kserveText } from '../../../src/protocols/remote/kserve.ts';
import { eventually } from '../../helpers/eventually.ts';

type Unary = (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => void;

let server: Server;
let port: number;
let recogniser: TritonRecogniser;
/** What was asked, by the end of the method's name. */
let asked: string[];
let onInfer: Unary;
let inputs: readonly string[];
/** Metadata is not answered until this is resolved. */
let held: Promise<void>;

const text = (writer: BinaryWriter, field: number, value: string): BinaryWriter =>
  writer.tag(field, WireType.LengthDelimited).string(value);

function metadata(): Buffer {
  const writer = text(new BinaryWriter(), 1, 'whisper');
  for (const name of inputs) text(text(writer.tag(4, WireType.LengthDelimited).fork(), 1, name), 2, 'FP32').join();
  text(writer.tag(5, WireType.LengthDelimited).fork(), 1, 'TRANSCRIPTS').join();
  return Buffer.from(writer.finish());
}

function transcript(said: string): Buffer {
  const writer = text(new BinaryWriter(), 1, 'whisper');
  text(writer.tag(5, WireType.LengthDelimited).fork(), 1, 'TRANSCRIPTS').join();
  return Buffer.from(writer.tag(6, WireType.LengthDelimited).bytes(kserveText(said)).finish());
}

const methodOf = (path: string) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: (bytes: Buffer) => bytes,
  requestDeserialize: (bytes: Buffer) => bytes,
  responseSerialize: (bytes: Buffer) => bytes,
  responseDeserialize: (bytes: Buffer) => bytes,
});

function ask(signal = new AbortController().signal, samples = 8001): Promise<string> {
  return recogniser.recognise({ samples: new Int16Array(samples), language: 'de-AT', urgency: 'final', signal }).then(
    ({ text: said }) => said,
    (error: Error) => (error instanceof RemoteError ? `${error.failure}: ${error.message}` : error.name),
  );
}

beforeEach(async () => {
  asked = [];
  held = Promise.resolve();
  inputs = ['WAV', 'WAV_LENS', 'TEXT_PREFIX'];
  onInfer = (_call, answer) => answer(null, transcript('<|de|> Gehört.'));
  server = new Server();
  server.addService(
    { metadata: methodOf(KSERVE.metadata), infer: methodOf(KSERVE.infer) },
    {
      metadata: ((_call, answer) => {
        asked.push('metadata');
        void held.then(() => answer(null, metadata()));
      }) satisfies Unary,
      infer: ((call, answer) => {
        asked.push('infer');
        onInfer(call, answer);
      }) satisfies Unary,
    },
  );
  port = await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
  recogniser = new TritonRecogniser(new URL(`triton://127.0.0.1:${port}/whisper`), { apiKey: 'k', model: '' });
});

afterEach(() => {
  recogniser.close();
  server.forceShutdown();
});

describe('a Triton server', () => {
  it('is asked once what its model takes, and gets that, padded to half seconds', async () => {
    let request: Buffer = Buffer.alloc(0);
    let key: unknown;
    onInfer = (call, answer) => {
      request = call.request;
      [key] = call.metadata.get('authorization');
      answer(null, transcript('<|de|> Gehört.'));
    };
    expect([await ask(), await ask()]).toEqual(['Gehört.', 'Gehört.']);
    expect(asked).toEqual(['metadata', 'infer', 'infer']);
    expect(request.includes('<|startoftranscript|><|de|><|transcribe|><|notimestamps|>')).toBe(true);
    expect(request.length).toBeGreaterThan(64_000);
    expect(request.length).toBeLessThan(64_300);
    expect(key).toBe('Bearer k');
  });

  it('gets the samples alone where the model takes nothing else', async () => {
    inputs = ['WAV'];
    let request: Buffer = Buffer.alloc(0);
    onInfer = (call, answer) => {
      request = call.request;
      answer(null, transcript('a'));
    };
    expect(await ask()).toBe('a');
    expect(request.includes('TEXT_PREFIX') || request.includes('WAV_LENS')).toBe(false);
  });

  it.each([
    ['RESOURCE_EXHAUSTED', 'busy'],
    ['INVALID_ARGUMENT', 'refused'],
    ['NOT_FOUND', 'refused'],
    ['UNAUTHENTICATED', 'refused'],
    ['INTERNAL', 'failed'],
    ['CANCELLED', 'failed'],
    ['UNAVAILABLE', 'failed'],
  ] as const)('that answers %s is %s', async (code, failure) => {
    onInfer = (_call, answer) => answer({ code: status[code], details: 'my secret' });
    expect(await ask()).toBe(`${failure}: it answered ${code}`);
  });

  it('with another kind of model is refused', async () => {
    inputs = ['IMAGE'];
    expect(await ask()).toBe('refused: its model has no input WAV (FP32) or no output TRANSCRIPTS');
  });

  it('that answers with nothing, or too much, is of no use', async () => {
    onInfer = (_call, answer) => answer(null, Buffer.alloc(0));
    expect(await ask()).toBe('unusable: it answered without TRANSCRIPTS');
    onInfer = (_call, answer) => answer(null, transcript('a'.repeat(2000)));
    expect(await ask()).toBe('unusable: what it answered is longer than anybody could have said');
    onInfer = (_call, answer) => answer(null, Buffer.alloc(1_000_000));
    expect(await ask()).toBe('unusable: its answer has more than 262144 bytes');
  });

  it('is told to stop when nobody waits any more', async () => {
    let isCancelled = false;
    onInfer = (call) =>
      call.on('cancelled', () => {
        isCancelled = true;
      });
    const asking = new AbortController();
    const waiting = ask(asking.signal);
    await eventually(() => expect(asked).toContain('infer'));
    asking.abort();
    expect(await waiting).toBe('Error');
    await eventually(() => expect(isCancelled).toBe(true));
  });

  it('is asked on for those who wait while others give up', async () => {
    let release = (): void => undefined;
    held = new Promise((resolve) => {
      release = resolve;
    });
    const giving = [new AbortController(), new AbortController()];
    const [first, second, third] = [...giving.map(({ signal }) => ask(signal)), ask()];
    for (const [n, asking] of giving.entries()) {
      await eventually(() => expect(asked).toHaveLength(n + 1));
      asking.abort();
    }
    await eventually(() => expect(asked).toHaveLength(3));
    release();
    expect(await Promise.all([first, second, third])).toEqual(['Error', 'Error', 'Gehört.']);
  });

  it('is asked anew what its model takes when it refuses what the model took before', async () => {
    expect(await ask()).toBe('Gehört.');
    onInfer = (_call, answer) => answer({ code: status.INVALID_ARGUMENT });
    expect(await ask()).toContain('refused');
    onInfer = (_call, answer) => answer(null, transcript('Neu.'));
    expect(await ask()).toBe('Neu.');
    expect(asked.filter((what) => what === 'metadata')).toHaveLength(2);
  });

  it.each([
    ['/a%2Fb%20%C3%BC', 'a/b ü'],
    ['/100%', '100%'],
  ])('is asked for the model of the path %s', async (path, model) => {
    recogniser.close();
    recogniser = new TritonRecogniser(new URL(`triton://127.0.0.1:${port}${path}`), { apiKey: '', model: 'other' });
    let request: Buffer = Buffer.alloc(0);
    onInfer = (call, answer) => {
      request = call.request;
      answer(null, transcript('a'));
    };
    expect(await ask()).toBe('a');
    expect(request.includes(model)).toBe(true);
  });

  it('that hangs is left at the end', async () => {
    onInfer = () => undefined;
    const waiting = ask();
    await eventually(() => expect(asked).toContain('infer'));
    recogniser.close();
    expect(await waiting).toBe('failed: it answered CANCELLED');
  });

  it('that is not there has failed', async () => {
    recogniser = new TritonRecogniser(new URL('triton://127.0.0.1:1/whisper'), { apiKey: '', model: '' });
    expect(await ask()).toBe('failed: it answered UNAVAILABLE');
  });
});
