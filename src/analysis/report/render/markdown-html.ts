// The Markdown that this folder writes, as HTML: headings, quotes, lists, tables, rules and paragraphs, with bold words as the
// only markup inside. What was escaped there stays text here.

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

/** A blank line inside a quotation parts its paragraphs. */
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

/** The cells of a row; a bar after a backslash belongs to its cell. */
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
