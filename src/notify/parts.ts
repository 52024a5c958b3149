import type { Line } from './channel.ts'
import type { Message } from './message.ts'
import { sizeOf, split } from './split.ts'

/** No message has as many parts, so no number is wider than this one. */
const WIDEST = { n: 9_999, of: 9_999 }

/** The message in as many pieces as the line needs; each is within its limit once it is rendered with its number. */
export function partsOf({ title, markdown }: Message, { limit, render }: Line): string[] {
  const fits = (n: { n: number; of: number }) => (text: string) =>
    sizeOf(render({ title, markdown: text, ...n }), limit.unit) <= limit.max
  const whole = markdown.trim()
  return fits({ n: 1, of: 1 })(whole) ? [whole] : split(whole, fits(WIDEST))
}
