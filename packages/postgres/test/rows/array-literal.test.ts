import { expect, test } from 'vitest'
import { arrayLiteral } from '../../src/rows/array-literal.ts'

test('arrays are written as Postgres reads them', () => {
  expect(arrayLiteral(['a', 'b"c', 'd\\e', 'f,{g}', '', 'NULL'])).toBe(
    '{"a","b\\"c","d\\\\e","f,{g}","","NULL"}',
  )
  expect(arrayLiteral([1, -0.5, Infinity, 1e300, null, undefined, true])).toBe(
    '{1,-0.5,Infinity,1e+300,NULL,NULL,true}',
  )
  expect(arrayLiteral([])).toBe('{}')
})
