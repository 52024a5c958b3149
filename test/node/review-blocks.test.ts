import { expect, test } from 'vitest'
import { reviewBlocks, runsOf } from '../../src/web/analysis/review-blocks.ts'

const text = (words: string) => [{ kind: 'text', text: words }]

test('a review becomes headings, notices, paragraphs, tables, lists and pictures, in the order in which they stand', () => {
  const review = [
    '## 2026-08-14 Market Review · US stocks',
    '> Sample data.\n>\n> Not available: news',
    'Market light: **Risk-on** · A\\*B \\| C &lt;b&gt; (61/100)',
    '| Index | Last |\n| --- | --- |\n| S\\|P 500 | 2874.56 |\n| – | – |',
    '![Indices](data:image/svg+xml;base64,PHN2Zz4=)',
    '- [A headline](<https://news.example.com/1>) (Source)\n- Without a link',
    '---',
    '*Made by code.*',
  ].join('\n\n')
  expect(reviewBlocks(review)).toEqual([
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
      runs: [...text('Market light: '), { kind: 'strong', text: 'Risk-on' }, ...text(' · A*B | C <b> (61/100)')],
    },
    {
      kind: 'table',
      head: [text('Index'), text('Last')],
      rows: [
        [text('S|P 500'), text('2874.56')],
        [text('–'), text('–')],
      ],
    },
    { kind: 'paragraph', runs: [{ kind: 'image', text: 'Indices', url: 'data:image/svg+xml;base64,PHN2Zz4=' }] },
    {
      kind: 'list',
      items: [
        [{ kind: 'link', text: 'A headline', url: 'https://news.example.com/1' }, ...text(' (Source)')],
        text('Without a link'),
      ],
    },
    { kind: 'rule' },
    { kind: 'paragraph', runs: [{ kind: 'em', text: 'Made by code.' }] },
  ])
})

test('what is no part of a review stays text: other pictures, other addresses, elements, and marks without an end', () => {
  expect(runsOf('![spy](https://evil.example.com/x.png) [go](javascript:alert(1)) <img src=x onerror=1>')).toEqual(
    text('spy go) <img src=x onerror=1>'),
  )
  expect(runsOf('![x](data:text/html;base64,AAAA) a ** b * c [d](e')).toEqual(text('x a ** b * c [d](e'))
  expect(reviewBlocks('| not a table')).toEqual([{ kind: 'paragraph', runs: text('| not a table') }])
  expect(reviewBlocks('')).toEqual([])
  expect(reviewBlocks(`${'> '.repeat(200)}deep`)).toHaveLength(1)
})
