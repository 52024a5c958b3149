import { expect, test } from 'vitest'
import { AWK, PosixRegex, SED_BASIC, SED_EXTENDED } from '../../../../src/kits/shell/posix-regex/posix-regex.ts'
import { RegexError } from '../../../../src/kits/shell/posix-regex/syntax.ts'

function found(source: string, text: string, dialect = SED_EXTENDED): readonly number[] | null {
  const regex = new PosixRegex(source, dialect)
  const isFound = regex.find(text)
  expect(regex.test(text)).toBe(isFound)
  return isFound ? regex.slots : null
}

test('of all matches that begin furthest to the left the longest is taken', () => {
  expect(found('a|ab', 'xabc')).toEqual([1, 3])
  expect(found('(a|ab)(c|bcd)', 'abcd')).toEqual([0, 4, 0, 1, 1, 4])
  expect(found('a?(ab)?', 'ab')?.slice(0, 2)).toEqual([0, 2])
  expect(found('(foo|foobar)*', 'foobarfoo')?.slice(0, 2)).toEqual([0, 9])
  expect(found('x*', 'aaa')).toEqual([0, 0])
  expect(found('\\(a\\|ab\\)\\(c\\|bcd\\)', 'abcd', SED_BASIC)?.slice(0, 2)).toEqual([0, 4])
  expect(found('b|bc', 'abcd', AWK)).toEqual([1, 3])
})

test('what would take others forever ends at once', () => {
  const long = 'a'.repeat(5000)
  expect(found('(a*)*b', long)).toBeNull()
  expect(found('(a|aa)+$', `${long}b`)).toBeNull()
  expect(found('([a-z]+)*[0-9]', long)).toBeNull()
  expect(found('(a+b?)*c', long)).toBeNull()
  expect(found('([a-z]+ ?)*[0-9]', long)).toBeNull()
  expect(found('a*b?a*b?a*b?a*b?a*x', long)).toBeNull()
  expect(found('(\\w|[a-z])*!', long)).toBeNull()
  expect(found('.*x.*y.*z', 'x'.repeat(20_000))).toBeNull()
})

test('both dialects have their operators, anchors, classes and escapes', () => {
  expect(found('a\\{2,3\\}', 'caaaa', SED_BASIC)).toEqual([1, 4])
  expect(found('*a', 'b*a', SED_BASIC)).toEqual([1, 3])
  expect(found('a^b$c', 'a^b$c', SED_BASIC)).toEqual([0, 5])
  expect(found('a+b', 'a+b', SED_BASIC)).toEqual([0, 3])
  expect(found('(.)\\1', 'abccd')).toEqual([2, 4, 2, 3])
  expect(found('[]a]+', 'x]a]')).toEqual([1, 4])
  expect(found('[^]a]', ']ab')).toEqual([2, 3])
  expect(found('[[:upper:][:digit:]_-]+', 'abC-9_d')).toEqual([2, 6])
  expect(found('[\\n]', 'a\\n')).toBeNull()
  expect(found('\\bfoo\\b', 'afoo foo')).toEqual([5, 8])
  expect(found('\\<.', ' ü')).toEqual([1, 2])
  expect(found('[\\]x]', ']', AWK)).toEqual([0, 1])
  expect(found('a{,2}b', 'aaab')).toEqual([1, 4])
  expect(found('a{b', 'xa{b', AWK)).toEqual([1, 4])
  expect(found('.', '😀')).toEqual([0, 2])
})

test('what is no expression is refused in the words of the library', () => {
  const problem = (source: string, dialect = SED_EXTENDED) => {
    expect(() => new PosixRegex(source, dialect)).toThrow(RegexError)
    try {
      new PosixRegex(source, dialect)
      return ''
    } catch (error) {
      if (error instanceof RegexError) return error.message
      throw error
    }
  }
  expect(problem('(a')).toBe('Unmatched ( or \\(')
  expect(problem('a)')).toBe('Unmatched ) or \\)')
  expect(problem('a\\{1', SED_BASIC)).toBe('Unmatched \\{')
  expect(problem('a{2,1}')).toBe('Invalid content of \\{\\}')
  expect(problem('[z-a]')).toBe('Invalid range end')
  expect(problem('[[:nope:]]')).toBe('Invalid character class name')
  expect(problem('\\1')).toBe('Invalid back reference')
  expect(problem('a\\')).toBe('Trailing backslash')
})
