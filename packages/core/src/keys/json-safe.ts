declare const problem: unique symbol

/** Replaces a type that JSON cannot hold: no value fits it, and its name gives the reason. */
export interface NotJson<Problem extends string> {
  readonly [problem]: Problem
}

/**
 * Well-known objects, for which a reason of their own helps more than that of their first method.
 */
type NotJsonObject<T> = T extends { toISOString(): string }
  ? NotJson<'a date comes back as a string: use toISOString() or getTime()'>
  : T extends ReadonlyMap<unknown, unknown>
    ? NotJson<'a Map is not JSON: use a plain object'>
    : T extends ReadonlySet<unknown>
      ? NotJson<'a Set is not JSON: use an array'>
      : T extends ArrayBuffer | ArrayBufferView
        ? NotJson<'binary data is not JSON: use base64'>
        : T extends PromiseLike<unknown>
          ? NotJson<'a promise is not JSON: await it'>
          : never

type JsonSafeMember<T, Name extends keyof T> = Name extends symbol
  ? NotJson<'a member named by a symbol is not JSON'>
  : object extends Pick<T, Name>
    ? JsonSafe<Exclude<T[Name], undefined>> | Extract<Required<Pick<T, Name>>[Name], undefined>
    : JsonSafe<T[Name]>

/** Any JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue }

/**
 * `T` itself, if its values survive JSON; otherwise a type that no value fits, so that the compiler
 * rejects the argument and names the problem.
 *
 * Interfaces work, unlike with an index signature, and so do optional members. A value of one may be
 * absent but not `undefined`, also where its type allows that, as with `optional()` of validation
 * libraries under `exactOptionalPropertyTypes`. Problems that only the value shows, such as this one,
 * `NaN` or a class without methods, are left to the check at run time.
 */
export type JsonSafe<T> = unknown extends T
  ? T
  : // Also ends the walk through types that contain themselves, as JSON's own does.
    T extends JsonValue
    ? T
    : undefined extends T
      ? NotJson<'undefined is not JSON: use null, or leave the member out'>
      : T extends bigint
        ? NotJson<'a bigint is not JSON: use a string'>
        : T extends symbol
          ? NotJson<'a symbol is not JSON'>
          : T extends (...args: never) => unknown
            ? NotJson<'a function is not JSON'>
            : [NotJsonObject<T>] extends [never]
              ? { [Name in keyof T]: JsonSafeMember<T, Name> }
              : NotJsonObject<T>
