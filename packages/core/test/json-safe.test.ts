import { describe, expectTypeOf, test } from 'vitest'
import type { JsonSafe, JsonValue, NotJson } from '../src/keys/json-safe.ts'

// Nothing here does anything at run time: the compiler is what checks these.

/** As a queue's add takes its item. */
declare const add: <T>(item: JsonSafe<T>) => void

interface Order {
  id: number
  note?: string
  readonly lines: readonly { sku: string; count: number | null }[]
}

declare const tag: unique symbol

interface Tagged {
  [tag]: string
}

interface Tree {
  name: string
  children: Tree[]
}

describe('what JSON can hold is itself', () => {
  test('primitives, literals and brands', () => {
    expectTypeOf<JsonSafe<string>>().toEqualTypeOf<string>()
    expectTypeOf<JsonSafe<number>>().toEqualTypeOf<number>()
    expectTypeOf<JsonSafe<boolean>>().toEqualTypeOf<boolean>()
    expectTypeOf<JsonSafe<null>>().toEqualTypeOf<null>()
    expectTypeOf<JsonSafe<'a' | 'b' | 5 | null>>().toEqualTypeOf<'a' | 'b' | 5 | null>()
    expectTypeOf<JsonSafe<`order/${number}`>>().toEqualTypeOf<`order/${number}`>()
    type Id = string & { readonly brand: unique symbol }
    expectTypeOf<JsonSafe<Id>>().toEqualTypeOf<Id>()
  })

  test('interfaces, with optional and readonly members, arrays and tuples', () => {
    expectTypeOf<JsonSafe<Order>>().toEqualTypeOf<Order>()
    expectTypeOf<JsonSafe<Order[]>>().toEqualTypeOf<Order[]>()
    expectTypeOf<JsonSafe<readonly [string, number?]>>().toEqualTypeOf<readonly [string, number?]>()
    expectTypeOf<JsonSafe<Record<string, number>>>().toEqualTypeOf<Record<string, number>>()
  })

  test('optional members whose types allow undefined, as those of validation libraries', () => {
    interface Inferred {
      id: string
      note?: string | undefined
      deep?: { at?: number | undefined }[] | undefined
    }
    expectTypeOf<JsonSafe<Inferred>>().toEqualTypeOf<Inferred>()
    expectTypeOf<JsonSafe<{ id: string | undefined }>>().not.toEqualTypeOf<{
      id: string | undefined
    }>()
    expectTypeOf<JsonSafe<{ at?: Date | undefined }>>().not.toEqualTypeOf<{
      at?: Date | undefined
    }>()
  })

  test('types that contain themselves', () => {
    expectTypeOf<Tree>().toExtend<JsonSafe<Tree>>()
    type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
    expectTypeOf<Json>().toExtend<JsonSafe<Json>>()
    expectTypeOf<JsonSafe<JsonValue>>().toEqualTypeOf<JsonValue>()
  })

  test('types that say nothing are left to the check at run time', () => {
    expectTypeOf<JsonSafe<unknown>>().toEqualTypeOf<unknown>()
    // biome-ignore lint/suspicious/noExplicitAny: this is about any.
    expectTypeOf<JsonSafe<any>>().toBeAny()
    expectTypeOf<JsonSafe<Record<string, unknown>>>().toEqualTypeOf<Record<string, unknown>>()
    expectTypeOf<JsonSafe<never>>().toEqualTypeOf<never>()
  })
})

describe('what it cannot hold names the problem', () => {
  test('values', () => {
    expectTypeOf<JsonSafe<bigint>>().toEqualTypeOf<NotJson<'a bigint is not JSON: use a string'>>()
    expectTypeOf<JsonSafe<symbol>>().toEqualTypeOf<NotJson<'a symbol is not JSON'>>()
    expectTypeOf<JsonSafe<() => void>>().toEqualTypeOf<NotJson<'a function is not JSON'>>()
    type Undefined = NotJson<'undefined is not JSON: use null, or leave the member out'>
    expectTypeOf<JsonSafe<undefined>>().toEqualTypeOf<Undefined>()
    expectTypeOf<JsonSafe<void>>().toEqualTypeOf<Undefined>()
    expectTypeOf<JsonSafe<string | undefined>>().toEqualTypeOf<string | Undefined>()
    expectTypeOf<JsonSafe<(string | undefined)[]>>().toEqualTypeOf<(string | Undefined)[]>()
  })

  test('objects', () => {
    expectTypeOf<JsonSafe<Date>>().toEqualTypeOf<
      NotJson<'a date comes back as a string: use toISOString() or getTime()'>
    >()
    expectTypeOf<JsonSafe<Map<string, number>>>().toEqualTypeOf<
      NotJson<'a Map is not JSON: use a plain object'>
    >()
    expectTypeOf<JsonSafe<Set<string>>>().toEqualTypeOf<
      NotJson<'a Set is not JSON: use an array'>
    >()
    expectTypeOf<JsonSafe<Uint8Array>>().toEqualTypeOf<
      NotJson<'binary data is not JSON: use base64'>
    >()
    expectTypeOf<JsonSafe<Promise<string>>>().toEqualTypeOf<
      NotJson<'a promise is not JSON: await it'>
    >()
    expectTypeOf<JsonSafe<RegExp>>().not.toEqualTypeOf<RegExp>()
    expectTypeOf<JsonSafe<URL>>().not.toEqualTypeOf<URL>()
  })

  test('members, however deep', () => {
    type Bad = JsonSafe<{ a: { b: Date }[] }>
    expectTypeOf<Bad['a'][number]['b']>().toEqualTypeOf<
      NotJson<'a date comes back as a string: use toISOString() or getTime()'>
    >()
    expectTypeOf<JsonSafe<{ run(): void }>['run']>().toEqualTypeOf<
      NotJson<'a function is not JSON'>
    >()
    expectTypeOf<JsonSafe<Tagged>[typeof tag]>().toEqualTypeOf<
      NotJson<'a member named by a symbol is not JSON'>
    >()
  })
})

describe('as a parameter', () => {
  test('it takes what fits and refuses what does not', () => {
    const calls = (date: Date, order: Order, maybe: string | undefined) => {
      add<string>('order/42')
      add<Order>(order)
      add<Order>({ id: 1, lines: [] })
      add<Tree>({ name: 'root', children: [{ name: 'leaf', children: [] }] })
      add<unknown>(order)
      // @ts-expect-error a Date does not come back as one.
      add<Date>(date)
      // @ts-expect-error nor does one within.
      add<{ at: Date }>({ at: date })
      // @ts-expect-error undefined would be left out.
      add<string | undefined>(maybe)
      // @ts-expect-error an optional member is absent, not undefined.
      add<Order>({ id: 1, lines: [], note: undefined })
      // @ts-expect-error a method is no data.
      add<{ run(): void }>({ run() {} })
    }
    expectTypeOf(calls).toBeFunction()
  })
})
