import { describe, expect, test } from '@jest/globals';
import { oldestOf } from '../src/oldest.ts';

describe('the oldest entry of a map', () => {
  test('is the one that was set first', () => {
    const map = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    const oldest = oldestOf(map);
    expect(oldest()).toEqual(['a', 1]);
    expect(oldest()).toEqual(['a', 1]);
  });

  test('is the next one when it is deleted, also by others and before it was asked for', () => {
    const map = new Map([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
    const oldest = oldestOf(map);
    oldest();
    map.delete('a');
    map.delete('b');
    expect(oldest()).toEqual(['c', 3]);
  });

  test('is another one when it is deleted and set anew', () => {
    const map = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    const oldest = oldestOf(map);
    oldest();
    map.delete('a');
    map.set('a', 3);
    expect(oldest()).toEqual(['b', 2]);
    map.delete('b');
    expect(oldest()).toEqual(['a', 3]);
  });

  test('is found in a map that was empty in between', () => {
    const map = new Map<string, number>();
    const oldest = oldestOf(map);
    expect(oldest()).toBeUndefined();
    map.set('a', 1);
    expect(oldest()).toEqual(['a', 1]);
    map.delete('a');
    expect(oldest()).toBeUndefined();
    map.set('b', 2);
    expect(oldest()).toEqual(['b', 2]);
  });

  test('comes in the order of age when one goes for each that comes', () => {
    const map = new Map<number, number>();
    const oldest = oldestOf(map);
    const gone: number[] = [];
    for (let i = 0; i < 5000; i++) {
      map.set(i, i);
      if (map.size <= 100) continue;
      const [first] = oldest() ?? [];
      gone.push(Number(first));
      map.delete(Number(first));
    }
    expect(gone).toEqual(Array.from({ length: 4900 }, (_, i) => i));
  });
});
