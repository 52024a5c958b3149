// The microagents that every conversation has. They are written like a user's own, so that one format serves for all.

import { must } from '../lib/assert.ts'
import { GIT_HOSTS } from './builtin-microagents/git-hosts.ts'
import { REVIEW_CHANGES } from './builtin-microagents/review-changes.ts'
import { SHELL_LIMITS } from './builtin-microagents/shell-limits.ts'
import { WRITE_MICROAGENT } from './builtin-microagents/write-microagent.ts'
import { type Microagent, parseMicroagent } from './microagents.ts'

let parsed: readonly Microagent[] | undefined

export function builtinMicroagents(): readonly Microagent[] {
  parsed ??= [GIT_HOSTS, SHELL_LIMITS, REVIEW_CHANGES, WRITE_MICROAGENT].map((text) => {
    const result = parseMicroagent(null, text)
    return must(result.ok ? result.microagent : null, `a well-formed built-in microagent: ${text.slice(0, 40)}`)
  })
  return parsed
}
