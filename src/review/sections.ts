/** One part of a review's Markdown, as its readers page through it. */
export type Section = { key: string; title: string; markdown: string }

/**
 * Splits at headings of the second and third level. A heading of the second level at the very start is the title; what
 * stands before the first part is the overview; a text without headings is one part.
 */
export function sectionsOf(markdown: string): Section[] {
  const body = markdown.trim().replace(/^## [^\n]*\n*/, '')
  const parts = body.split(/^(?=#{2,3} )/m).filter((part) => part.trim() !== '')
  if (parts.every((part) => !/^#{2,3} /.test(part))) {
    return body === '' ? [] : [{ key: 'full_review', title: 'Full Review', markdown: body.trim() }]
  }
  return parts.map((part) => {
    const heading = /^#{2,3} ([^\n]*)\n*/.exec(part)
    if (heading === null) return { key: 'overview', title: 'Overview', markdown: part.trim() }
    const title = (heading[1] ?? '').trim()
    return { key: keyOf(title), title, markdown: part.slice(heading[0].length).trim() }
  })
}

const keyOf = (title: string): string =>
  title
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
