/**
 * Makes a UUID v7, as Factuarea gives to events: its first 48 bits are the time, so ids made later sort later.
 *
 * @param ms The moment, in Unix milliseconds. Default: now.
 */
export function uuidV7(ms: number = Date.now()): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
  const time = Math.floor(ms).toString(16).padStart(12, '0');
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  const rest = Array.from(bytes.subarray(6), hex).join('');
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}
