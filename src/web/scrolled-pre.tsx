// Preformatted text that scrolls if it is too large. A scrolling element is in the tab order, even in browsers that do
// not add it themselves; a fully visible one is not.

import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const isCut = ({ scrollHeight, clientHeight, scrollWidth, clientWidth }: Element): boolean =>
  scrollHeight > clientHeight || scrollWidth > clientWidth

/** Reads all sizes before any write, so that the page is laid out once. */
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

/** One for all, because a long log has hundreds of outputs. It measures after the layout, and only rendered elements. */
function observer(): ResizeObserver {
  if (made !== null) return made
  made = new ResizeObserver((seen) => {
    mark(seen.map(({ target }) => target))
    markAllSoon()
  })
  addEventListener('resize', markAllSoon)
  return made
}

/**
 * Off-screen elements are skipped (`content-visibility`) and not observed: they are measured after a moment without
 * scrolling.
 */
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
