import { expect, test } from 'vitest'
import { ambiguityOf } from '../../../../src/kits/shell/posix-regex/ambiguity.ts'
import { parseRegex } from '../../../../src/kits/shell/posix-regex/parse.ts'
import { SED_EXTENDED } from '../../../../src/kits/shell/posix-regex/posix-regex.ts'

const degreeOf = (source: string) => ambiguityOf(parseRegex(source, SED_EXTENDED).tree).degree
const isLongest = (source: string) => ambiguityOf(parseRegex(source, SED_EXTENDED).tree).isLongest

// Whatever is not in time goes to the automaton, which finds the same and is many times slower.
test('an expression whose failure is quick is known as one', () => {
  const quick = {
    ...{ abc: 1, '^abc': 0, '(abc)*': 2, '^(abc)*': 1, 'a*': 2, '^a*b': 1, '^a*$': 1, '(ab|cd)*': 2 },
    ...{ '(ab{3}c)*': 2, '(a{3}b{2})*': 2, '([a-c]{3}x)*': 2, '(a+b)*': 2, '(a+ )*b': 2, '(a?b)*c': 2, '(^a)*': 2 },
    ...{ '((ab)(cd))*': 2, '(x(a|b)y)*': 2, '(a{8})*': 2, '(a+b?c)*': 2, 'a*ba*ba*x': 2 },
    ...{ '.*x.*y': 3, 'a*b?a*b?a*x': 3 },
  }
  expect(Object.fromEntries(Object.keys(quick).map((source) => [source, degreeOf(source)]))).toEqual(quick)
})

test('an expression whose failure may never end is known as one', () => {
  for (const source of [
    '(a*)*',
    '(a+)+',
    '(a|aa)*',
    '(a|ab)*',
    '(a+b?)*',
    '(a*a)*',
    '(a+a)*',
    '((a+))*',
    '(a?){9,}',
    '(|a)*',
  ])
    expect([source, degreeOf(source)]).toEqual([source, Number.POSITIVE_INFINITY])
})

test('whether the first match is the longest', () => {
  for (const source of ['abc', 'a*b', 'ab|cd', 'a|b', 'ab|ac', 'a?b', 'a?(bc)?', 'a*(bc)*'])
    expect([source, isLongest(source)]).toEqual([source, true])
  for (const source of ['a|ab', 'a?(ab)?', '(a|ab)(c|bcd)', 'x(a*(ab)*)', 'a|.b', 'a?.(ab)?', '(a?.)(ab|c)?'])
    expect([source, isLongest(source)]).toEqual([source, false])
})
