// Text from outside (names, a source's message) goes into Markdown as text: it can neither format, link, embed, nor start
// a block, and it stays on its line.

import type { ReportLanguage } from '../../schemas.ts'
import { textsOf } from '../../texts/book.ts'

/** Any text as one inline run of plain words, with no more marks than it needs, so that the source reads well too. */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      // Characters that turn the direction of text or hide inside it.
      .replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
      .trim()
      .replace(/&(?=#?\w+;)/g, '&amp;')
      // A bracket before a blank opens no tag, so `MA5 < MA10` may stay.
      .replace(/<(?=[^\s\d]|$)/g, '&lt;')
      .replace(/^>/, '&gt;')
      .replace(/[\\`*_[\]|~@]/g, '\\$&')
      // What some renderers make a link of without any markup.
      .replace(/:\/\//g, ':\\/\\/')
      .replace(/\bwww\./gi, 'www\\.')
      // What opens a block at the start of a line: heading, list, rule.
      .replace(/^(#|[-+=](?=[\s=-]|$))/, '\\$1')
      .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2')
  )
}

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

export function list(items: string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

// The box of a model's words as Markdown: whose they are, where they differ, each sentence with its mark and the rows that bear it.

export type Comment = {
  notice: string
  contradiction: string | null
  sentences: { text: string; mark: 'doubtful' | 'undecidable' | null; cites: number[] }[]
  evidence: { n: number; text: string }[]
}

export function commentMarkdown(comment: Comment, language: ReportLanguage): string {
  const marks = textsOf(language).analysis.modelMark
  const sentences = comment.sentences.map(({ text, mark, cites }) => {
    const sources = cites.map((n) => ` \\[${n}\\]`).join('')
    return `${escapeMarkdown(text)}${mark === null ? '' : ` (${marks[mark]})`}${sources}`
  })
  const lines = [
    `**${escapeMarkdown(comment.notice)}**`,
    ...(comment.contradiction === null ? [] : [escapeMarkdown(comment.contradiction)]),
    ...sentences,
  ]
  const quoted = lines.map((line) => `> ${line.replaceAll('\n', ' ')}`).join('\n>\n')
  const rows = comment.evidence.map(({ n, text }) => `\\[${n}\\] ${escapeMarkdown(text)}`)
  return [quoted, list(rows)].filter((part) => part !== '').join('\n\n')
}
