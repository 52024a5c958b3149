// `case`: the matching clauses are determined here, with bash's patterns.

import type { Command } from '../shape.ts'
import { exitBySyntax, NO_GROUPS } from '../unset-errors.ts'
import { literal, type Word } from '../words-alone.ts'
import type { Expander } from './expander.ts'
import { hasGroup } from './keys.ts'

type Case = Extract<Command, { type: 'Case' }>

/** A word and a pattern with the same letter, and a pattern that does not match it. */
const [WORD, OTHER] = ['1', '0']

/** Without `extglob`, bash would have refused the script. */
async function refuseGroups({ state, shell }: Expander, { parts }: Word): Promise<void> {
  const isGroup = parts.some((part) => part.type === 'Glob' && hasGroup(part.pattern))
  if (isGroup && !state.shoptOptions.extglob) await exitBySyntax(shell, NO_GROUPS)
}

/** The same with texts for patterns. The clauses after `;;&` are matched before the clause before it is run. */
export async function matchedCase(expander: Expander, node: Case): Promise<Case> {
  const text = await expander.text(node.word.parts)
  const items: Case['items'] = []
  let isOver = false
  for (const item of node.items) {
    let isMatch = false
    if (!isOver) {
      for (const pattern of item.patterns) {
        await refuseGroups(expander, pattern)
        isMatch = (await expander.pattern(pattern)).matches(text)
        if (isMatch) break
      }
    }
    if (isMatch && item.terminator !== ';;&') isOver = item.terminator === ';;'
    items.push({ ...item, patterns: [literal(isMatch ? WORD : OTHER)] })
  }
  return { ...node, word: literal(WORD), items }
}
