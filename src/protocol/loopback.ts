const OCTET = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const LOOPBACK_V4 = new RegExp(`^127(\\.${OCTET}){3}$`);

/** Whether only this machine reaches the host of an address: localhost, ::1 (in brackets or not), or one of 127.0.0.0/8 (RFC 6890 §2.2.2). */
export function isLoopback(host: string): boolean {
  return /^(localhost|::1|\[::1\])$/i.test(host) || LOOPBACK_V4.test(host);
}
