// `tsort`: a topological order.

import type { TextCall } from '../call.ts'
import { curly, Misuse, refusal } from '../misuse.ts'
import { optionTable, readOptions } from '../options.ts'

interface Item {
  name: string
  /** The number of predecessors that are not printed yet. */
  before: number
  followers: Item[]
  isWritten: boolean
}

export async function tsort(call: TextCall): Promise<void> {
  const { operands } = readOptions(call.args, optionTable(''))
  const [input = '-', extra] = operands
  if (extra !== undefined) throw new Misuse(`extra operand ${curly(extra)}`)
  const words = (await call.mustRead(input)).split(/[ \t\n]+/).filter((word) => word !== '')
  if (words.length % 2 === 1) throw refusal(`${input}: input contains an odd number of tokens`)
  const items = new Map<string, Item>()
  const itemOf = (name: string) => {
    const item = items.get(name) ?? { name, before: 0, followers: [], isWritten: false }
    items.set(name, item)
    return item
  }
  for (let i = 0; i < words.length; i += 2) {
    const [first, second] = [itemOf(words[i] ?? ''), itemOf(words[i + 1] ?? '')]
    if (first === second) continue
    // The last one that was named is visited first.
    first.followers.unshift(second)
    second.before++
  }
  const sorted = [...items.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (let left = sorted.length; left > 0; ) {
    left -= writeFree(call, sorted)
    if (left === 0) break
    call.complain(`${input}: input contains a loop:`)
    breakLoop(call, sorted)
    await call.pause()
  }
}

function writeFree(call: TextCall, sorted: readonly Item[]): number {
  const free = sorted.filter(({ before, isWritten }) => before === 0 && !isWritten)
  for (let i = 0; i < free.length; i++) {
    const item = free[i]
    if (!item) break
    call.write(`${item.name}\n`)
    item.isWritten = true
    for (const follower of item.followers) if (--follower.before === 0) free.push(follower)
  }
  return free.length
}

/** Follows the items backwards until one repeats, reports the loop, and removes the edge that closes it. */
function breakLoop(call: TextCall, sorted: readonly Item[]): void {
  const links = new Map<Item, Item>()
  let last: Item | null = null
  for (;;) {
    for (const item of sorted) {
      if (item.before <= 0 || item.isWritten) continue
      const at: number = last === null ? -1 : item.followers.indexOf(last)
      if (last === null) last = item
      else if (at >= 0 && !links.has(item)) {
        links.set(item, last)
        last = item
      } else if (at >= 0) {
        for (let one: Item | undefined = last; one; one = one === item ? undefined : links.get(one))
          call.complain(one.name)
        item.followers.splice(at, 1)
        last.before--
        return
      }
    }
  }
}
