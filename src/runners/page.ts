// The browser on the wire: the actions of a call, as JSON in its text, and the resulting pages, as JSON lines in its
// output. The page, and everything that programs on the machine wrote about it, is untrusted: lengths and forms are
// limited here.

import { z } from 'zod'

/** A browser call: only for a runner whose tools include `BROWSER_TOOL`. */
export const BROWSER_KIND = 'browser'
export const BROWSER_TOOL = 'browser'

/** The most actions of one call. */
export const MAX_PAGE_ACTIONS = 20
/** Characters of base64 of one picture: a larger one is scaled to a half or a quarter. */
export const MAX_SHOT_CHARS = 700_000
/** Characters of the page as text. */
export const MAX_TREE_CHARS = 26_000

/** An element of the page in its last state; prefixed with the number of its frame. */
export const BID = /^(f\d{1,6})?e\d{1,9}$/
const Bid = z.string().regex(BID, 'is no id of an element, such as e12 or f1e3')
const Text = z.string().max(100_000)
const Buttons = z.enum(['left', 'middle', 'right'])
const Modifiers = z.array(z.enum(['Alt', 'Control', 'ControlOrMeta', 'Meta', 'Shift'])).max(5)
const Pixels = z.number().min(-100_000).max(100_000)
const textOrList = z.union([Text.transform((one) => [one]), z.array(Text).min(1).max(100)])
const Click = { bid: Bid, button: Buttons.default('left'), modifiers: Modifiers.default([]) }

export const PageAction = z.discriminatedUnion('name', [
  z.strictObject({ name: z.literal('goto'), url: z.string().min(1).max(8000) }),
  z.strictObject({ name: z.literal('go_back') }),
  z.strictObject({ name: z.literal('go_forward') }),
  z.strictObject({ name: z.literal('noop'), wait_ms: z.number().min(0).max(10_000).default(1000) }),
  z.strictObject({ name: z.literal('scroll'), delta_x: Pixels, delta_y: Pixels }),
  z.strictObject({ name: z.literal('fill'), bid: Bid, value: Text }),
  z.strictObject({ name: z.literal('select_option'), bid: Bid, options: textOrList }),
  z.strictObject({ name: z.literal('click'), ...Click }),
  z.strictObject({ name: z.literal('dblclick'), ...Click }),
  z.strictObject({ name: z.literal('hover'), bid: Bid }),
  z.strictObject({ name: z.literal('press'), bid: Bid, key_comb: z.string().min(1).max(100) }),
  z.strictObject({ name: z.literal('focus'), bid: Bid }),
  z.strictObject({ name: z.literal('clear'), bid: Bid }),
  z.strictObject({ name: z.literal('drag_and_drop'), from_bid: Bid, to_bid: Bid }),
  z.strictObject({ name: z.literal('upload_file'), bid: Bid, file: textOrList }),
  z.strictObject({ name: z.literal('tab_new') }),
  z.strictObject({ name: z.literal('tab_focus'), index: z.number().int().min(0).max(1000) }),
  z.strictObject({ name: z.literal('tab_close') }),
  z.strictObject({ name: z.literal('dialog'), accept: z.boolean(), text: Text.default('') }),
])
export type PageAction = z.output<typeof PageAction>
export type PageActionName = PageAction['name']
export const PageActions = z.array(PageAction).min(1).max(MAX_PAGE_ACTIONS)

const Url = z
  .string()
  .max(2000)
  .regex(/^[^\p{Cc}\s]*$/u)

/**
 * The browser after a call. `browser`: its id, which a new browser does not share. `error`: that of the action that
 * failed; empty for none.
 */
const PageState = z.object({
  t: z.literal('page'),
  browser: z.string().regex(/^[0-9a-f]{16}$/),
  url: Url,
  urls: z.array(Url).max(20),
  active: z.number().int().min(-1).max(20),
  /** Title of the active tab. */
  title: z.string().max(300).default(''),
  tree: z.string().max(MAX_TREE_CHARS + 200),
  focused: z.string().regex(BID).or(z.literal('')),
  last: z.string().max(300),
  error: z.string().max(2000),
  /** Other events: dialogs, downloads, tabs. */
  notes: z.array(z.string().max(1000)).max(40),
})
export type PageState = z.infer<typeof PageState>
const Shot = z.object({
  t: z.literal('shot'),
  which: z.enum(['screenshot', 'marks']),
  png: z
    .string()
    .max(MAX_SHOT_CHARS)
    .regex(/^iVBORw0KGgo[A-Za-z0-9+/]+={0,2}$/),
})
const Line = z.discriminatedUnion('t', [PageState, Shot])

export const pageLine = (line: z.infer<typeof Line>): string => `${JSON.stringify(line)}\n`

/** `screenshot` and `marks` are data URLs, empty without a picture. */
export type PageReport = PageState & { readonly screenshot: string; readonly marks: string }

/** Null when the call ended without seeing a page. */
export function pageReportIn(output: string): PageReport | null {
  const lines = output.split('\n').flatMap((line) => Line.safeParse(jsonIn(line)).data ?? [])
  const state = lines.find((line) => line.t === 'page')
  if (state === undefined) return null
  const shot = (which: 'screenshot' | 'marks'): string => {
    const found = lines.find((line) => line.t === 'shot' && line.which === which)
    return found?.t === 'shot' ? `data:image/png;base64,${found.png}` : ''
  }
  return { ...state, screenshot: shot('screenshot'), marks: shot('marks') }
}

/**
 * Untrusted text inside a sentence or tree of ours: in quotes, on one line, and without square brackets, so that it
 * cannot imitate the id of an element or a line of ours. Invisible characters are removed.
 */
export function quotedWords(text: string, most: number): string {
  return JSON.stringify(plainWords(text, most))
}

/** The same without the quotes: for text of our own programs that contains such text. */
export function plainWords(text: string, most: number): string {
  const seen = text
    .slice(0, most * 2)
    .normalize('NFC')
    .replaceAll(/\p{Cc}+|\p{Zl}|\p{Zp}/gu, ' ')
    .replaceAll(/\p{Cf}|\p{Co}|\p{Cs}/gu, '')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .replaceAll(/={4,}/g, '===')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return (seen.length > most ? `${seen.slice(0, most)}…` : seen).toWellFormed()
}

function jsonIn(line: string): unknown {
  try {
    return line === '' ? null : JSON.parse(line)
  } catch {
    // A line that is not JSON is not part of a report.
    return null
  }
}
