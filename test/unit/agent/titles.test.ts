import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fallbackTitle, titleFrom, titlePrompt } from '../../../src/agent/remember.ts'

test('the question for a title holds the first thousand characters of the message, and none is asked for nothing', () => {
  expect(titlePrompt('  \n ')).toBeNull()
  const prompt = titlePrompt(`${'ä'.repeat(1000)}TAIL`)
  expect(JSON.stringify(prompt)).toContain('äää')
  expect(JSON.stringify(prompt)).not.toContain('TAIL')
})

test('an answer becomes a title without what models put around it', () => {
  const cases = [
    ['Fix the login form', 'Fix the login form'],
    ['"Fix the login form"\n\nBecause …', 'Fix the login form'],
    ['Title: **Fix the login form**', 'Fix the login form'],
    ['<think>short…\nlong</think>\n\n修复登录表单', '修复登录表单'],
    ['标题：「修复登录表单」', '修复登录表单'],
    ['', null],
    ['<think>never ends', null],
    ['"" ', null],
    ['x'.repeat(50), 'x'.repeat(50)],
    ['x'.repeat(51), `${'x'.repeat(47)}...`],
  ] as const
  for (const [answer, title] of cases) expect([answer, titleFrom(answer)]).toEqual([answer, title])
})

test('without a model the beginning of the message is the title', () => {
  expect(fallbackTitle('Short.')).toBe('Short.')
  expect(fallbackTitle('One line\nand   another one that is long')).toBe('One line and another one that...')
  expect(fallbackTitle(' \n')).toBeNull()
})

test('a title is one line of at most fifty characters, whatever it is made from, and halves no emoji', () => {
  const wild = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.constant('👩‍👩‍👧‍👦'.repeat(60)))
  fc.assert(
    fc.property(wild, (text) => {
      for (const title of [titleFrom(text), fallbackTitle(text)]) {
        if (title === null) continue
        expect([...new Intl.Segmenter().segment(title)].length).toBeLessThanOrEqual(50)
        expect(title).not.toMatch(/[\p{Cc}\u202e\u2028]/u)
      }
    }),
  )
  expect(titleFrom('👩‍👩‍👧‍👦'.repeat(60))).toBe(`${'👩‍👩‍👧‍👦'.repeat(47)}...`)
})
