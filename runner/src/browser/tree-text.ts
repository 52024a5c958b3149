// The accessibility tree of a page as text for a model: one line for each element, starting with its id in square
// brackets; all text of the page is quoted and without square brackets, so that no page can fake an id. If the page is
// too long for a model, the part around the window is shown, and scrolling shows the rest.

import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { BID, MAX_TREE_CHARS, quotedWords } from '../../../src/runners/page.ts'
import { type Mark, WINDOW } from './picture.ts'

type Box = { x: number; y: number; width: number; height: number }
export type PageTree = { readonly text: string; readonly marks: readonly Mark[]; readonly focused: string }

const MAX_NODES = 20_000
const MAX_DEPTH = 80
const MAX_MARKS = 150
const NAME_CHARS = 300
const TEXT_CHARS = 2000
/** The default border of a frame in a page. */
const FRAME_BORDER = 2
/** Elements that users interact with. */
const ACTIVE_ROLES: ReadonlySet<string> = new Set([
  ...['button', 'checkbox', 'combobox', 'link', 'listbox', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option'],
  ...['radio', 'scrollbar', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem'],
])
/** Elements whose text was typed by the user. */
const FIELD_ROLES: ReadonlySet<string> = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton'])
const STATES = ['checked', 'disabled', 'expanded', 'pressed', 'selected', 'invalid'] as const

type Line = { readonly depth: number; readonly text: string; readonly isNear: boolean }

/** Data about a page's fields that is not in the tree. */
export type Fields = {
  /** Values of fields with masked text, such as passwords. */
  readonly hidden: readonly string[]
  /** The positions of editable elements that are not form fields. */
  readonly editable: readonly Box[]
}

/** The page's element types; the runner's TypeScript does not include them. */
type Element = { readonly type: string; readonly value: string; readonly isContentEditable?: boolean } & {
  readonly parentElement: { readonly isContentEditable?: boolean } | null
  getBoundingClientRect(): Box
}
type InPage = { getComputedStyle(element: Element): { getPropertyValue(name: string): string } }

/** Runs in the page. */
function fieldsOf(elements: readonly Element[]): Fields {
  const { getComputedStyle: styleOf } = globalThis as unknown as InPage
  const fields = elements.filter(({ isContentEditable }) => isContentEditable !== true)
  const hidden = fields.flatMap((field) => {
    const look = styleOf(field).getPropertyValue('-webkit-text-security')
    return field.type === 'password' || (look !== '' && look !== 'none') ? [field.value] : []
  })
  const editable = elements.flatMap((element) => {
    const isOne = element.isContentEditable === true && element.parentElement?.isContentEditable !== true
    const { x, y, width, height } = element.getBoundingClientRect()
    return isOne ? [{ x, y, width, height }] : []
  })
  return { hidden, editable }
}

export async function fieldsIn(page: Page): Promise<Fields> {
  const found = await Promise.all(
    page.frames().map((frame) => frame.locator('input, textarea, [contenteditable]').evaluateAll(fieldsOf)),
  )
  return { hidden: found.flatMap(({ hidden }) => hidden), editable: found.flatMap(({ editable }) => editable) }
}

/**
 * A frame with an address that the browser refuses (`file:`, `chrome:`) has no document and does not answer, so a
 * screenshot of the whole page waits for it until the time limit. Returns whether there was one.
 */
export async function emptyDeadFrames(page: Page, withinMs: number): Promise<boolean> {
  const emptied = await Promise.all(
    page.frames().map(async (frame) => {
      if (frame.url() !== '') return false
      const isAlive = await Promise.race([frame.evaluate(() => true), pause(withinMs).then(() => false)])
      if (isAlive) return false
      const element = await frame.frameElement()
      await element.evaluate((iframe) => iframe.setAttribute('src', 'about:blank'))
      return true
    }),
  )
  return emptied.includes(true)
}

/**
 * `snapshot`: the browser's data about the page, which may have any shape. `fields`: null if unknown; then no field
 * values are shown.
 */
export function treeOf(snapshot: unknown, fields: Fields | null): PageTree {
  const reading = new Reading(fields)
  reading.read(snapshot, { depth: 0, dx: 0, dy: 0, isNear: true })
  const { lines, marks, focused, isCut } = reading
  const all = lines.map(written).join('\n')
  const cutNote = isCut ? '\n(The page has more elements than are read.)' : ''
  if (all.length + cutNote.length <= MAX_TREE_CHARS) return { text: all + cutNote, marks, focused }
  const near = lines.filter(({ isNear }) => isNear)
  const note = `\n(The page is long: ${lines.length - near.length} elements far from the window are not shown. Scroll to see them.)`
  const text = near.map(written).join('\n')
  if (text.length + note.length <= MAX_TREE_CHARS) return { text: text + note, marks, focused }
  const end = text.lastIndexOf('\n', MAX_TREE_CHARS - 200)
  return { text: `${text.slice(0, Math.max(0, end))}\n(The rest is not shown: it is too much.)`, marks, focused }
}

const written = ({ depth, text }: Line): string => '\t'.repeat(Math.min(depth, 20)) + text

type NodePosition = { depth: number; dx: number; dy: number; isNear: boolean }

class Reading {
  readonly lines: Line[] = []
  readonly marks: Mark[] = []
  focused = ''
  isCut = false
  readonly #hidden: ReadonlySet<string> | null

  readonly #editable: ReadonlySet<string>

  constructor(fields: Fields | null) {
    this.#hidden = fields === null ? null : new Set(fields.hidden.map((value) => quotedWords(value, TEXT_CHARS)))
    this.#editable = new Set(fields?.editable.map(placeOf))
  }

  /** In unquoted words, which no page can produce. */
  #value(role: string, text: string): string {
    const words = quotedWords(text, TEXT_CHARS)
    const isShown = !FIELD_ROLES.has(role) || words === '""' || this.#hidden?.has(words) === false
    return isShown ? words : '(hidden)'
  }

  read(node: unknown, place: NodePosition, level = 0): void {
    if (this.lines.length >= MAX_NODES || level > MAX_DEPTH) {
      this.isCut = true
      return
    }
    if (Array.isArray(node)) for (const one of node) this.read(one, place, level + 1)
    else if (typeof node === 'string') this.#text(node, place)
    else if (isRecord(node)) this.#element(node, place, level)
  }

  #text(text: string, { depth, isNear }: NodePosition): void {
    const words = quotedWords(text, TEXT_CHARS)
    if (words !== '""') this.lines.push({ depth, text: `StaticText ${words}`, isNear })
  }

  #element(node: Record<string, unknown>, place: NodePosition, level: number): void {
    const said = typeof node.role === 'string' && /^[a-z]{1,40}$/.test(node.role) ? node.role : 'generic'
    const role = said === 'generic' && this.#editable.has(placeOf(node.box)) ? 'textbox' : said
    const bid = typeof node.ref === 'string' && BID.test(node.ref) ? node.ref : ''
    const box = boxIn(node.box, place)
    const isNear = box === null ? place.isNear : isAbout(box)
    const name = typeof node.name === 'string' ? quotedWords(node.name, NAME_CHARS) : '""'
    const isClickable = node.cursor === 'pointer' || ACTIVE_ROLES.has(role)
    const isFocused = node.active === true && role !== 'generic' && bid !== ''
    if (isFocused) this.focused = bid
    const url = role === 'link' && typeof node.url === 'string' ? [`url=${quotedWords(node.url, NAME_CHARS)}`] : []
    const states = [
      ...stateWords(node),
      ...url,
      ...(isClickable && bid !== '' ? ['clickable'] : []),
      ...(isFocused ? ['focused'] : []),
    ]
    const isSilent = role === 'generic' && name === '""' && !isClickable && states.length === 0
    const words = typeof node.text === 'string' ? this.#value(role, node.text) : '""'
    if (isSilent) this.#text(typeof node.text === 'string' ? node.text : '', { ...place, isNear })
    else {
      const text = [bid === '' ? '' : `[${bid}]`, role, name === '""' ? '' : name]
        .filter((part) => part !== '')
        .join(' ')
      const line = [text, ...states].join(', ')
      this.lines.push({ depth: place.depth, text: words === '""' ? line : `${line}: ${words}`, isNear })
    }
    if (box !== null && isClickable && bid !== '' && this.marks.length < MAX_MARKS && isSeen(box))
      this.marks.push({ ...box, id: bid })
    const inside =
      role === 'iframe' && box !== null
        ? { dx: box.x + FRAME_BORDER, dy: box.y + FRAME_BORDER }
        : { dx: place.dx, dy: place.dy }
    this.read(node.children, { ...inside, depth: place.depth + (isSilent ? 0 : 1), isNear }, level + 1)
  }
}

