// A page as Markdown: its main content if that can be separated from the rest, else all of it. The markup is untrusted:
// markup that would keep a parser busy for long is read as plain text.

import { createDocument, Readability, TurndownService } from '../lazy/pages.ts'

/** With less text than this, the main content was probably not found. */
const MIN_CONTENT_CHARS = 200
const MAX_ELEMENTS = 12_000
/** Nesting depth of elements. The parser and the later walks are recursive. */
const MAX_DEPTH = 200

/** Elements that are not shown and would only slow the parser down. */
const LEFT_OUT = /<(script|style|svg|noscript|template|iframe|canvas|object)\b/gi
const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi
/** Elements that are never closed, or need not be closed. */
const OPEN_ENDED =
  /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|html|head|body)$/i

/** `address` is the page's own address: its links are relative to it. */
export function pageToMarkdown(markup: string, address: string): string {
  const slim = withoutElements(markup)
  if (isTooMuch(slim)) return plainText(slim)
  const document = createDocument(slim, true)
  const title = (document.title ?? '').trim().replace(/\s+/g, ' ')
  tidyLinks(document, address)
  const content = mainContent(slim, address) ?? document.body
  const markdown = content === null ? '' : markdownOf(content)
  const text = markdown.length >= MIN_CONTENT_CHARS || document.body === null ? markdown : markdownOf(document.body)
  return `${title === '' ? '' : `# ${title}\n\n`}${text.trim() === '' ? '[The page has no text.]' : text}`
}

/** A single pass over the text: an element that is never closed hides the rest, as in a browser. */
function withoutElements(markup: string): string {
  const lower = markup.toLowerCase()
  let kept = ''
  let at = 0
  LEFT_OUT.lastIndex = 0
  for (let match = LEFT_OUT.exec(markup); match !== null; match = LEFT_OUT.exec(markup)) {
    kept += `${markup.slice(at, match.index)} `
    const close = lower.indexOf(`</${match[1]?.toLowerCase()}`, match.index)
    const end = close < 0 ? -1 : lower.indexOf('>', close)
    if (end < 0) return kept
    at = end + 1
    LEFT_OUT.lastIndex = at
  }
  return kept + markup.slice(at)
}

function isTooMuch(markup: string): boolean {
  let [depth, elements] = [0, 0]
  for (const [, slash = '', name = ''] of markup.matchAll(TAG)) {
    if (slash === '') elements++
    if (!OPEN_ENDED.test(name)) depth += slash === '' ? 1 : -1
    if (depth < 0) depth = 0
    if (depth > MAX_DEPTH || elements > MAX_ELEMENTS) return true
  }
  return false
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Without a parser: removes the tags and keeps the rest. */
function plainText(markup: string): string {
  let text = ''
  let at = 0
  for (let open = markup.indexOf('<'); open >= 0; open = markup.indexOf('<', at)) {
    text += `${markup.slice(at, open)} `
    const close = markup.indexOf('>', open)
    if (close < 0) return tidy(text)
    at = close + 1
  }
  return tidy(text + markup.slice(at))
}

function tidy(text: string): string {
  const decoded = text.replace(/&(\w{2,6});/g, (whole, name: string) => ENTITIES[name] ?? whole)
  const lines = decoded.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n')
}

/** The library changes the document that it is given. */
function mainContent(markup: string, address: string): PageElement | null {
  const document = createDocument(markup, true)
  tidyLinks(document, address)
  // The library resolves links with these two, which the document itself does not have.
  for (const name of ['baseURI', 'documentURI']) Object.defineProperty(document, name, { value: address })
  // The type requires a browser document; the library only uses what this one has.
  const article = new Readability(document as never, { serializer: (node) => node as unknown as PageElement }).parse()
  return article?.content ?? null
}

/** Makes links absolute; other links than those to the web, and pictures, become plain text. */
function tidyLinks(document: PageDocument, address: string): void {
  for (const link of Array.from(document.querySelectorAll('a[href]'))) {
    const href = link.getAttribute('href') ?? ''
    const url = URL.canParse(href, address) ? new URL(href, address) : null
    if (url !== null && /^https?:$/.test(url.protocol)) link.setAttribute('href', url.href)
    else link.removeAttribute('href')
  }
  for (const image of Array.from(document.querySelectorAll('img'))) {
    image.replaceWith(document.createTextNode(image.getAttribute('alt') ?? ''))
  }
}

function markdownOf(content: PageElement): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  })
  service.remove(['form', 'button', 'select', 'input', 'textarea'] as never)
  return service.turndown(content as never)
}

// The parts of a document's interface that are used here, because a Worker has no browser types.

export interface PageElement {
  readonly nodeName: string
  readonly childNodes: ArrayLike<unknown>
  readonly children: ArrayLike<PageElement>
  innerHTML: string
  textContent: string | null
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelectorAll(selector: string): ArrayLike<PageElement>
  replaceWith(...nodes: unknown[]): void
}

export interface PageDocument extends PageElement {
  title: string
  readonly body: PageElement | null
  createTextNode(text: string): unknown
  createElement(name: string): PageElement
}
