// A page as Markdown: its main content where one can be told from the rest, else all of it. Markup is a stranger's: what
// would keep a parser busy for long is read as plain text.

import { createDocument, Readability, TurndownService } from '../lazy/pages.ts'

/** Below this a main content was probably not found. */
const MIN_CONTENT_CHARS = 200
const MAX_ELEMENTS = 12_000
/** Elements in elements. The parser and the walks after it recurse. */
const MAX_DEPTH = 200

/** Elements that are not read, and would only slow the parser down. */
const LEFT_OUT = /<(script|style|svg|noscript|template|iframe|canvas|object)\b/gi
const TAG = /<(\/?)([a-z][a-z0-9-]*)/gi
/** Elements that never close, or need not be closed. */
const OPEN_ENDED =
  /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|html|head|body)$/i

/** `address` is where the page was found: its links are relative to it. */
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

/** Goes through the text once: an element that is never closed takes the rest with it, as in a browser. */
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

/** Without any parser: tags go, the rest stays. */
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
  // The library resolves links by these two, which the document does not know of itself.
  for (const name of ['baseURI', 'documentURI']) Object.defineProperty(document, name, { value: address })
  // Its types ask for the document of a browser; it uses what this one has.
  const article = new Readability(document as never, { serializer: (node) => node as unknown as PageElement }).parse()
  return article?.content ?? null
}

/** Links become absolute; those that are none of the web, and pictures, leave their text. */
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

// As much of a document's shape as is used here; the types of a browser are not at hand in a Worker.

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
