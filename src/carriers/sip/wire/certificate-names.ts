/** SIP domains in certificates (RFC 5922 §7.1). */

/**
 * Whether the alternative names of a certificate, as Node writes them (`DNS:pbx.example.com, URI:sip:example.com`),
 * have the SIP domain `domain`. A URI with a user is somebody's, and no domain.
 */
export function namesSipDomain(alternativeNames: string, domain: string): boolean {
  // Node quotes names with commas in them, which could otherwise pretend to be several.
  const plain = alternativeNames.replace(/"(?:[^"\\]|\\.)*"?/g, '""');
  return plain.split(', ').some((name) => name.toLowerCase() === `uri:sip:${domain.toLowerCase()}`);
}
