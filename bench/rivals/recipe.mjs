import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a careful user writes by hand to check a delivery: the event, or undefined. */
export function verifyByHand(bytes, header, secret) {
  const pairs = String(header)
    .split(',')
    .map((pair) => pair.split('='));
  const t = pairs.find(([name]) => name === 't')?.[1];
  if (!t || Math.abs(Date.now() / 1000 - Number(t)) > 300) return undefined;
  const expected = createHmac('sha256', secret).update(`${t}.`).update(bytes).digest();
  const match = pairs.some(([name, value]) => {
    const given = Buffer.from(value ?? '', 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return match ? JSON.parse(bytes.toString()) : undefined;
}
