// Parts of the console that are loaded when they are first shown.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from './api.ts'
import { say } from './texts.ts'
import { Notice } from './ui.tsx'

/** `pick` must be the same function in every rendering. */
export function lazy<Props extends object>(pick: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  return function Lazy(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(() => loaded)
    const [problem, setProblem] = useState<string | null>(null)
    const load = () => {
      setProblem(null)
      pick().then(
        (part) => {
          loaded = part
          setPart(() => part)
        },
        (error: unknown) => setProblem(messageOf(error)),
      )
    }
    useEffect(() => {
      if (Part === null) load()
    }, [])
    if (problem !== null) {
      return (
        <Notice kind="error" action={{ label: say('Try again'), run: load }}>
          {problem}
        </Notice>
      )
    }
    return Part === null ? <p class="opening">{say('Opening…')}</p> : <Part {...props} />
  }
}
