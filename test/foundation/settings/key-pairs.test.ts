import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { parseKeyPairs } from '../../../src/foundation/settings/key-pairs.ts';

describe('name=value pairs', () => {
  it.each([
    ['', {}],
    ['a=1', { a: '1' }],
    [' a = 1 , service.name=my%20bridge, ', { a: '1', 'service.name': 'my bridge' }],
    ['authorization=Basic dXNlcjpwYXNz==', { authorization: 'Basic dXNlcjpwYXNz==' }],
    ['a=', { a: '' }],
    ['a=1,a=2', { a: '2' }],
  ])('%j are read', (text, pairs) => {
    expect(parseKeyPairs(text)).toEqual(pairs);
  });

  it.each(['a', '=1', 'a b=1', 'a=%zz', 'a=1%0d%0ab=2'])('%j are none', (text) => {
    expect(parseKeyPairs(text)).toBeNull();
  });

  it('that cannot be read are told of at the start, without the secret in them', () => {
    const read = () => readSettings({ OTEL_EXPORTER_OTLP_HEADERS: 'sesame' });
    expect(read).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS: .+ expected pairs such as name=value/);
    expect(read).not.toThrow(/sesame/);
  });
});