function stateWords(node: Record<string, unknown>): string[] {
  return STATES.flatMap((name) => {
    const value = node[name]
    if (value === undefined || (value === false && name !== 'checked' && name !== 'expanded')) return []
    return [value === true ? name : `${name}=${value === 'mixed' ? 'mixed' : value === false ? 'false' : 'true'}`]
  })
}

/** In the window of its own frame; empty for none. */
function placeOf(box: unknown): string {
  if (!isRecord(box)) return ''
  return [box.x, box.y, box.width, box.height].map((one) => Math.round(Number(one))).join(' ')
}

function boxIn(value: unknown, { dx, dy }: NodePosition): Box | null {
  if (!isRecord(value)) return null
  const { x, y, width, height } = value
  if (![x, y, width, height].every((one) => typeof one === 'number' && Number.isFinite(one) && Math.abs(one) < 1e7))
    return null
  const box = { x: Number(x) + dx, y: Number(y) + dy, width: Number(width), height: Number(height) }
  // Without a size it has no position: an option of a closed list.
  return box.width > 0 && box.height > 0 ? box : null
}

const isSeen = ({ x, y, width, height }: Box): boolean =>
  x < WINDOW.width && y < WINDOW.height && x + width > 0 && y + height > 0
/** In the window, or less than one window away from it. */
const isAbout = ({ y, height }: Box): boolean => y < 2 * WINDOW.height && y + height > -WINDOW.height

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
