import { Grammar, type URI } from 'sip.js/lib/core/index.js';
import { describe, expect, it } from 'vitest';
import { usableUri } from '../../../src/carriers/sip/redirection.ts';
import type { SipTransport } from '../../../src/carriers/sip/wire/via.ts';

function usable(text: string, transport: SipTransport): string | undefined {
  const mayCall = (host: string): boolean => host === 'pbx.example.com' || host === '2001:db8::1';
  return usableUri(Grammar.URIParse(text) as URI, { transport, mayCall })?.toString();
}

describe('a URI that somebody else wants called', () => {
  it('stays on the transport of the call, with its port', () => {
    expect(usable('sip:1@pbx.example.com', 'UDP')).toBe('sip:1@pbx.example.com');
    expect(usable('sip:1@pbx.example.com', 'TCP')).toBe('sip:1@pbx.example.com');
    expect(usable('sip:1@pbx.example.com', 'TLS')).toBe('sip:1@pbx.example.com;transport=tls');
    expect(usable('sips:1@pbx.example.com', 'TLS')).toBe('sips:1@pbx.example.com');
    expect(usable('sip:1@pbx.example.com;transport=udp', 'TLS')).toBeUndefined();
    expect(usable('sips:1@pbx.example.com', 'UDP')).toBeUndefined();
  });

  it('leads to hosts that may be called, and brings no headers', () => {
    expect(usable('sip:1@[2001:db8::1]:5070?Subject=x', 'UDP')).toBe('sip:1@[2001:db8::1]:5070');
    expect(usable('sip:1@PBX.example.com', 'UDP')?.toLowerCase()).toBe('sip:1@pbx.example.com');
    expect(usable('sip:1@other.example.com', 'UDP')).toBeUndefined();
    expect(usable('sip:1@pbx.example.com;method=BYE', 'UDP')).toBeUndefined();
  });
});
