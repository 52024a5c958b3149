import { expect, test } from 'vitest'
import type { Render } from '../../../src/notify/channel.ts'
import {
  asBarePlain,
  asBareSimple,
  asDiscord,
  asMarkdown,
  asPlain,
  asSlack,
  asTelegram,
  cut,
  titled,
} from '../../../src/notify/dialects.ts'

const REPORT = [
  '# Head of **all**',
  '',
  '#### Deep',
  '> a *quote* with **weight**',
  '- **Score**: 7 < 8 & more',
  '---',
  '| Name | Value |',
  '| :--- | ---: |',
  '| **MA5** | 1\\|2 |',
  '| | 3 |',
  'plain -- [x](https://a.example) \\*no\\* \\\\**yes** &lt;b&gt;',
].join('\n')

const shown = (render: Render, markdown = REPORT): string[] => render({ title: 'T', markdown, n: 1, of: 1 }).split('\n')

test('headings, quotes, lists, rules, tables, bold and escaped words look in every service as it shows them', () => {
  expect(shown(asBarePlain)).toEqual([
    '【Head of all】',
    '',
    '【Deep】',
    'a *quote* with weight',
    '• Score: 7 < 8 & more',
    '———',
    'Name | Value',
    'MA5 | 1|2',
    '3',
    'plain -- [x](https://a.example) *no* \\yes <b>',
  ])
  expect(shown(asBareSimple)).toEqual([
    '# Head of all',
    '',
    '#### Deep',
    '> a *quote* with **weight**',
    '- **Score**: 7 < 8 & more',
    '',
    '**Name | Value**',
    'MA5 | 1|2',
    '3',
    'plain -- [x] (https://a.example) *no* \\**yes** ＜b>',
  ])
  expect(shown(asDiscord)).toEqual([
    '# Head of all',
    '',
    '### Deep',
    '> a \\*quote\\* with **weight**',
    '- **Score**: 7 \\< 8 & more',
    '',
    '**Name | Value**',
    'MA5 | 1\\|2',
    '3',
    'plain -- \\[x\\](https:\u200b//a.example) \\*no\\* \\\\**yes** \\<b\\>',
  ])
  expect(shown(asSlack)).toEqual([
    '*Head of all*',
    '',
    '*Deep*',
    '> a \u200b*quote\u200b* with *weight*',
    '• *Score*: 7 &lt; 8 &amp; more',
    '———',
    'Name | Value',
    'MA5 | 1|2',
    '3',
    'plain -- [x](https://a.example) \u200b*no\u200b* \\*yes* &lt;b&gt;',
  ])
  expect(shown(asTelegram)).toEqual([
    '<b>Head of all</b>',
    '',
    '<b>Deep</b>',
    'a *quote* with <b>weight</b>',
    '• <b>Score</b>: 7 &lt; 8 &amp; more',
    '———',
    'Name | Value',
    'MA5 | 1|2',
    '3',
    'plain -- [x](https://a.example) *no* \\<b>yes</b> &lt;b&gt;',
  ])
  expect(shown(asMarkdown, `\n${REPORT}\n\n`).join('\n')).toBe(REPORT)
})

test('what only looks like a mark stays as it is', () => {
  for (const line of ['#no heading', '####### seven', '--', '-no list', '>no quote', '| open', 'a | b |', '****']) {
    expect(shown(asBarePlain, line), line).toEqual([line === '****' ? '' : line])
  }
})

test('the first line of a part holds 80 characters of the title, escaped as the service wants it', () => {
  const part = { title: `<${'t'.repeat(100)}`, markdown: 'text', n: 2, of: 12 }
  expect(asTelegram(part)).toBe(`<b>&lt;${'t'.repeat(78)}… (2/12)</b>\n\ntext`)
  expect(asPlain({ ...part, title: 'Short' })).toBe('Short (2/12)\n\ntext')
  expect(asPlain({ ...part, n: 1, of: 1 })).toBe('text')
})

test('a cut text ends with an ellipsis within its length, and no character is cut in half', () => {
  expect(cut('12345', 5)).toBe('12345')
  expect(cut('123456', 5)).toBe('1234…')
  expect(cut('123🚀56', 5)).toBe('123…')
  expect(cut('12🚀456', 5)).toBe('12🚀…')
  expect(cut('123', 1)).toBe('…')
  expect(cut('123', 0)).toBe('…')
  expect(titled({ key: 'k', markdown: '', title: 'x'.repeat(50), n: 10, of: 10 }, 20)).toBe(
    `${'x'.repeat(11)}… (10/10)`,
  )
})
