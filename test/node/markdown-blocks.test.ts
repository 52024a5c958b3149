import { expect, test } from 'vitest'
import { type Block, markdownBlocks } from '../../src/web/markdown-blocks.ts'

const text = (words: string) => [{ kind: 'text', text: words }]
const line = (...runs: unknown[]) => ({ checked: null, blocks: [{ kind: 'paragraph', runs }] })

function runsOf(markdown: string) {
  const [only, ...more] = markdownBlocks(markdown)
  expect([only?.kind, more]).toEqual(['paragraph', []])
  return (only as Extract<Block, { kind: 'paragraph' }>).runs
}

test('a review becomes headings, notices, paragraphs, tables, lists and pictures, in the order in which they stand', () => {
  const review = [
    '## 2026-08-14 Market Review · US stocks',
    '> Sample data.\n>\n> Not available: news',
    'Market light: **Risk-on** · A\\*B \\| C &lt;b&gt; (61/100)',
    '| Index | Last |\n| --- | --- |\n| S\\|P 500 | 2874.56 |\n| – | – |',
    '![Indices](data:image/svg+xml;base64,PHN2Zz4=)',
    '![Chart](/api/v1/history/4f2a/chart.svg?region=cn)',
    '- [A headline](<https://news.example.com/1>) (Source)\n- Without a link',
    '---',
    '*Made by code.*',
  ].join('\n\n')
  expect(markdownBlocks(review)).toEqual([
    { kind: 'heading', level: 2, runs: text('2026-08-14 Market Review · US stocks') },
    {
      kind: 'quote',
      blocks: [
        { kind: 'paragraph', runs: text('Sample data.') },
        { kind: 'paragraph', runs: text('Not available: news') },
      ],
    },
    {
      kind: 'paragraph',
      runs: [...text('Market light: '), { kind: 'strong', runs: text('Risk-on') }, ...text(' · A*B | C <b> (61/100)')],
    },
    {
      kind: 'table',
      sides: [null, null],
      head: [text('Index'), text('Last')],
      rows: [
        [text('S|P 500'), text('2874.56')],
        [text('–'), text('–')],
      ],
    },
    { kind: 'paragraph', runs: [{ kind: 'image', text: 'Indices', url: 'data:image/svg+xml;base64,PHN2Zz4=' }] },
    { kind: 'paragraph', runs: [{ kind: 'image', text: 'Chart', url: '/api/v1/history/4f2a/chart.svg?region=cn' }] },
    {
      kind: 'list',
      start: null,
      items: [
        line({ kind: 'link', runs: text('A headline'), url: 'https://news.example.com/1' }, ...text(' (Source)')),
        line(...text('Without a link')),
      ],
    },
    { kind: 'rule' },
    { kind: 'paragraph', runs: [{ kind: 'em', runs: text('Made by code.') }] },
  ])
})

test('nothing hostile becomes an element or an address: pictures and scripts of others, elements, odd links', () => {
  const hostile = '![spy](https://evil.example.com/x.png) [go](javascript:alert(1)) <img src=x onerror=1>'
  expect(runsOf(hostile)).toEqual([
    { kind: 'link', runs: text('spy'), url: 'https://evil.example.com/x.png' },
    ...text(' go <img src=x onerror=1>'),
  ])
  expect(runsOf('![x](data:text/html;base64,AAAA)')).toEqual(text('x'))
  expect(runsOf('[a](data:text/html,x) [b](//evil.example.com) [c](file:///etc/passwd)')).toEqual(text('a b c'))
  expect(markdownBlocks('<script>alert(1)</script>')).toEqual([
    { kind: 'paragraph', runs: text('<script>alert(1)</script>') },
  ])
  expect(markdownBlocks('')).toEqual([])
  expect(markdownBlocks(`${'> '.repeat(50_000)}deep`)).toHaveLength(1)
  expect(markdownBlocks(`${'- '.repeat(50_000)}deep`)).toHaveLength(1)
})

test('what an agent writes: code with its language, numbered and nested lists, tasks, code in a line, breaks', () => {
  const answer =
    '1. one\n2. `two`\n   - [x] done\n   - [ ] open\n\n```ts title\nconst a = 1 < 2\n```\n\nend  \nhere ~~gone~~'
  const task = (word: string, checked: boolean) => ({ ...line(...text(word)), checked })
  expect(markdownBlocks(answer)).toEqual([
    {
      kind: 'list',
      start: 1,
      items: [
        line(...text('one')),
        {
          checked: null,
          blocks: [
            { kind: 'paragraph', runs: [{ kind: 'code', text: 'two' }] },
            { kind: 'list', start: null, items: [task('done', true), task('open', false)] },
          ],
        },
      ],
    },
    { kind: 'code', language: 'ts', text: 'const a = 1 < 2' },
    {
      kind: 'paragraph',
      runs: [...text('end'), { kind: 'break' }, ...text('here '), { kind: 'del', runs: text('gone') }],
    },
  ])
})

test('the columns of a table stand where the table says', () => {
  expect(markdownBlocks('| a | b | c | d |\n|:--|:-:|--:|---|\n| 1 | 2 | 3 | 4 |')).toMatchObject([
    { kind: 'table', sides: ['left', 'center', 'right', null], rows: [[text('1'), text('2'), text('3'), text('4')]] },
  ])
})

test('words in quotation marks are bold between Chinese letters too, and stars that were meant stay', () => {
  const bold = (words: string) => ({ kind: 'strong', runs: text(words) })
  expect(runsOf('这个词**“引号”**应该是粗体')).toEqual([...text('这个词'), bold('“引号”'), ...text('应该是粗体')])
  expect(runsOf('**注意：**不要')).toEqual([bold('注意：'), ...text('不要')])
  expect(runsOf('2 ** 3 ** 4 and \\*\\*kept\\*\\* and `**code**`')).toEqual([
    ...text('2 ** 3 ** 4 and **kept** and '),
    { kind: 'code', text: '**code**' },
  ])
})
