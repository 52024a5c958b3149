// The box of a model's words as Markdown: whose they are, where they differ, each sentence with its mark and the rows that bear it.

import type { ReportLanguage } from '../../schemas.ts'
import { textsOf } from '../../texts/book.ts'
import { list, escapeMarkdown as text } from './markdown-text.ts'

export type Comment = {
  notice: string
  contradiction: string | null
  sentences: { text: string; mark: 'doubtful' | 'undecidable' | null; cites: number[] }[]
  evidence: { n: number; text: string }[]
}

export function commentMarkdown(comment: Comment, language: ReportLanguage): string {
  const marks = textsOf(language).analysis.modelMark
  const sentences = comment.sentences.map(({ text: words, mark, cites }) => {
    const sources = cites.map((n) => ` \\[${n}\\]`).join('')
    return `${text(words)}${mark === null ? '' : ` (${marks[mark]})`}${sources}`
  })
  const lines = [
    `**${text(comment.notice)}**`,
    ...(comment.contradiction === null ? [] : [text(comment.contradiction)]),
    ...sentences,
  ]
  const quoted = lines.map((line) => `> ${line.replaceAll('\n', ' ')}`).join('\n>\n')
  const rows = comment.evidence.map(({ n, text: row }) => `\\[${n}\\] ${text(row)}`)
  return [quoted, list(rows)].filter((part) => part !== '').join('\n\n')
}
