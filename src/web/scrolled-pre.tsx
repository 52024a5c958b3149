// A text in its own lines that scrolls where it is too large. What has to be scrolled can be reached by the keyboard, in browsers
// too that do not see to it themselves; what is seen whole is no stop on the way.

import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const isCut = ({ scrollHeight, clientHeight, scrollWidth, clientWidth }: Element): boolean =>
  scrollHeight > clientHeight || scrollWidth > clientWidth

/** All is read before anything is written, so that the page is laid out once. */
function mark(elements: Iterable<Element>): void {
  const found = [...elements].map((target) => ({ target, isStop: isCut(target) || target === document.activeElement }))
  for (const { target, isStop } of found) {
    if (isStop) target.setAttribute('tabindex', '0')
    else target.removeAttribute('tabindex')
  }
}

const watched = new Set<Element>()
const REST_MS = 300
let made: ResizeObserver | null = null
let rest: ReturnType<typeof setTimeout> | undefined

/** One for all: a long log has hundreds of outputs. It measures after the layout, and only what is drawn. */
function observer(): ResizeObserver {
  if (made !== null) return made
  made = new ResizeObserver((seen) => {
    mark(seen.map(({ target }) => target))
    markAllSoon()
  })
  addEventListener('resize', markAllSoon)
  return made
}

/** What is off the screen is skipped (`content-visibility`) and not observed: it is measured when nothing has moved for a moment. */
function markAllSoon(): void {
  clearTimeout(rest)
  rest = setTimeout(() => mark(watched), REST_MS)
}

function watch(element: Element): () => void {
  watched.add(element)
  markAllSoon()
  observer().observe(element)
  return () => {
    watched.delete(element)
    observer().unobserve(element)
  }
}

type Props = { class: string; box?: RefObject<HTMLPreElement | null>; children: ComponentChildren }

export function ScrolledPre({ class: name, box, children }: Props) {
  const own = useRef<HTMLPreElement>(null)
  const place = box ?? own
  useEffect(() => {
    const element = place.current
    return element === null ? undefined : watch(element)
  }, [children])
  return (
    <pre class={name} ref={place}>
      {children}
    </pre>
  )
}
