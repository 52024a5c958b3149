// Third-party text (names, a source's message) is put into Markdown as plain text: it cannot format, link, embed, or
// start a block, and it stays on its line.

import type { ReportLanguage } from '../../schemas.ts'
import { textsOf } from '../../texts/book.ts'

/** Any text as inline plain text, with as few escapes as possible, so that the source is readable, too. */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      // Characters that change the text direction or are invisible.
      .replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
      .trim()
      .replace(/&(?=#?\w+;)/g, '&amp;')
      // A bracket before a blank opens no tag, so `MA5 < MA10` may stay.
      .replace(/<(?=[^\s\d]|$)/g, '&lt;')
      .replace(/^>/, '&gt;')
      .replace(/[\\`*_[\]|~@]/g, '\\$&')
      // Some renderers make a link of this without any markup.
      .replace(/:\/\//g, ':\\/\\/')
      .replace(/\bwww\./gi, 'www\\.')
      // Characters that open a block at the start of a line: heading, list, rule.
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

// The box of a model's text as Markdown: its author, its disagreement, each sentence with its mark and the rows that
// support it.

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

// Converts the Markdown of this folder to HTML: headings, quotes, lists, tables, rules and paragraphs, with bold as the
// only inline markup. Escaped text stays text.

/** The text as HTML can hold it. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

export function markdownToHtml(markdown: string): string {
  return markdown
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '')
    .map(blockToHtml)
    .join('\n')
}

function blockToHtml(block: string): string {
  const lines = block.split('\n')
  const [first = ''] = lines
  const heading = /^(#{1,3}) (.*)$/.exec(first)
  if (heading) {
    const level = heading[1]?.length ?? 1
    const rest = lines.slice(1).join('\n')
    return `<h${level}>${inline(heading[2] ?? '')}</h${level}>${rest === '' ? '' : `\n${blockToHtml(rest)}`}`
  }
  if (block === '---') return '<hr>'
  if (first.startsWith('> ')) return quotationToHtml(lines.map((line) => line.replace(/^> ?/, '')))
  if (lines.every((line) => line.startsWith('- '))) {
    return `<ul>\n${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('\n')}\n</ul>`
  }
  if (first.startsWith('| ') && /^\|( --- \|)+$/.test(lines[1] ?? '')) return tableToHtml(lines)
  return `<p>${lines.map(inline).join('<br>')}</p>`
}

/** A blank line inside a quotation separates its paragraphs. */
function quotationToHtml(lines: string[]): string {
  const paragraphs = lines
    .join('\n')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.split('\n').map(inline).join(' '))
  if (paragraphs.length === 1) return `<blockquote>${paragraphs[0]}</blockquote>`
  return `<blockquote>\n${paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n')}\n</blockquote>`
}

function tableToHtml([head = '', , ...rows]: string[]): string {
  const cells = (line: string, tag: 'th' | 'td') =>
    cellsIn(line)
      .map((cell) => `<${tag}>${inline(cell)}</${tag}>`)
      .join('')
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
  return `<table>\n<thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>\n${body}\n</tbody>\n</table>`
}

/** The cells of a row; an escaped bar belongs to its cell. */
function cellsIn(line: string): string[] {
  const cells = line.replace(/^\|/, '').match(/(?:\\.|[^|\\])*\|/g) ?? []
  return cells.map((cell) => cell.slice(0, -1).trim())
}

/** Bold words and escapes; everything else is text. */
function inline(text: string): string {
  let html = ''
  let bold = false
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\' && i + 1 < text.length) {
      html += escapeHtml(text[i + 1] ?? '')
      i += 1
    } else if (text.startsWith('**', i)) {
      html += bold ? '</strong>' : '<strong>'
      bold = !bold
      i += 1
    } else {
      const entity = /^&(?:amp|lt|gt);/.exec(text.slice(i, i + 5))?.[0]
      html += entity ?? escapeHtml(text[i] ?? '')
      i += entity === undefined ? 0 : entity.length - 1
    }
  }
  return bold ? `${html}</strong>` : html
}
