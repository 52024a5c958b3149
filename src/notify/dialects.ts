// Converts the Markdown of reports to the format of each service. Escaped text in a report stays plain text in every
// format: a third-party name can neither format nor link nor mention anybody.

import { escapeHtml, markdownToHtml } from '../analysis/report/render/markdown-text.ts'
import type { Part, Render } from './channel.ts'

type Style = {
  text: (plain: string) => string
  bold: (styled: string) => string
  heading: (styled: string, level: number) => string
  quote: (styled: string) => string
  bullet: (styled: string) => string
  row: (cells: string[], isHead: boolean) => string
  rule: string
}

const rowOf = (cells: string[]): string => cells.filter((cell) => cell !== '').join(' | ')

const PLAIN: Style = {
  text: (plain) => plain,
  bold: (styled) => styled,
  heading: (styled) => `【${styled}】`,
  quote: (styled) => styled,
  bullet: (styled) => `• ${styled}`,
  row: rowOf,
  rule: '———',
}

/** For services with headings, bold and lists, but without tables and escapes. */
const SIMPLE: Style = {
  // Their own tags and links begin with these characters.
  text: (plain) =>
    plain
      .replace(/<(?=[/@!a-z])/gi, '＜')
      .replaceAll('](', '] (')
      .replace(/\*\*+/g, '＊'),
  bold: (styled) => `**${styled}**`,
  heading: (styled, level) => `${'#'.repeat(level)} ${styled}`,
  quote: (styled) => `> ${styled}`,
  bullet: (styled) => `- ${styled}`,
  row: (cells, isHead) => (isHead ? `**${rowOf(cells)}**` : rowOf(cells)),
  rule: '',
}

const DISCORD: Style = {
  ...SIMPLE,
  text: (plain) => plain.replace(/[\\`*_~|<>[\]]/g, '\\$&').replaceAll('://', ':\u200b//'),
  heading: (styled, level) => `${'#'.repeat(Math.min(3, level))} ${styled}`,
}

const SLACK: Style = {
  ...PLAIN,
  text: (plain) =>
    plain
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[*_~`]/g, '\u200b$&'),
  bold: (styled) => `*${styled}*`,
  heading: (styled) => `*${styled}*`,
  quote: (styled) => `> ${styled}`,
}

const TELEGRAM: Style = {
  ...PLAIN,
  text: escapeHtml,
  bold: (styled) => `<b>${styled}</b>`,
  heading: (styled) => `<b>${styled}</b>`,
}

const ROW = /^\|.*\|$/
const ROW_RULE = /^\|(?: *:?-+:? *\|)+$/

function render(markdown: string, style: Style): string {
  const lines = markdown.split('\n')
  const shown = lines.flatMap((line, i) => {
    if (ROW.test(line)) {
      return ROW_RULE.test(line) ? [] : [style.row(cellsIn(line, style), ROW_RULE.test(lines[i + 1] ?? ''))]
    }
    return [lineIn(line, style)]
  })
  return shown.join('\n').trim()
}

function lineIn(line: string, style: Style): string {
  const heading = /^(#{1,6}) (.*)$/.exec(line)
  // A heading is already bold; marks inside would end that.
  if (heading)
    return style.heading(spans(heading[2] ?? '', { ...style, bold: (styled) => styled }), heading[1]?.length ?? 1)
  if (/^-{3,}$/.test(line)) return style.rule
  if (line.startsWith('> ')) return style.quote(spans(line.slice(2), style))
  if (line.startsWith('- ')) return style.bullet(spans(line.slice(2), style))
  return spans(line, style)
}

function cellsIn(line: string, style: Style): string[] {
  const cells = line.slice(1).match(/(?:\\.|[^|\\])*\|/g) ?? []
  return cells.map((cell) => spans(cell.slice(0, -1).trim(), { ...style, bold: (styled) => styled }))
}

/** Bold and escapes of one line; everything else is text. */
function spans(line: string, style: Style): string {
  return line
    .split(/(?<!\\)((?:\\\\)*)\*\*/)
    .reduce<string[]>((runs, piece, i) => {
      // The backslashes before a mark belong to the text before it.
      if (i % 2 === 1) runs.push(`${runs.pop() ?? ''}${piece}`)
      else runs.push(piece)
      return runs
    }, [])
    .map((run, i) => {
      const styled = style.text(unescaped(run))
      return i % 2 === 1 && styled.trim() !== '' ? style.bold(styled) : styled
    })
    .join('')
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

const unescaped = (text: string): string =>
  text.replace(
    /\\([!-/:-@[-`{-~])|&(?:amp|lt|gt);/g,
    (whole, char: string | undefined) => char ?? ENTITIES[whole] ?? whole,
  )

const number = ({ n, of }: Pick<Part, 'n' | 'of'>): string => (of > 1 ? ` (${n}/${of})` : '')

/** For services without a title: a first line with the title and the number of the part. */
const numbered =
  (style: Style): Render =>
  ({ title, markdown, n, of }) => {
    const head = of > 1 ? `${style.bold(style.text(`${cut(title, 80)}${number({ n, of })}`))}\n\n` : ''
    return `${head}${render(markdown, style)}`
  }

export const asSimple = numbered(SIMPLE)
export const asDiscord = numbered(DISCORD)
export const asSlack = numbered(SLACK)
export const asTelegram = numbered(TELEGRAM)
export const asPlain = numbered(PLAIN)

/** For services with a title of their own. */
export const asBarePlain: Render = ({ markdown }) => render(markdown, PLAIN)
export const asBareSimple: Render = ({ markdown }) => render(markdown, SIMPLE)
export const asMarkdown: Render = ({ markdown }) => markdown.trim()
export const asHtml: Render = ({ markdown }) => markdownToHtml(markdown)

/** The text cut to this many characters, without splitting any. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const end = /[\ud800-\udbff]/.test(text[max - 2] ?? '') ? max - 2 : max - 1
  return `${text.slice(0, Math.max(0, end))}…`
}

/** A title with the number of its part, cut so that the number is kept. */
export function titled({ title, n, of }: Part, max: number): string {
  const suffix = number({ n, of })
  return `${cut(title.replace(/\p{Cc}+/gu, ' '), max - suffix.length)}${suffix}`
}
