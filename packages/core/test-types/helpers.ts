/** True where both are the very same type, `any` and `unknown` told apart. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

export type IsAny<T> = 0 extends 1 & T ? true : false;

/** Their own declarations are the platform's affair. */
type BuiltIn = AbortSignal | Date | Uint8Array | Request | Response | Error;

/** Where `any` hides in a type: itself, a property, a parameter, a result, an item. Down to `Depth` levels. */
export type HasAny<T, Depth extends readonly unknown[] = [1, 1, 1, 1, 1]> =
  IsAny<T> extends true
    ? true
    : Depth extends readonly [unknown, ...infer Rest]
      ? T extends BuiltIn
        ? false
        : T extends Promise<infer Value>
          ? HasAny<Value, Rest>
          : T extends readonly (infer Item)[]
            ? HasAny<Item, Rest>
            : T extends (...args: infer Args) => infer Result
              ? Or<HasAny<Args, Rest>, HasAny<Result, Rest>>
              : T extends object
                ? true extends { [Key in keyof T]-?: HasAny<T[Key], Rest> }[keyof T]
                  ? true
                  : false
                : false
      : false;

type Or<A, B> = [A, B] extends [false, false] ? false : true;

/** Compiles only for `true`. */
export function expectType<_T extends true>(): void {}
