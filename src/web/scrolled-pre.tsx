// A text in its own lines that scrolls where it is too large. What has to be scrolled can be reached by the keyboard, in browsers
// too that do not see to it themselves; what is seen whole is no stop on the way.

import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const isCut = ({ scrollHeight, clientHeight, scrollWidth, clientWidth }: Element): boolean =>
  scrollHeight > clientHeight || scrollWidth > clientWidth

let made: ResizeObserver | null = null

/** One for all: a long log has hundreds of outputs. It measures after the layout, and only what is drawn. */
function observer(): ResizeObserver {
  made ??= new ResizeObserver((seen) => {
    // All is read before anything is written, so that the page is laid out once.
    const found = seen.map(({ target }) => ({ target, isStop: isCut(target) || target === document.activeElement }))
    for (const { target, isStop } of found) {
      if (isStop) target.setAttribute('tabindex', '0')
      else target.removeAttribute('tabindex')
    }
  })
  return made
}

type Props = { class: string; box?: RefObject<HTMLPreElement | null>; children: ComponentChildren }

export function ScrolledPre({ class: name, box, children }: Props) {
  const own = useRef<HTMLPreElement>(null)
  const place = box ?? own
  useEffect(() => {
    const element = place.current
    if (element === null) return
    observer().observe(element)
    return () => observer().unobserve(element)
  }, [children])
  return (
    <pre class={name} ref={place}>
      {children}
    </pre>
  )
}
